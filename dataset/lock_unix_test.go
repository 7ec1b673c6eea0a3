//go:build unix

package dataset

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A directory is free once it is closed, also while a child of the process still has a copy of its descriptors.
func TestUnlockedByClose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.began = true // else Close removes the lock
	copied, err := unix.Dup(int(o.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied)
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
