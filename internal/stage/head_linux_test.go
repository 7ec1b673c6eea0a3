package stage

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"golang.org/x/sys/unix"
)

// A look at the first bytes of a file leaves no more than these in the page cache. Read-ahead that it began
// would go on when the file is converted, which then would not read past the page cache.
func TestHeadReadsNoMore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	const most = 64 << 10
	for name, look := range map[string]func() error{
		"Head": func() error { _, _, err := Head(path, most); return err },
		"inspectFile": func() error {
			_, err := inspectFile(input.Name{Name: path, Path: path, Size: st.Size(), ModTime: st.ModTime()})
			return err
		},
	} {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		if cached(t, f) != 0 {
			need.Missing(t, "a file system that removes pages from the page cache")
		}
		if err := look(); err != nil {
			t.Fatal(err)
		}
		if n := cached(t, f); n == 0 || n > most+4096 {
			t.Errorf("%s leaves %d bytes in the page cache", name, n)
		}
	}
}

// cached returns how many bytes of a file the page cache has.
func cached(t *testing.T, f *os.File) int {
	t.Helper()
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
		need.Missing(t, err)
	}
	return int(stat.Cache) * os.Getpagesize()
}
