package converters

import (
	"context"
	"iter"
)

// near is how many bytes apart two runs begin, at most, to be read as one. The first read of a run is as large.
const near = 64 << 10

// Near divides runs into groups of runs that follow one another closely in one file. A choice of single samples
// has a run for each of them; [ReadNear] reads a group at once.
func Near(parts []Part, runs []Run) iter.Seq[[]Run] {
	return func(yield func([]Run) bool) {
		from := 0
		for i := range runs {
			if next := i + 1; next == len(runs) || !closely(parts, runs[i], runs[next]) {
				if !yield(runs[from:next]) {
					return
				}
				from = next
			}
		}
	}
}

// closely reports whether b begins after a, and near it. The samples of a part without a file are files themselves,
// which are not to be opened for nothing.
func closely(parts []Part, a, b Run) bool {
	return a.Part == b.Part && parts[a.Part].Path != "" && a.First+a.Count <= b.First && b.Off-a.Off <= near
}

// ReadNear yields the samples of a group of runs that Near has made, in order. It reads the samples between the runs
// too, and drops them: an error in one of them is not returned. See Source.Read for how long a sample is valid.
func ReadNear(ctx context.Context, src Source, group []Run) iter.Seq2[*Sample, error] {
	if len(group) == 1 {
		return src.Read(ctx, group[0])
	}
	return func(yield func(*Sample, error) bool) {
		left := group
		for again := true; again; {
			again = false
			all, last := left[0], left[len(left)-1]
			all.Count = last.First + last.Count - all.First
			at := all.First // of the next sample
			for sample, err := range src.Read(ctx, all) {
				wanted := at >= left[0].First
				if again = err != nil && !wanted; again {
					break // from left[0] on, which has not begun
				}
				if wanted && !yield(sample, err) || err != nil {
					return
				}
				if at++; at == left[0].First+left[0].Count {
					if left = left[1:]; len(left) == 0 {
						return
					}
				}
			}
		}
	}
}
