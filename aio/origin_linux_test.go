package aio

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

func TestTypeOfMount(t *testing.T) {
	t.Parallel()
	const mounts = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n" +
		"122 22 0:52 / /with\\040space rw master:2 propagate_from:3 - fuse.sshfs host:/ rw,user_id=0\n" +
		"2 22 0:53 / /a rw - 9p - rw,trans=virtio\n"
	for _, row := range []struct{ info, want string }{
		{"pos:\t0\nflags:\t0100000\nmnt_id:\t22\nino:\t5\n", "ext4"},
		{"mnt_id:\t122\n", "fuse.sshfs"},
		{"mnt_id:\t2\n", "9p"},
		{"mnt_id:\t12\n", ""}, // of another namespace
		{"pos:\t0\n", ""},
		{"", ""},
	} {
		if got := typeOfMount(row.info, mounts); got != row.want {
			t.Errorf("%q: %q, want %q", row.info, got, row.want)
		}
	}
}

// A page that is mapped by a process cannot be dropped, and is seen.
func TestCached(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const size = 5*4096 + 1
	if _, err := f.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	fd := int(f.Fd())
	if name := MountType(fd); !slices.Contains(onDevice, name) {
		need.Missing(t, "a file system on a device, not "+name)
	}
	drop := func() {
		t.Helper()
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
	if !cached(fd, size) {
		t.Error("what was just written is not in the page cache")
	}
	drop()
	if cached(fd, size) {
		t.Error("a page stays after it was dropped")
	}
	held, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if held[size-1] != 0 {
		t.Error("it holds another byte")
	}
	drop()
	if !cached(fd, size) {
		t.Error("a page that is mapped is not seen")
	}
	if err := unix.Munmap(held); err != nil {
		t.Fatal(err)
	}
	if cached(-1, size) != true || cached(-1, 0) != false {
		t.Error("what cannot be looked at counts as dropped, or nothing as cached")
	}
}

// A file system without a device is called by its name, and so is one in memory.
func TestUncache(t *testing.T) {
	t.Parallel()
	r, err := NewReader(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, row := range []struct{ path, want string }{
		{"/proc/self/status", "proc"},
		{"/dev/shm", "tmpfs"},
		{".", ""},
	} {
		path := row.path
		if st, err := os.Stat(path); err != nil {
			need.Missing(t, err)
		} else if st.IsDir() {
			f, err := os.CreateTemp(path, "origin-*.tmp")
			if err != nil {
				t.Fatal(err)
			}
			defer os.Remove(f.Name())
			defer f.Close()
			path = f.Name()
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		want := Origin(row.want)
		if want == "" {
			if want = Origin(MountType(f.fd)); slices.Contains(onDevice, string(want)) {
				want = Device
			}
		}
		if got := f.Uncache(); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
		f.Close()
	}
}
