package converters_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A rowSource is one of samples of 100 bytes each. Those in bad cannot be read.
type rowSource struct {
	bad   []int64
	reads int // calls of Read
}

var errBad = errors.New("bad sample")

func (*rowSource) Parts() []converters.Part {
	return []converters.Part{{Name: "a", Path: "a"}, {Name: "b", Path: "b"}, {Name: "directory"}}
}

func (*rowSource) Index(context.Context, int) iter.Seq2[*converters.Span, error] { return nil }

func (s *rowSource) Read(_ context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	s.reads++
	return func(yield func(*converters.Sample, error) bool) {
		for i := run.First; i < run.First+run.Count; i++ {
			if slices.Contains(s.bad, i) {
				yield(nil, fmt.Errorf("%w: %d", errBad, i))
				return
			}
			if !yield(&converters.Sample{Key: fmt.Sprint(i), Off: 100 * i}, nil) {
				return
			}
		}
	}
}

func runAt(part int, first, count int64) converters.Run {
	return converters.Run{Part: part, First: first, Off: 100 * first, Count: count}
}

func TestNear(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		runs []converters.Run
		want []int // runs in each group
	}{
		{"none", nil, nil},
		{"one", []converters.Run{runAt(0, 5, 2)}, []int{1}},
		{"near", []converters.Run{runAt(0, 0, 1), runAt(0, 2, 3), runAt(0, 5, 1)}, []int{3}},
		{"within 64 KiB", []converters.Run{runAt(0, 0, 1), runAt(0, 655, 1)}, []int{2}},
		{"beyond", []converters.Run{runAt(0, 0, 1), runAt(0, 656, 1)}, []int{1, 1}},
		{"two parts", []converters.Run{runAt(0, 0, 1), runAt(1, 2, 1), runAt(1, 4, 1)}, []int{1, 2}},
		{"backwards", []converters.Run{runAt(0, 4, 1), runAt(0, 0, 1), runAt(0, 1, 1)}, []int{1, 2}},
		{"files of a directory", []converters.Run{runAt(2, 0, 1), runAt(2, 2, 1)}, []int{1, 1}},
	} {
		var got []int
		var all []converters.Run
		for group := range converters.Near(new(rowSource).Parts(), row.runs) {
			got = append(got, len(group))
			all = append(all, group...)
		}
		if !slices.Equal(got, row.want) || !slices.Equal(all, row.runs) {
			t.Errorf("%s: groups of %v runs, want %v", row.name, got, row.want)
		}
	}
}

func TestReadNear(t *testing.T) {
	t.Parallel()
	group := []converters.Run{runAt(0, 1, 1), runAt(0, 4, 2), runAt(0, 6, 1), runAt(0, 9, 1)}
	for _, row := range []struct {
		name  string
		bad   []int64
		most  int // samples after which the caller stops
		want  []string
		err   string
		reads int
	}{
		{"all", nil, 9, []string{"1", "4", "5", "6", "9"}, "", 1},
		{"damage between", []int64{2, 3, 8}, 9, []string{"1", "4", "5", "6", "9"}, "", 3},
		{"damage outside", []int64{0, 10}, 9, []string{"1", "4", "5", "6", "9"}, "", 1},
		{"damage in the first", []int64{1}, 9, nil, "bad sample: 1", 1},
		{"damage in the second", []int64{2, 5}, 9, []string{"1", "4"}, "bad sample: 5", 2},
		{"stopped", nil, 2, []string{"1", "4"}, "", 1},
	} {
		src := &rowSource{bad: row.bad}
		read := converters.ReadNear(t.Context(), src, group)
		for range 2 { // an iterator may be used again
			var got []string
			failed := ""
			src.reads = 0
			for s, err := range read {
				if err != nil {
					failed = err.Error()
					continue
				}
				if got = append(got, s.Key); len(got) == row.most {
					break
				}
			}
			if !slices.Equal(got, row.want) || failed != row.err || src.reads != row.reads {
				t.Errorf("%s: samples %v, error %q, %d reads; want %v, %q, %d", row.name, got, failed, src.reads, row.want, row.err, row.reads)
			}
		}
	}
}
