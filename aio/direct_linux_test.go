package aio

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A file that is read past the page cache keeps its one descriptor, with O_DIRECT only meanwhile.
func TestAsDirect(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // an open file needs no name
		t.Fatal(err)
	}
	list := readerList{open: func() (*Reader, error) { return NewReader(Options{Depth: 4, BlockSize: 4 * pageSize}) }}
	t.Cleanup(list.closeIdle)
	s := &Stream{readers: &list, file: f}
	if err := s.start(5); err != nil {
		t.Fatal(err)
	}
	if s.plain {
		need.Missing(t, "a file system with O_DIRECT", path)
	}
	for _, read := range []struct {
		off    int64
		direct bool
	}{{5, true}, {1005, true}, {5, false}, {1005, false}} {
		b := make([]byte, 1000)
		if read.off == 5 && !read.direct {
			if err := s.stop(); err != nil {
				t.Fatal(err)
			}
			s.plain = true
		}
		if n, err := s.ReadAt(b, read.off); err != nil || !bytes.Equal(b, want[read.off:][:n]) || n < len(b) {
			t.Errorf("%+v: %d bytes, %v", read, n, err)
		}
		if on := isDirect(t, f); on != read.direct {
			t.Errorf("%+v: O_DIRECT is on: %t", read, on)
		}
	}
	if s.direct.os != f {
		t.Error("it has another descriptor")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func isDirect(t *testing.T, f *os.File) bool {
	t.Helper()
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_DIRECT != 0
}
