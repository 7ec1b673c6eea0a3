package cached_test

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/dataset/cached"
)

// A watch counts how often a directory is read.
type watch struct {
	*os.File
	entries int // events that tell of names
	listed  int
}

func watched(t *testing.T, path string) *watch {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{File: os.NewFile(uintptr(fd), "inotify")}
	t.Cleanup(func() { w.Close() })
	if _, err := unix.InotifyAddWatch(fd, path, unix.IN_ACCESS|unix.IN_MOVED_TO); err != nil {
		t.Fatal(err)
	}
	return w
}

// read counts the events so far.
func (w *watch) read(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for {
		n, err := unix.Read(int(w.Fd()), buf)
		if err == unix.EAGAIN {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; {
			mask := binary.NativeEndian.Uint32(buf[at+4:])
			size := int(binary.NativeEndian.Uint32(buf[at+12:]))
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				t.Fatal("too many events")
			case mask&unix.IN_ACCESS != 0 && mask&unix.IN_ISDIR != 0 && size == 0:
				w.listed++
			case mask&unix.IN_MOVED_TO != 0 && strings.HasSuffix(strings.TrimRight(string(buf[at+16:at+16+size]), "\x00"), ".have"):
				w.entries++
			}
			at += 16 + size
		}
	}
}

// The room for a shard costs the same in a cache of many shards as in one of few: the directory is not listed for each.
func TestManyShards(t *testing.T) {
	t.Parallel()
	const shards = 2000
	dir, _ := made(t, shards, 30, shards)
	opts := options(t, 1<<40)
	x := opened(t, served(t, dir), opts)
	w := watched(t, x.Path())
	if size := keptOf(t, x); size == 0 {
		t.Error("nothing is kept")
	}
	if w.read(t); w.entries != shards || w.listed > 10 {
		t.Errorf("for %d shards, of which %d are kept, the directory was read %d times", shards, w.entries, w.listed)
	}
}

// What a user cannot write into is no cache, even where all is in it: the error says so.
func TestReadOnlyCache(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 300, 3000, 3)
	url, opts := served(t, dir), options(t, 0)
	kept(t, url, opts, records)
	err := filepath.WalkDir(filepath.Dir(opts.Dir), func(path string, d fs.DirEntry, err error) error {
		mode := fs.FileMode(0o444)
		if err == nil && d.IsDir() {
			mode = 0o555
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Dir(opts.Dir), 0o755) })
	empty, ended := opts, make(chan struct{})
	empty.Dir = filepath.Join(opts.Dir, "none")
	go func() {
		defer close(ended)
		runtime.LockOSThread() // for good: the thread ends with its user
		if os.Getuid() == 0 {
			if _, err := unix.SetfsuidRetUid(65534); err != nil {
				t.Error(err)
			}
		}
		for _, opts := range []cached.Options{opts, empty} {
			_, err := cached.Open(t.Context(), url, opts)
			if err == nil || !strings.Contains(err.Error(), opts.Dir+"/datasets/") || !strings.Contains(err.Error(), "permission denied: a cache is written to even") || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v", err)
			}
		}
	}()
	<-ended
}
