package lookup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
)

// A tampered file has one more byte flipped, or fails, in its first reads.
type tampered struct {
	dataset.File
	fails *int // reads that are still to fail
	err   error
	flips bool // and not fail
}

func (f tampered) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if *f.fails > 0 {
		*f.fails--
		if !f.flips {
			return 0, f.err
		}
		p[n-1] ^= 1
	}
	return n, err
}

// CheckKeys finds a table of another dataset, a flipped byte of any page and another size; a file of a bucket is read again
// before it is wrong, and an error of reading is not damage.
func TestCheckKeys(t *testing.T) {
	t.Parallel()
	dir := made(t, "cbor", 2000, 2)
	if err := CheckKeys(dir, Options{}); err != nil {
		t.Fatalf("without a table: %v", err)
	}
	d := opened(t, dir)
	d.few = 0
	numbers(t, d, key(7))
	name := filepath.Join(dir, filepath.FromSlash(dataset.KeysName))
	whole, err := os.ReadFile(name)
	if err != nil || len(whole) < 4*pageSize {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	if err := CheckKeys(dir, Options{}); err != nil {
		t.Fatalf("the table of the dataset: %v", err)
	}
	for _, row := range []struct {
		name    string
		corrupt func([]byte) []byte
	}{
		{"head", func(b []byte) []byte { b[9] ^= 1; return b }},
		{"first page", func(b []byte) []byte { b[pageSize] ^= 1; return b }},
		{"last page", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"cut", func(b []byte) []byte { return b[:len(b)-pageSize] }},
		{"longer", func(b []byte) []byte { return append(b, 0) }},
		{"empty", func([]byte) []byte { return nil }},
	} {
		if err := os.WriteFile(name, row.corrupt(append([]byte{}, whole...)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := CheckKeys(dir, Options{}); !errors.Is(err, ErrKeys) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	if err := os.WriteFile(name, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	errCut := errors.New("cut")
	for _, row := range []struct {
		name  string
		fails int
		flips bool
		want  error
	}{
		{"wrong twice", 2, true, nil},
		{"wrong each time", 3, true, ErrKeys},
		{"not read", 1, false, errCut},
	} {
		fails := row.fails
		err := CheckKeys(dir, Options{Open: func(path string) (dataset.File, int64, error) {
			f, size, err := d.opts.open(path)
			if err == nil && strings.HasSuffix(path, "keys") {
				f = tampered{f, &fails, errCut, row.flips}
			}
			return f, size, err
		}})
		if !errors.Is(err, row.want) || errors.Is(err, ErrKeys) != (row.want == ErrKeys) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
