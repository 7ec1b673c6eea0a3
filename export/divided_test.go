package export_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// many are 40,000 small samples, which are two parts for an index and five runs for the readers of a tar. Every third
// has an empty field.
func many() []converters.Sample {
	all := make([]converters.Sample, 40_000)
	for i := range all {
		all[i] = converters.Sample{Key: fmt.Sprintf("%06d", i), Fields: []converters.Field{
			{Name: "bin", Value: converters.Bytes(fmt.Append(nil, i*i))},
			{Name: "jpg", Value: converters.Bytes(make([]byte, i%3))},
		}}
	}
	return all
}

// Any number of workers writes the same tars and finds the same proof.
func TestDivided(t *testing.T) {
	t.Parallel()
	dir := shards(t, [][]converters.Sample{many()}, encode.Options{}, 1)
	var want [][]byte
	for _, workers := range []int{1, 2, 5, 16} {
		paths, done := tars(t, dir, export.Options{Workers: workers, Sizes: plan.Sizes{MaxSamples: 25_000}})
		var got [][]byte
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, data)
		}
		if want == nil {
			want = got
		}
		again := fmt.Sprintf("ffconvert tar --encode msgpack --shards 1 '%s/x-{000..001}.tar' OUT", filepath.Dir(paths[0]))
		if len(got) != 2 || !bytes.Equal(got[0], want[0]) || !bytes.Equal(got[1], want[1]) || done.Again != again || done.Totals.Samples != 40_000 || done.Totals.Fields != 80_000 {
			t.Errorf("%d workers: %d tars that differ from those of one worker, or %q is not %q, of %+v", workers, len(got), done.Again, again, done.Totals)
		}
	}
}

// Tars of a number of samples have so many, in order, and the last one the rest, whatever the sizes are.
func TestMaxCount(t *testing.T) {
	t.Parallel()
	all := make([]converters.Sample, 20)
	for i := range all {
		all[i] = converters.Sample{Key: fmt.Sprint(i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(make([]byte, i*i*50))}}}
	}
	paths, done := tars(t, shards(t, [][]converters.Sample{all}, encode.Options{}, 3), export.Options{Sizes: plan.Sizes{MaxSamples: 7}})
	var got []string
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		names, r := "", tar.NewReader(bytes.NewReader(data))
		for h, err := r.Next(); err == nil; h, err = r.Next() {
			names += " " + h.Name
		}
		got = append(got, strings.ReplaceAll(names, ".bin", ""))
	}
	if want := []string{" 0 1 2 3 4 5 6", " 7 8 9 10 11 12 13", " 14 15 16 17 18 19"}; !slices.Equal(got, want) || done.Again == "" {
		t.Errorf("%q, again %q", got, done.Again)
	}
}

// An error is the same one with any number of workers, and nothing has a name after it.
func TestDividedRefusals(t *testing.T) {
	t.Parallel()
	twice := many()
	twice[30_000].Key = twice[100].Key
	damaged := func(at int) string {
		dir := shards(t, [][]converters.Sample{many()}, encode.Options{}, 1)
		path := filepath.Join(dir, "PART_00000.ffr")
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[(at+len(data))%len(data)] ^= 1
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, row := range []struct{ name, dir, want string }{
		{"a key that comes twice", shards(t, [][]converters.Sample{twice}, encode.Options{}, 1), `the key "000100" comes twice in one tar`},
		{"a damaged record", damaged(-20), "sample 39999: wrong checksum"},
		{"a damaged header", damaged(100_000), "wrong checksum of the header"},
	} {
		first := ""
		for _, workers := range []int{1, 2, 5} {
			out := filepath.Join(t.TempDir(), "tars")
			err := with(t.Context(), func(s *export.Source) error {
				_, err := export.Tars(t.Context(), s, filepath.Join(out, "x-%03d.tar"), export.Options{Workers: workers})
				return err
			}, row.dir)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Fatalf("%s: error %v, want %q", row.name, err, row.want)
			}
			if first == "" {
				first = err.Error()
			}
			left, globErr := filepath.Glob(filepath.Join(out, "x-*"))
			if err.Error() != first || globErr != nil || len(left) > 0 {
				t.Errorf("%s: error %q with %d workers, %q with one; files %v, %v", row.name, err, workers, first, left, globErr)
			}
		}
	}
}
