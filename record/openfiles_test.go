package record

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// named are files of which nothing but the path is known.
func named(paths ...string) (files []FileInfo) {
	for _, p := range paths {
		files = append(files, FileInfo{Path: p})
	}
	return files
}

// TestOpenFiles: files of any names, in the order given, each as often as it is given.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	b := onDisk(t, "b", shardOf(t, []byte("one"), []byte("two")))
	a := onDisk(t, "a.ffr", shardOf(t, []byte("three")))
	r, err := OpenFiles(named(b, a, b), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for i := range r.Len() {
		s, err := r.Read(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(s))
	}
	if fmt.Sprint(got) != "[one two three one two]" {
		t.Error(got)
	}
	if r, err := OpenFiles(named(b, filepath.Dir(a)), Options{}); err == nil || r != nil {
		t.Error("a directory was opened as a file")
	}
	none, err := OpenFiles(nil, Options{})
	if err != nil || none.Len() != 0 || none.Close() != nil {
		t.Error("no files:", err)
	}
}

// TestHeaderCRC: a legacy file has the header CRC that it would have.
func TestHeaderCRC(t *testing.T) {
	t.Parallel()
	sound, samples := example(t)
	legacy := append([]byte{0, 0, 0, 0}, sound[4:]...)
	r, err := OpenFiles(named(onDisk(t, "a", sound), onDisk(t, "b", legacy)), Options{AllowLegacy: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Files()
	if r.Len() != 2*len(samples) || f[0].HeaderCRC == 0 || f[1].HeaderCRC != 0 || r.HeaderCRC(0) != f[0].HeaderCRC || r.HeaderCRC(1) != f[0].HeaderCRC {
		t.Errorf("%+v: %08x, %08x", f, r.HeaderCRC(0), r.HeaderCRC(1))
	}
}

func TestUnchanged(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	for _, tt := range []struct {
		name   string
		change func(path string) error
		want   error
	}{
		{"as it was", func(string) error { return nil }, nil},
		{"linked and renamed", func(path string) error {
			return errors.Join(os.Link(path, path+".same"), os.Rename(path+".same", path))
		}, nil},
		{"replaced", func(path string) error {
			return errors.Join(os.WriteFile(path+".new", b, 0o644), os.Rename(path+".new", path))
		}, ErrReplaced},
		{"removed", os.Remove, ErrReplaced},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, ErrReplaced},
		{"longer", func(path string) error { return os.Truncate(path, int64(len(b))+1) }, ErrReplaced},
		{"empty", func(path string) error { return os.Truncate(path, 0) }, ErrReplaced},
	} {
		path := onDisk(t, "a.ffr", b)
		r, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := tt.change(path); err != nil {
			t.Fatal(err)
		}
		var at *FormatError
		if err := r.Unchanged(); !errors.Is(err, tt.want) || err != nil && (!errors.As(err, &at) || at.Path != path) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	mem, err := readerOf(b, Options{})
	if err != nil || mem.Unchanged() != nil {
		t.Error("a file in memory is unchanged:", err)
	}
}
