package shard

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A file that was written behind, its front last, holds what was written.
func TestWriteBehind(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const front, size = 3*behind/2 + 5, (lag + 3) * behind
	want := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(want)
	w := newWriteBehind(f)
	write := func(from, to int) {
		for off := from; off < to; off += 1 << 20 {
			if _, err := w.WriteAt(want[off:min(to, off+1<<20)], int64(off)); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(front, size)
	write(0, front)
	if w.refused {
		t.Error("the kernel refuses sync_file_range")
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file differs from what was written: %d bytes, error %v", len(got), err)
	}
}

// What the device says is reported, once; what the kernel does not know is done without.
func TestWriteBehindRefused(t *testing.T) {
	t.Parallel()
	for errno, want := range map[unix.Errno]bool{unix.EIO: true, unix.ENOSPC: true, unix.EDQUOT: true, unix.ENOMEM: true, unix.ENOSYS: false, unix.EPERM: false, unix.EINVAL: false} {
		if lost(errno) != want {
			t.Errorf("%v: lost is %v", errno, !want)
		}
	}
	r, pipe, err := os.Pipe() // a pipe has no range to sync
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer pipe.Close()
	w := newWriteBehind(pipe)
	if err := w.send(piece{0, 1}); err != nil || !w.refused {
		t.Errorf("error %v, refused %v", err, w.refused)
	}
}
