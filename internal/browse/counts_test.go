package browse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// made makes a dataset of samples of so many bytes; a class of -9 is none.
func made(t *testing.T, n, shards int, encoding string, of func(i int) (key string, size int, class int64)) string {
	t.Helper()
	part := make([]converters.Sample, n)
	for i := range part {
		key, size, class := of(i)
		part[i] = converters.Sample{Key: key, Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(bytes.Repeat([]byte{'x'}, size))}}}
		if class != -9 {
			part[i].Fields = append(part[i].Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, class))})
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{Encode: encode.Options{Encoding: encoding}, Sizes: plan.Sizes{Shards: shards}})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func surveyed(t *testing.T, dir string, classes []string) *survey {
	t.Helper()
	d, err := lookup.Open(dir, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var told []int64
	s, err := countSamples(t.Context(), d, classes, func(done int64) { told = append(told, done) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(told) || told[len(told)-1] != d.Len() {
		t.Errorf("progress %v of %d", told, d.Len())
	}
	return s
}

// A survey has all classes, with a name or with samples, and says which are rare.
func TestRun(t *testing.T) {
	t.Parallel()
	const n = 70_000
	label := func(i int) int64 {
		switch {
		case i%1000 == 7:
			return -9
		case i == 500 || i == 600:
			return 2
		case i%100 == 3:
			return 1 << 40
		case i == 70:
			return -1
		case i == 80:
			return 5000
		}
		return int64(i % 2)
	}
	dir := made(t, n, 3, "raw:bin", func(i int) (string, int, int64) { return fmt.Sprintf("k%05d", i), 10 + i%100, label(i) })
	s := surveyed(t, dir, []string{"a", "b", "c", "d"})
	counts := make(map[int64]int64)
	total := int64(0)
	for i := range n {
		counts[label(i)]++
		total += int64(10 + i%100)
	}
	names := map[int64]string{0: "a", 1: "b", 2: "c", 3: "d"}
	var want []classCount
	for _, l := range []int64{-1, 0, 1, 2, 3, 5000, 1 << 40} {
		c := classCount{Label: l, Name: names[l], Count: counts[l]}
		c.Rare = c.Count == 1 || c.Count == 2 // the median is the class of 1<<40
		want = append(want, c)
	}
	if !slices.Equal(s.Classes, want) {
		t.Errorf("classes\n%+v, want\n%+v", s.Classes, want)
	}
	if s.Samples != n || s.Bytes != total || s.Unlabeled != counts[-9] || s.P01 != 10 || s.Median != 59 || s.P99 != 108 {
		t.Errorf("%+v", s)
	}
	if len(s.Largest) != outliers || s.Largest[0] != (outlier{99, "k00099", 109}) || s.Smallest[1] != (outlier{100, "k00100", 10}) {
		t.Errorf("outliers %v, %v", s.Largest, s.Smallest)
	}
	samples := int64(0)
	for i, x := range s.Shards {
		st, err := os.Stat(filepath.Join(dir, x.Name))
		if err != nil || x.Bytes != st.Size() || x.Name != fmt.Sprintf("PART_%05d.ffr", i) {
			t.Errorf("shard %+v: %v", x, err)
		}
		samples += x.Samples
	}
	if samples != n || len(s.Shards) != 3 {
		t.Errorf("shards %+v", s.Shards)
	}
}

// Datasets without classes, without places in their indexes, and without indexes are surveyed alike.
func TestRunOthers(t *testing.T) {
	t.Parallel()
	dir := made(t, 30_000, 2, "raw", func(i int) (string, int, int64) { return "", 6, -9 })
	s := surveyed(t, dir, nil)
	if len(s.Classes) > 0 || s.Unlabeled != s.Samples || s.Bytes != 180_000 || !slices.Equal(s.Sizes, []bucket{{6, 7, 30_000}}) {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{dataset.ManifestName, dataset.WorkDir, dataset.IndexDir} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if others := surveyed(t, dir, nil); !reflect.DeepEqual(others, s) {
		t.Errorf("without a manifest %+v, want %+v", others, s)
	}
}

// What is damaged is not counted, and a survey ends with its context.
func TestRunDamage(t *testing.T) {
	t.Parallel()
	dir := made(t, 20_000, 1, "", func(i int) (string, int, int64) { return fmt.Sprint(i), 3, 1 })
	d, err := lookup.Open(dir, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := countSamples(ctx, d, nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	name := filepath.Join(dir, "index", "PART_00000.arrow")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1 // a number, or a key: it is read without an error
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := countSamples(t.Context(), d, nil, nil); place.KindOf(err) != place.Corrupt {
		t.Error(err)
	}
}

// However many classes there are, memory is bounded.
func TestManyClasses(t *testing.T) {
	t.Parallel()
	c := newCounts(nil)
	for i := range int64(dense + mostUnnamed + 10) {
		c.add(i)
	}
	c.add(dense)
	if n := len(c.classes()); n != dense+mostUnnamed || c.high[dense] != 2 {
		t.Errorf("%d classes", n)
	}
}
