//go:build bench && linux

package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// settle removes outputs and waits until the device has nothing left to do for it.
func settle(t *testing.T, outputs ...string) {
	t.Helper()
	for _, out := range outputs {
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	syscall.Sync()
}

// warm brings files into the page cache.
func warm(t *testing.T, files []string) {
	t.Helper()
	execute(t, "sh", append([]string{"-c", `cat "$@" > /dev/null`, "sh"}, files...)...)
}

// chill takes files out of the page cache: all files and programs, where we may, else those named.
func chill(t *testing.T, files []string) {
	t.Helper()
	syscall.Sync()
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err == nil {
		return
	}
	measured.coldness = "of the inputs alone, by `posix_fadvise`: this user may not drop that of the machine"
	forget(t, files)
}

// forget takes files out of the page cache, and nothing else.
func forget(t *testing.T, files []string) {
	t.Helper()
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		err = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		f.Close()
		if err != nil {
			t.Fatalf("fadvise %s: %v", name, err)
		}
	}
}

// glob lists files, of which there must be some.
func glob(t *testing.T, elem ...string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(elem...))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", filepath.Join(elem...), err)
	}
	return files
}

// filesUnder lists the files below a directory, of which there must be some.
func filesUnder(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", dir, err)
	}
	return files
}

// sizeOf adds up the sizes of files.
func sizeOf(t *testing.T, files []string) int64 {
	t.Helper()
	n := int64(0)
	for _, f := range files {
		st, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		n += st.Size()
	}
	return n
}
