package pickle

import (
	"cmp"
	"slices"
)

// MaxDepth is how deep dicts may lie in each other, the outermost counted: as deep as
// directories do in a path of 4,095 bytes, the longest that Linux takes.
const MaxDepth = 2049

// A Dict is a dict of str to int or dict, in the order in which its items were put in.
type Dict struct {
	Items []Item

	order []int32 // Items by key; nil where they stand so already
}

// An Item is one key of a Dict and its value: Dict, or Int where that is nil.
type Item struct {
	Key  string
	Int  int64
	Dict *Dict
}

// Get finds a key of a Dict that was decoded, or whose Items are sorted by key.
func (d *Dict) Get(key string) (Item, bool) {
	if d.order == nil {
		i, ok := slices.BinarySearchFunc(d.Items, key, func(it Item, key string) int { return cmp.Compare(it.Key, key) })
		if !ok {
			return Item{}, false
		}
		return d.Items[i], true
	}
	i, ok := slices.BinarySearchFunc(d.order, key, func(at int32, key string) int { return cmp.Compare(d.Items[at].Key, key) })
	if !ok {
		return Item{}, false
	}
	return d.Items[d.order[i]], true
}

// index prepares Get here and in all dicts below. A key that a dict has twice is
// returned with false.
func (d *Dict) index() (twice string, ok bool) {
	for i := 1; i < len(d.Items) && d.order == nil; i++ {
		if d.Items[i-1].Key >= d.Items[i].Key {
			d.sort()
		}
	}
	for i := 1; i < len(d.order); i++ {
		if key := d.Items[d.order[i]].Key; key == d.Items[d.order[i-1]].Key {
			return key, false
		}
	}
	for _, it := range d.Items {
		if it.Dict == nil {
			continue
		}
		if twice, ok := it.Dict.index(); !ok {
			return twice, false
		}
	}
	return "", true
}

func (d *Dict) sort() {
	d.order = make([]int32, len(d.Items)) // an item has five bytes of a pickle, and that has 2³² at most
	for i := range d.order {
		d.order[i] = int32(i)
	}
	slices.SortFunc(d.order, func(a, b int32) int { return cmp.Compare(d.Items[a].Key, d.Items[b].Key) })
}

// AppendDict appends a whole pickle, of protocol 4, that loads as a
// collections.OrderedDict, and so do the dicts in it. It does not check that keys are
// UTF-8, nor the depth.
func AppendDict(b []byte, d *Dict) []byte {
	b = Begin(b)
	b = AppendText(b, module)
	b = AppendText(b, class)
	b = append(b, StackGlobal, Memoize) // as number 0
	return append(appendItems(append(b, EmptyTuple, Reduce), d), Stop)
}

// appendItems puts the items of d into the dict on the stack.
func appendItems(b []byte, d *Dict) []byte {
	for _, it := range d.Items {
		b = AppendText(b, it.Key)
		if it.Dict == nil {
			b = AppendInt(b, it.Int)
		} else {
			b = appendItems(append(b, BinGet, 0, EmptyTuple, Reduce), it.Dict)
		}
		b = append(b, SetItem)
	}
	return b
}
