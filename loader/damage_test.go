package loader_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/loader"
	"github.com/ffconvert/ffconvert/record"
)

// damaged flips a bit of each of some samples.
func damaged(t *testing.T, dir string, samples ...int) {
	t.Helper()
	r, err := record.Open(dir, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, i := range samples {
		k, e, err := r.Extent(i)
		if err != nil || e.Size == 0 {
			t.Fatal(e, err)
		}
		shardtest.Flip(t, dir, filepath.Base(r.Files()[k].Path), int(e.Off))
	}
}

// TestDamage: a damaged sample ends the loop with its place, or is left out and counted; never is it delivered.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 100, 2)
	damaged(t, dir, 7, 8, 61, 99) // the last one of its shard among them
	for _, prefetch := range []int{1, 5} {
		failing := loader.Options{Order: loader.Order{Batch: 10, Mode: loader.Sequential}, Prefetch: prefetch}
		l := opened(t, failing, dir)
		for range 2 { // the second time it is tried again
			var last error
			for b, err := range l.Batches(t.Context()) {
				if b != nil {
					t.Fatalf("the batch with a damaged sample was delivered: %d", b.Indices)
				}
				last = err
			}
			var at *record.FormatError
			if !errors.As(last, &at) || !errors.Is(last, record.ErrChecksum) || filepath.Base(at.Path) != "PART_00000.ffr" || at.Sample != 7 || at.Off <= 0 {
				t.Fatalf("%v", last)
			}
			if n := strings.Count(last.Error(), "\n"); n != 1 {
				t.Errorf("two damaged samples in %d lines: %v", n+1, last)
			}
		}
		if l.State().Position != 0 || l.Stats().Batches != 0 {
			t.Errorf("after it the state is %+v", l.State())
		}

		failing.SkipDamaged = true
		l = opened(t, failing, dir)
		var got []int64
		var told int
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			compare(t, b)
			got = append(got, b.Indices...)
			for _, err := range b.Damaged {
				if !errors.Is(err, record.ErrChecksum) {
					t.Errorf("left out for %v", err)
				}
				told++
			}
		}
		s := l.Stats()
		if len(got) != 96 || slices.Contains(got, 7) || slices.Contains(got, 8) || slices.Contains(got, 61) || slices.Contains(got, 99) || told != 4 || s.Skipped != 4 || s.Samples != 96 || s.Batches != 10 {
			t.Errorf("delivered %d; told %d, %+v", got, told, s)
		}
	}
}

// TestHeader: Open compares size and head of each shard with the manifest, and reads no more. A damaged header ends the
// loop where its shard is first needed, also if damaged samples are skipped.
func TestHeader(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 100, 2)
	shardtest.Flip(t, dir, "PART_00001.ffr", 12)
	for _, skip := range []bool{false, true} {
		l := opened(t, loader.Options{Order: loader.Order{Batch: 10, Mode: loader.Sequential}, SkipDamaged: skip}, dir)
		var last error
		for b, err := range l.Batches(t.Context()) {
			if last = err; err == nil {
				compare(t, b)
			}
		}
		var at *record.FormatError
		if !errors.As(last, &at) || !errors.Is(last, record.ErrChecksum) || filepath.Base(at.Path) != "PART_00001.ffr" || at.Sample != -1 || l.Stats().Batches != 5 {
			t.Errorf("skip %t: %d batches, %v", skip, l.Stats().Batches, last)
		}
		if n := strings.Count(last.Error(), "\n"); n != 0 {
			t.Errorf("one damage in %d lines: %v", n+1, last)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(dir string)
		is     error
	}{
		{"cut", func(dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", -1) }, record.ErrTruncated},
		{"lengthened", func(dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", 1) }, record.ErrHeader},
		{"another checksum", func(dir string) { shardtest.Flip(t, dir, "PART_00001.ffr", 0) }, record.ErrHeader},
	} {
		dir := made(t, "raw:bin", 0, 100, 2)
		tt.change(dir)
		l, err := loader.Open([]string{dir}, loader.Options{Order: loader.Order{Batch: 10}})
		if err == nil {
			l.Close()
		}
		if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), "PART_00001.ffr") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestSkipInFields: keys and fields of the samples that are left are their own.
func TestSkipInFields(t *testing.T) {
	t.Parallel()
	dir := made(t, "msgpack", 0, 60, 2)
	damaged(t, dir, 0, 3, 22)
	l := opened(t, loader.Options{SkipDamaged: true, Keys: true, Fields: []string{"bin"}, Order: loader.Order{Batch: 60}}, dir)
	for b, err := range l.Batches(t.Context()) {
		if err != nil || b.Len() != 57 || len(b.Keys) != 57 {
			t.Fatal(b, err)
		}
		for k, i := range b.Indices {
			if b.Keys[k] != key(i) || string(b.Field(k, 0).Data()) != string(content(i)) {
				t.Errorf("sample %d: key %q, bin %.40q", i, b.Keys[k], b.Field(k, 0).Data())
			}
		}
	}
}

// TestReplaced replaces the data under a running loader. It is an error, or the samples are still those of the file that
// was opened; never are they others.
func TestReplaced(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		replace func(t *testing.T, dir string)
		is      error
	}{
		{"by a conversion", func(t *testing.T, dir string) { madeIn(t, dir, "raw:bin", 500, 100, 2) }, record.ErrReplaced},
		{"by a file of the same size", func(t *testing.T, dir string) {
			name := filepath.Join(dir, "PART_00001.ffr")
			data, err := os.ReadFile(name)
			slices.Reverse(data[len(data)/2:])
			if err := errors.Join(err, os.WriteFile(name+".new", data, 0o644), os.Rename(name+".new", name)); err != nil {
				t.Fatal(err)
			}
		}, record.ErrReplaced},
		{"removed", func(t *testing.T, dir string) { shardtest.Remove(t, dir, "PART_00001.ffr") }, record.ErrReplaced},
		{"truncated", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", -700) }, io.ErrUnexpectedEOF},
		{"lengthened", func(t *testing.T, dir string) { shardtest.Truncate(t, dir, "PART_00001.ffr", 700) }, record.ErrReplaced},
		{"written in place", func(t *testing.T, dir string) {
			f, err := os.OpenFile(filepath.Join(dir, "PART_00001.ffr"), os.O_WRONLY, 0) // without O_TRUNC: batches are read meanwhile
			if err != nil {
				t.Fatal(err)
			}
			size, err := f.Seek(0, io.SeekEnd)
			_, wrote := f.WriteAt(make([]byte, 10_000), size-10_000)
			if err := errors.Join(err, wrote, f.Close()); err != nil {
				t.Fatal(err)
			}
		}, record.ErrChecksum},
	} {
		for _, after := range []int{0, 1, 5} { // batches, each of which has samples of both shards
			dir := made(t, "raw:bin", 0, 100, 2)
			l := opened(t, loader.Options{Order: loader.Order{Batch: 10}, Prefetch: 1}, dir)
			failed := func() (err error) {
				n := 0
				for b, err := range l.Batches(t.Context()) {
					if err != nil {
						return err
					}
					compare(t, b)
					if n++; n == after {
						tt.replace(t, dir)
					}
				}
				return nil
			}
			if after == 0 {
				tt.replace(t, dir)
			}
			err := failed()
			if err == nil { // the open file is read to the end of the epoch; the next one begins with an error
				if err = l.SetEpoch(1); err == nil {
					err = failed()
				}
			}
			if !errors.Is(err, tt.is) && !(tt.is != record.ErrReplaced && errors.Is(err, record.ErrReplaced)) || !strings.Contains(err.Error(), "PART_0000") {
				t.Errorf("%s after %d batches: %v, want %v", tt.name, after, err, tt.is)
			}
		}
	}
}

// TestLink: a link in the place of a shard of a dataset is refused, as verify does; one that is given by its name is followed.
func TestLink(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 100, 2)
	at, away := filepath.Join(dir, "PART_00001.ffr"), filepath.Join(t.TempDir(), "away.ffr")
	if err := os.Rename(at, away); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(away, at); err != nil {
		t.Fatal(err)
	}
	l, err := loader.Open([]string{dir}, loader.Options{Order: loader.Order{Batch: 8}})
	if err == nil {
		l.Close()
		t.Fatal("a link was followed")
	}
	if !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "a link") {
		t.Error(err)
	}
	if l, err = loader.Open([]string{at}, loader.Options{Order: loader.Order{Batch: 8}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
