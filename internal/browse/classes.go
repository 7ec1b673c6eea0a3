package browse

import (
	"cmp"
	"slices"
)

// A classCount is a class and its number of samples.
type classCount struct {
	Label int64
	Name  string // "": unnamed
	Count int64
	Rare  bool // it has samples, but less than a tenth of the median of the classes with samples
}

const (
	mostUnnamed = 1 << 20 // maximum of unnamed classes that are counted individually
	dense       = 1 << 12 // minimum of classes that are counted in a slice, which is faster
)

// counts are the numbers of samples by class.
type counts struct {
	names []string
	low   []int64         // by label: 0, 1, …
	high  map[int64]int64 // by label, for the others
}

func newCounts(names []string) *counts {
	return &counts{names, make([]int64, max(dense, len(names))), make(map[int64]int64)}
}

// add counts a sample of a class.
func (c *counts) add(label int64) {
	if label >= 0 && label < int64(len(c.low)) {
		c.low[label]++
	} else if n := c.high[label]; n > 0 || len(c.high) < mostUnnamed {
		c.high[label] = n + 1
	}
}

// classes returns the classes that have a name or samples.
func (c *counts) classes() []classCount {
	var all []classCount
	for i, n := range c.low {
		if i < len(c.names) {
			all = append(all, classCount{Label: int64(i), Name: c.names[i], Count: n})
		} else if n > 0 {
			all = append(all, classCount{Label: int64(i), Count: n})
		}
	}
	for label, n := range c.high {
		all = append(all, classCount{Label: label, Count: n})
	}
	slices.SortFunc(all, func(a, b classCount) int { return cmp.Compare(a.Label, b.Label) })
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
