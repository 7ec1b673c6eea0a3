package pickle

import (
	"cmp"
	"slices"
)

// maxDepth is the deepest nesting of dicts, including the outermost: the depth of directories in a
// path of 4,095 bytes, the longest that Linux accepts.
const maxDepth = 2049

// A Dict is a Python dict from str to int or dict, in the order of insertion.
type Dict struct {
	Items []Item

	order []int32 // indices of Items sorted by key; nil if Items are sorted
}

// An Item is one key of a Dict and its value, which is Dict, or Int if Dict is nil.
type Item struct {
	Key  string
	Int  int64
	Dict *Dict
}

// Get returns the item of a key. The Dict must be decoded, or its Items sorted by key.
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

// index prepares Get for d and all dicts below. If a dict has a key twice, index returns the key and
// false.
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
	d.order = make([]int32, len(d.Items)) // cannot overflow: an item takes five bytes of a pickle, which has at most 2³²
	for i := range d.order {
		d.order[i] = int32(i)
	}
	slices.SortFunc(d.order, func(a, b int32) int { return cmp.Compare(d.Items[a].Key, d.Items[b].Key) })
}

// AppendDict appends a complete pickle of protocol 4 to b. Python loads d and the dicts in it as
// collections.OrderedDict. AppendDict does not check the depth or that keys are UTF-8.
func AppendDict(b []byte, d *Dict) []byte {
	b = Begin(b)
	b = appendText(b, module)
	b = appendText(b, class)
	b = append(b, stackGlobal, memoize) // as number 0
	return append(appendItems(append(b, emptyTuple, reduce), d), Stop)
}

// appendItems appends opcodes that put the items of d into the dict on the stack.
func appendItems(b []byte, d *Dict) []byte {
	for _, it := range d.Items {
		b = appendText(b, it.Key)
		if it.Dict == nil {
			b = AppendInt(b, it.Int)
		} else {
			b = appendItems(append(b, binGet, 0, emptyTuple, reduce), it.Dict)
		}
		b = append(b, setItem)
	}
	return b
}
