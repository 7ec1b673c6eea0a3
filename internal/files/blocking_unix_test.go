//go:build unix

package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A FIFO is registered with the poller, as a file of a FUSE server is.
func TestBlocking(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	plain, err := os.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.SetDeadline(time.Time{}); err != nil {
		t.Skip("it is not registered in the first place: ", err)
	}
	f, err := Blocking(plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.SetDeadline(time.Time{}); !errors.Is(err, os.ErrNoDeadline) {
		t.Errorf("it is still registered: %v", err)
	}
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("flags %#x, %v", flags, err)
	}
	if _, err := plain.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the first one is open: %v", err)
	}
	if f.Name() != name {
		t.Errorf("its name is %q", f.Name())
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadFull(f, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

// A file that is not registered is left as it is.
func TestBlockingRegular(t *testing.T) {
	t.Parallel()
	plain, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if f, err := Blocking(plain, nil); f != plain || err != nil {
		t.Errorf("Blocking = %v, %v", f, err)
	}
	if f, err := Blocking(nil, os.ErrPermission); f != nil || err != os.ErrPermission {
		t.Errorf("Blocking of an error = %v, %v", f, err)
	}
}
