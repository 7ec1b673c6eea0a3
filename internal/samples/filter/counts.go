package filter

// counts are the numbers of entries of consecutive samples, run-length encoded.
type counts []count

type count struct {
	entries int
	samples int64
}

// add appends samples that each have the given number of entries.
func (c *counts) add(entries int, samples int64) {
	if samples == 0 {
		return
	}
	if n := len(*c); n > 0 && (*c)[n-1].entries == entries {
		(*c)[n-1].samples += samples
		return
	}
	*c = append(*c, count{entries, samples})
}

// all returns a function that returns the entries of each sample in turn, and 0 after the last.
func (c counts) all() func() int {
	i, left := -1, int64(0)
	return func() int {
		for left == 0 {
			if i++; i >= len(c) {
				i = len(c)
				return 0
			}
			left = c[i].samples
		}
		left--
		return c[i].entries
	}
}
