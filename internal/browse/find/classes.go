package find

import (
	"cmp"
	"slices"
)

// A Class is a class and how many samples have it.
type Class struct {
	Label int64
	Name  string // "": it has none
	Count int64
	Rare  bool // it has samples, and less than a tenth of the median of the classes that have some
}

const (
	mostUnnamed = 1 << 20 // classes without a name that are counted, each by itself
	dense       = 1 << 12 // classes that are counted in a list at least
)

// counts count samples by their class.
type counts struct {
	names []string
	low   []Class          // of the labels 0, 1, …
	high  map[int64]*Class // of the others
}

func newCounts(names []string) *counts {
	c := &counts{names: names, low: make([]Class, max(dense, len(names))), high: make(map[int64]*Class)}
	for i := range c.low {
		c.low[i] = Class{Label: int64(i)}
	}
	for i, name := range names {
		c.low[i].Name = name
	}
	return c
}

// add counts a sample of a class.
func (c *counts) add(label int64) {
	var x *Class
	if label >= 0 && label < int64(len(c.low)) {
		x = &c.low[label]
	} else if x = c.high[label]; x == nil {
		if len(c.high) == mostUnnamed {
			return
		}
		x = &Class{Label: label}
		c.high[label] = x
	}
	x.Count++
}

// classes returns all that have a name or samples.
func (c *counts) classes() []Class {
	var all []Class
	for i, x := range c.low {
		if i < len(c.names) || x.Count > 0 {
			all = append(all, x)
		}
	}
	for _, x := range c.high {
		all = append(all, *x)
	}
	slices.SortFunc(all, func(a, b Class) int { return cmp.Compare(a.Label, b.Label) })
	var sizes []int64
	for _, x := range all {
		if x.Count > 0 {
			sizes = append(sizes, x.Count)
		}
	}
	if len(sizes) == 0 {
		return all
	}
	slices.Sort(sizes)
	median := sizes[len(sizes)/2]
	for i := range all {
		all[i].Rare = all[i].Count > 0 && all[i].Count*10 < median
	}
	return all
}
