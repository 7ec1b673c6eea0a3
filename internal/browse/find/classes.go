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

const mostUnnamed = 1 << 20 // classes without a name that are counted, each by itself

// counts count samples by their class.
type counts struct {
	names   []string
	samples map[int64]int64 // by the number of the class
	unnamed int             // of these numbers
}

// add counts a sample of a class.
func (c *counts) add(label int64) {
	n := c.samples[label]
	if n == 0 && (label < 0 || label >= int64(len(c.names))) {
		if c.unnamed == mostUnnamed {
			return
		}
		c.unnamed++
	}
	c.samples[label] = n + 1
}

// classes returns all that have a name or samples.
func (c *counts) classes() []Class {
	var all []Class
	for i, name := range c.names {
		all = append(all, Class{Label: int64(i), Name: name, Count: c.samples[int64(i)]})
	}
	for label, n := range c.samples {
		if label < 0 || label >= int64(len(c.names)) {
			all = append(all, Class{Label: label, Count: n})
		}
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
