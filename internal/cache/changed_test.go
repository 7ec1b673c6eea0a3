package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/checksum"
)

// What is changed behind the cache's back is found when it is read, by each run that has the copy: the
// run that has written it, and one that has read it through.
func TestChangedCopy(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789abcdef"), 5000)
	for _, kept := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "cache")
		c := openCache(t, dir, 0)
		h, copied := put(t, c, "x", data)
		if kept { // by a run before
			must(t, h.Release())
			must(t, c.Close())
			c = openCache(t, dir, 0)
			h, copied = put(t, c, "x", data)
		}
		read := func() error {
			f, err := os.Open(copied.Path)
			must(t, err)
			r := copied.Sums.Check(f)
			defer r.Close()
			b := make([]byte, len(data))
			n, err := r.ReadAt(b, 0)
			if !bytes.Equal(b[:n], data[:n]) {
				t.Error("wrong bytes were read")
			}
			return err
		}
		if err := read(); err != nil {
			t.Error(err)
		}
		f, err := os.OpenFile(copied.Path, os.O_WRONLY, 0)
		must(t, err)
		st, err := f.Stat()
		must(t, err)
		_, err = f.WriteAt([]byte("!!!!"), 40_000)
		must(t, err)
		must(t, f.Close())
		must(t, os.Chtimes(copied.Path, st.ModTime(), st.ModTime()))
		if err := read(); !errors.Is(err, checksum.ErrChanged) {
			t.Errorf("kept %v: %v", kept, err)
		}
		must(t, h.Release())
		must(t, c.Close())
	}
}

// What is fetched is decompressed from its draft: that is compared, too, in whatever order its
// ranges have come.
func TestChangedDraft(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, dir, 0)
	d := reserve(t, c, request("x", 100_000))[0]
	data := bytes.Repeat([]byte("xyz"), 32_700)
	for _, from := range []int{65536, 0, 32768} {
		_, err := d.WriteAt(data[from:min(from+32768, len(data))], int64(from))
		must(t, err)
	}
	read := func() error {
		r, err := d.Checked()
		must(t, err)
		defer r.Close()
		b := make([]byte, len(data))
		n, err := r.ReadAt(b, 0)
		if !bytes.Equal(b[:n], data[:n]) {
			t.Error("wrong bytes were read")
		}
		return err
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	must(t, edit(filepath.Join(dir, d.name), func(b []byte) []byte { b[20_000]++; return b }))
	if err := read(); !errors.Is(err, checksum.ErrChanged) {
		t.Error(err)
	}
	// As the copy that it becomes it is what was written, and found to be otherwise when it is read.
	copied, err := d.Commit()
	must(t, err)
	b, err := os.ReadFile(copied.Path)
	must(t, err)
	if copied.Sums.Sum64() != checksum.Sum64(data) || copied.Sums.Sum64() == checksum.Sum64(b) {
		t.Error("its sums are of what the file has")
	}
	must(t, d.Release())
	must(t, c.Close())
}
