package converters

import (
	"context"
	"iter"
)

// near is the largest distance in bytes between the starts of two runs that are read as one. The first read of a run
// has the same size.
const near = 64 << 10

// Near divides runs into groups of runs that are close to each other in one file. If single samples are chosen, each is
// a run; [ReadNear] reads a group at once.
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

// closely reports whether b begins after a, and near it. It is false for a part without a file: its samples are files,
// and reading those between the runs would open them needlessly.
func closely(parts []Part, a, b Run) bool {
	return a.Part == b.Part && parts[a.Part].Path != "" && a.First+a.Count <= b.First && b.Off-a.Off <= near
}

// ReadNear yields the samples of a group of runs from Near, in order. It also reads the samples between the runs and
// drops them, without an error if one is damaged. See Source.Read for how long a sample is valid.
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
			at := all.First // ordinal of the next sample
			for sample, err := range src.Read(ctx, all) {
				wanted := at >= left[0].First
				if again = err != nil && !wanted; again {
					break // left[0] has not begun: continue there
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
