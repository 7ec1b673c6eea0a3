package convertertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Cold tests reading of files that are not in the page cache. It writes one file for each element of contents,
// and opens all of them as one source. A file should have several MiB: smaller ones are read through the page
// cache.
func Cold(t *testing.T, open func(t *testing.T, paths ...string) converters.Source, contents ...[]byte) {
	prepare := func(t *testing.T) (paths []string, src converters.Source, d dataset) {
		t.Helper()
		dir := t.TempDir()
		for i, data := range contents {
			path := filepath.Join(dir, fmt.Sprintf("part-%d", i))
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		d = load(t, open(t, paths...)) // the written files are in the page cache
		return paths, open(t, paths...), d
	}
	t.Run("the same samples, in every division into runs", func(t *testing.T) {
		t.Parallel()
		paths, src, d := prepare(t)
		for p, want := range d.spans {
			cool(t, paths)
			spans, err := index(t.Context(), src, p)
			if err != nil {
				t.Fatal(err)
			}
			spans = slices.DeleteFunc(spans, func(f found) bool { return f.Shape == nil })
			if !slices.EqualFunc(spans, want, func(a, b found) bool { return a.shape == b.shape && a.Off == b.Off && a.Entries == b.Entries }) {
				t.Errorf("part %d has two indexes", p)
			}
			for _, runs := range []int{1, 2, 3, 10} {
				cool(t, paths)
				for i := range runs {
					from, to := i*len(want)/runs, (i+1)*len(want)/runs
					got, err := read(t.Context(), src, slice(p, want, from, to))
					if err != nil {
						t.Fatal(err)
					}
					same(t, fmt.Sprintf("part %d, run %d of %d", p, i, runs), got, d.samples[p][from:to])
				}
			}
		}
	})
	t.Run("the file is replaced while it is read", func(t *testing.T) {
		t.Parallel()
		paths, src, d := prepare(t)
		for p, path := range paths {
			err := d.disturbed(t, src, p, paths, func() error {
				return errors.Join(os.Remove(path), os.WriteFile(path, make([]byte, len(contents[p])), 0o600))
			})
			if err != nil {
				t.Errorf("part %d: %v", p, err)
			}
		}
	})
	t.Run("the file becomes shorter while it is read", func(t *testing.T) {
		t.Parallel()
		paths, src, d := prepare(t)
		for p, path := range paths {
			err := d.disturbed(t, src, p, paths, func() error { return os.Truncate(path, int64(len(contents[p])/2)) })
			wantPlaced(t, err)
			if !errors.Is(err, converters.ErrChanged) && (err != nil || p == 0) { // all of a later part may have been read by then
				t.Errorf("part %d: error %v, want %v", p, err, converters.ErrChanged)
			}
		}
	})
}

// disturbed reads a part that is not in the page cache, and calls disturb at the first sample. All samples before an
// error must be right, and without an error all samples must be there.
func (d dataset) disturbed(t *testing.T, src converters.Source, p int, paths []string, disturb func() error) error {
	t.Helper()
	cool(t, paths)
	n, want := 0, d.samples[p]
	for sample, err := range src.Read(t.Context(), whole(p, d.spans[p])) {
		if err != nil {
			return err
		}
		same(t, fmt.Sprintf("sample %d of part %d", n, p), []*converters.Sample{clone(sample)}, want[n:n+1])
		if n++; n == 1 {
			if err := disturb(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n < len(want) {
		t.Errorf("part %d: %d samples of %d and no error", p, n, len(want))
	}
	return nil
}
