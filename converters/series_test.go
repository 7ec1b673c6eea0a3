package converters

import (
	"fmt"
	"slices"
	"testing"
)

func TestSeriesDoubts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		names []string
		want  []string
	}{
		{nil, nil},
		{[]string{"a-1-of-2", "part-0", "x-00001.tar"}, nil},
		{[]string{"d/x-00001-of-00002.parquet", "d/x-00000-of-00002.parquet"}, nil},
		{[]string{"x-00001-of-00002", "x-00002-of-00002"}, nil},
		{[]string{"x-00000-of-00001", "y-00000-of-00001"}, nil},
		{[]string{"d/x-00000-of-00003.gz", "d/x-00002-of-00003.gz"}, []string{"d/x-00000-of-00003.gz: its name counts 3 files, found 2; the first that is missing is d/x-00001-of-00003.gz"}},
		{[]string{"x-00003-of-00003", "x-00003-of-00003"}, []string{"x-00003-of-00003: its name counts 3 files, found 1; the first that is missing is x-00001-of-00003"}},
		{[]string{"t.tfrecord-00001-of-01024"}, []string{"t.tfrecord-00001-of-01024: its name counts 1024 files, found 1; the first that is missing is t.tfrecord-00000-of-01024"}},
		{[]string{"x-00000-of-00001", "x-00000-of-00002", "x-00001-of-00002"}, []string{"x-00000-of-00002: its name counts 2 files, that of x-00000-of-00001 1: they may hold the same samples"}},
	} {
		var got []string
		for _, d := range SeriesDoubts(row.names) {
			got = append(got, fmt.Sprintf("%s: %s", d.Part, d.Text))
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%q: %q, want %q", row.names, got, row.want)
		}
	}
}
