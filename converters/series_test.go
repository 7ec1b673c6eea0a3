package converters

import (
	"fmt"
	"slices"
	"testing"
)

func TestSeriesDoubts(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 99 {
		if i%4 != 1 {
			many = append(many, fmt.Sprintf("%03d.tar", i))
		}
	}
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
		{[]string{"000.tar", "001.tar", "002.tar", "b.tar", "c7.tar"}, nil},
		{[]string{"s3://b/000.tar", "s3://b/002.tar", "s3://b/003.tar"}, []string{"s3://b/000.tar: names numbered like it leave out 001.tar"}},
		{[]string{"a-11.tar", "a-12.tar", "a-8.tar", "a-9.tar"}, []string{"a-11.tar: names numbered like it leave out a-10.tar"}},
		{[]string{"v2/a-098.tar", "v2/a-099.tar", "v2/a-101.tar"}, []string{"v2/a-098.tar: names numbered like it leave out a-100.tar"}},
		{[]string{"log-20260101.gz", "log-20260214.gz", "log-20260330.gz"}, nil}, // dates
		{[]string{"log-01-02.gz", "log-01-05.gz", "log-02-01.gz", "log-02-02.gz"}, nil},
		{[]string{"9223372036854775807.tar", "99999999999999999999.tar", "1.tar", "1.tar", "9.tar"}, nil},
		{[]string{"1.tar", "1.tar", "2.tar", "4.tar"}, []string{"1.tar: names numbered like it leave out 3.tar"}},
		{many, []string{"000.tar: names numbered like it leave out 001.tar, 005.tar, 009.tar, 013.tar, 017.tar, 021.tar, 025.tar, 029.tar, 033.tar, 037.tar and 15 more"}},
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
