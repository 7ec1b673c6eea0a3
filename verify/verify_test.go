package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// makeShards writes shards of different samples and returns what to expect of them.
func makeShards(t testing.TB, dir string, n int) []Expect {
	t.Helper()
	var want []Expect
	for i := range n {
		name := record.Name(i, n)
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := record.NewWriter(f, 20)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 20 {
			if _, err := w.Append(bytes.Repeat([]byte{byte(i), byte(j)}, 1000*j)); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, Expect{Name: name, Samples: sum.Samples, Bytes: sum.Size, HeaderCRC: sum.HeaderCRC})
	}
	return want
}

// edit changes the bytes of a file.
func edit(t *testing.T, dir, name string, change func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, change(data), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func flip(at int) func([]byte) []byte {
	return func(b []byte) []byte { b[at] ^= 1; return b }
}

func TestDataset(t *testing.T) {
	t.Parallel()
	const a, b, c = "PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr"
	rename := func(t *testing.T, dir, from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name string
		harm func(t *testing.T, dir string)
		want []string // shard kind sample
	}{
		{"sound", func(*testing.T, string) {}, nil},
		{"missing", func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, b)) }, []string{b + " missing -1"}},
		{"extra", func(t *testing.T, dir string) { makeShards(t, dir, 4) }, []string{"PART_00003.ffr extra -1"}},
		{"extra dot-file", func(t *testing.T, dir string) { rename(t, dir, c, ".x.ffr") }, []string{".x.ffr extra -1", c + " missing -1"}},
		{"cut", func(t *testing.T, dir string) {
			edit(t, dir, b, func(b []byte) []byte { return b[:len(b)-1] })
		}, []string{b + " checksum 19", b + " resized -1"}},
		{"a link to itself, moved", func(t *testing.T, dir string) {
			rename(t, dir, b, "elsewhere")
			if err := os.Symlink("elsewhere", filepath.Join(dir, b)); err != nil {
				t.Fatal(err)
			}
		}, []string{b + " changed -1"}},
		{"cut to nothing", func(t *testing.T, dir string) {
			edit(t, dir, b, func([]byte) []byte { return nil })
		}, []string{b + " header -1", b + " resized -1"}},
		{"grown", func(t *testing.T, dir string) {
			edit(t, dir, b, func(b []byte) []byte { return append(b, 0) })
		}, []string{b + " checksum 19", b + " resized -1"}},
		{"two samples damaged in one shard, one in another", func(t *testing.T, dir string) {
			edit(t, dir, a, func(b []byte) []byte { return flip(300)(flip(len(b) - 1)(b)) })
			edit(t, dir, c, func(b []byte) []byte { return flip(len(b) - 1)(b) })
		}, []string{a + " checksum 1", a + " checksum 19", c + " checksum 19"}},
		{"a stored checksum damaged", func(t *testing.T, dir string) { edit(t, dir, a, flip(12+4*7)) },
			[]string{a + " header -1", a + " checksum 7"}},
		{"head damaged", func(t *testing.T, dir string) { edit(t, dir, a, flip(0)) },
			[]string{a + " header -1", a + " changed -1"}},
		{"poison head", func(t *testing.T, dir string) {
			edit(t, dir, a, func(b []byte) []byte {
				return append([]byte{1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255}, b[12:]...)
			})
		}, []string{a + " header -1"}},
		{"zeroed", func(t *testing.T, dir string) {
			edit(t, dir, a, func(b []byte) []byte { return make([]byte, len(b)) })
		}, []string{a + " header -1"}},
		{"swapped", func(t *testing.T, dir string) {
			rename(t, dir, a, "x")
			rename(t, dir, b, a)
			rename(t, dir, "x", b)
		}, []string{a + " changed -1", b + " changed -1", a + " swapped -1", b + " swapped -1"}},
		{"another dataset's shard", func(t *testing.T, dir string) {
			other := t.TempDir()
			makeShards(t, other, 4)
			rename(t, dir, a, "x")
			if err := os.Link(filepath.Join(other, "PART_00003.ffr"), filepath.Join(dir, a)); err != nil {
				t.Fatal(err)
			}
		}, []string{a + " changed -1"}},
		{"a directory", func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, a))
			os.Mkdir(filepath.Join(dir, a), 0o755)
		}, []string{a + " changed -1"}},
	} {
		for _, backend := range []aio.Backend{aio.Auto, aio.Pread} {
			t.Run(row.name+" "+backend.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				want := makeShards(t, dir, 3)
				row.harm(t, dir)
				report, err := Dataset(context.Background(), dir, nil, want, Options{AIO: aio.Options{Backend: backend, BlockSize: 4096}})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, p := range report.Problems {
					got = append(got, fmt.Sprint(p.Shard, " ", p.Kind, " ", p.Sample))
					if p.Transient || strings.Contains(p.String(), "\n") || p.Path != filepath.Join(dir, p.Shard) {
						t.Errorf("problem %+v", p)
					}
				}
				if !slices.Equal(got, row.want) {
					t.Errorf("problems %q\nwant     %q", got, row.want)
				}
				if names, err := shards(dir); err != nil || len(report.Results) != len(names) || report.Results[0].Path != filepath.Join(dir, names[0]) {
					t.Errorf("looked at %+v, there are %q: %v", report.Results, names, err)
				}
				if sound := report.Err() == nil; sound != (row.want == nil) {
					t.Errorf("error %v", report.Err())
				}
				if !errors.Is(report.Err(), ErrCorrupt) && row.want != nil {
					t.Errorf("error %v", report.Err())
				}
			})
		}
	}
}

// Shards of a directory without a manifest are checked by themselves.
func TestDatasetWithoutExpectation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeShards(t, dir, 3)
	report, err := Dataset(context.Background(), dir, nil, nil, Options{})
	if err != nil || report.Err() != nil || report.CrossChecked || report.Shards != 3 || report.Samples != 60 ||
		len(report.Results) != 3 || report.Results[2].Summary.Samples != 20 || report.Results[2].Bytes*3 >= report.Bytes*2 {
		t.Errorf("%+v, %v", report, err)
	}
}

// A shard over a limit is refused, and not called damaged.
func TestDatasetOverLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := makeShards(t, dir, 2)
	report, err := Dataset(t.Context(), dir, nil, want, Options{Record: record.Options{MaxSamples: 19}})
	if err != nil || len(report.Problems) != 2 || report.Problems[0].Kind != Limit || report.Problems[1].Transient {
		t.Fatalf("%+v, %v", report, err)
	}
	if err := report.Err(); !errors.Is(err, record.ErrTooLarge) || errors.Is(err, ErrCorrupt) {
		t.Errorf("error %v", err)
	}
	want = append(want, Expect{Name: "PART_00002.ffr"}) // one that is missing
	if report, err = Dataset(t.Context(), dir, nil, want, Options{Record: record.Options{MaxSamples: 19}}); err != nil || !errors.Is(report.Err(), ErrCorrupt) {
		t.Errorf("error %v, %v", report.Err(), err)
	}
}

func TestFilesCancelled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	makeShards(t, dir, 3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dataset(ctx, dir, nil, nil, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A difference that is gone when the file is read again is called transient.
func TestFileTransient(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := makeShards(t, dir, 1)
	edit(t, dir, want[0].Name, flip(300))
	r, err := aio.NewReader(aio.Options{Backend: aio.Pread})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	repair := func(int64, int64) { // by the time it is read again, the file is sound
		if repaired, err := os.ReadFile(filepath.Join(dir, want[0].Name)); err == nil && repaired[300]&1 != 0 {
			edit(t, dir, want[0].Name, flip(300))
		}
	}
	sound, _ := os.ReadFile(filepath.Join(dir, want[0].Name))
	if sound[300]&1 == 0 {
		t.Fatal("the fixture has another byte there")
	}
	res, err := File(context.Background(), r, Target{Path: filepath.Join(dir, want[0].Name), Want: &want[0]}, Options{Progress: repair})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Problems) != 1 || !res.Problems[0].Transient || !strings.Contains(res.Problems[0].String(), "transient") {
		t.Errorf("problems %+v", res.Problems)
	}
	if !errors.Is(res.Err(), ErrCorrupt) {
		t.Errorf("a transient difference is no error: %v", res.Err())
	}
}

func TestResultIsBounded(t *testing.T) {
	t.Parallel()
	var res Result
	for i := range int64(maxProblems + 5) {
		res.problem(Problem{Kind: Checksum, Sample: i})
	}
	var r Report
	r.add(&res)
	if len(r.Problems) != maxProblems || r.More != 5 || !strings.Contains(r.Err().Error(), fmt.Sprintf("and %d more", maxProblems+4)) {
		t.Errorf("%d problems, %d more: %v", len(r.Problems), r.More, r.Err())
	}
}

func ExampleDataset() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "PART_00000.ffr"))
	if err != nil {
		panic(err)
	}
	w, _ := record.NewWriter(f, 1)
	w.Append([]byte("hello"))
	w.Close()
	f.WriteAt([]byte("j"), 24)
	f.Close()

	report, err := Dataset(context.Background(), dir, nil, nil, Options{})
	for _, p := range report.Problems {
		fmt.Println(p)
	}
	fmt.Println(err)
	// Output:
	// PART_00000.ffr: sample 0: offset 24: wrong checksum: stored 3610a686, computed 4cd0f5e6 over 5 bytes
	// <nil>
}

// All workers together keep to one queue depth, and each reads something.
func TestShare(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ depth, workers, want int }{
		{0, 1, DefaultDepth}, {0, 16, 2}, {0, 100, 1}, {6, 2, 3}, {5, 2, 2}, {1, 4, 1},
	} {
		if got := Share(aio.Options{Depth: row.depth, BlockSize: 4096}, row.workers); got != (aio.Options{Depth: row.want, BlockSize: 4096}) {
			t.Errorf("depth %d, %d workers: %+v", row.depth, row.workers, got)
		}
	}
}

// A second reading that finds another difference is no sign of a sound file: both are told, and
// neither is transient.
func TestFileDiffersTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	want := makeShards(t, dir, 1)
	name := want[0].Name
	size := int(want[0].Bytes)
	first, second := flip(size-1), flip(size-40_000)
	edit(t, dir, name, first)
	r, err := aio.NewReader(aio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	opts := Options{Progress: func(_, bytes int64) {
		if bytes > 0 {
			edit(t, dir, name, func(b []byte) []byte { return second(first(b)) })
		}
	}}
	res, err := File(t.Context(), r, Target{Path: filepath.Join(dir, name), Want: &want[0]}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Problems) != 2 || res.Problems[0].Sample != 19 || res.Problems[1].Sample != 18 || res.Problems[0].Transient || res.Problems[1].Transient {
		t.Errorf("%+v", res.Problems)
	}

	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	sum := Sum{Name: name, Bytes: int64(size), CRC: 1}
	edit(t, dir, name, func(b []byte) []byte { return b })
	reads := 0
	res, err = twice(func() (Result, error) {
		if reads++; reads == 2 {
			edit(t, dir, name, flip(size/2))
		}
		return sum.scan(t.Context(), r, root, Options{})
	})
	if err != nil || len(res.Problems) != 2 || res.Problems[0].Transient || res.Problems[1].Transient {
		t.Errorf("%+v, %v", res.Problems, err)
	}
}
