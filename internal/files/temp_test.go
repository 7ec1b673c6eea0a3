package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func openRoot(t testing.TB) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root
}

// names lists what is in the root.
func names(t *testing.T, root *os.Root) string {
	t.Helper()
	entries, err := os.ReadDir(root.Name())
	if err != nil {
		t.Fatal(err)
	}
	list := ""
	for _, e := range entries {
		data, _ := root.ReadFile(e.Name())
		list += e.Name() + "=" + string(data) + " "
	}
	return list
}

func TestTemp(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		finish func(f *Temp) error
		before string // contents of "final" beforehand
		want   string
		err    error
	}{
		{"commit", func(f *Temp) error { return f.Commit("final") }, "", "final=new ", nil},
		{"commit after sync", func(f *Temp) error { return errors.Join(f.Sync(), f.Commit("final")) }, "", "final=new ", nil},
		{"commit never replaces", func(f *Temp) error { return f.Commit("final") }, "old", "final=old ", fs.ErrExist},
		{"replace", func(f *Temp) error { return f.Replace("final") }, "old", "final=new ", nil},
		{"discard", func(f *Temp) error { f.Discard(); return nil }, "old", "final=old ", nil},
		{"discard after commit", func(f *Temp) error { defer f.Discard(); return f.Commit("final") }, "", "final=new ", nil},
		{"no way out", func(f *Temp) error { return f.Commit("../final") }, "", "", errAny},
		{"closed under it", func(f *Temp) error { f.File.Close(); return f.Commit("final") }, "", "", fs.ErrClosed},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			root := openRoot(t)
			if row.before != "" {
				if err := root.WriteFile("final", []byte(row.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := Create(root, "tmp")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(f, "new"); err != nil {
				t.Fatal(err)
			}
			err = row.finish(f)
			if row.err == errAny && err == nil || row.err != errAny && !errors.Is(err, row.err) {
				t.Errorf("error %v, want %v", err, row.err)
			}
			if got := names(t, root); got != row.want {
				t.Errorf("left %q, want %q", got, row.want)
			}
		})
	}
}

var errAny = errors.New("any error")

func TestCreateIsExclusive(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	f, err := Create(root, "tmp")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Discard()
	if _, err := Create(root, "tmp"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a temporary file was made twice: %v", err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "x"), filepath.Join(root.Name(), "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(root, "link"); err == nil {
		t.Error("made through a link")
	}
}

func TestRenameByLink(t *testing.T) {
	t.Parallel()
	root := openRoot(t)
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := renameByLink(&Temp{Dir: root, Tmp: "a", To: root, From: "a"}, "b"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("replaced a file: %v", err)
	}
	if err := renameByLink(&Temp{Dir: root, Tmp: "a", To: root, From: "a"}, "c"); err != nil {
		t.Fatal(err)
	}
	if got := names(t, root); got != "b=b c=a " {
		t.Errorf("left %q", got)
	}
}

func ExampleTemp_Replace() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	f, err := Create(root, "report.tmp")
	if err != nil {
		panic(err)
	}
	defer f.Discard()
	if _, err := io.WriteString(f, "complete"); err != nil {
		panic(err)
	}
	if err = f.Sync(); err == nil {
		err = f.Replace("report.txt")
	}
	data, _ := root.ReadFile("report.txt")
	fmt.Printf("%s %v\n", data, err)
	// Output: complete <nil>
}
