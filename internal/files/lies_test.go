package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A server may say that it has renamed a file, and have not, or that it has not, and have.
func TestRenameLies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, row := range []struct {
		name   string
		rename func(f *Temp, name string) error
	}{
		{"dropped", func(*Temp, string) error { return nil }},
		{"of another size", func(f *Temp, name string) error {
			return errors.Join(os.WriteFile(filepath.Join(dir, name), []byte("other"), 0o644), root.Remove(f.Tmp))
		}},
		{"done, but EIO", func(f *Temp, name string) error {
			return errors.Join(root.Rename(f.Tmp, name), syscall.EIO)
		}},
	} {
		f, err := Create(root, "tmp")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("content"); err != nil {
			t.Fatal(err)
		}
		err = f.finish(filepath.Base(t.TempDir())+row.name, row.rename)
		if !errors.Is(err, syscall.EIO) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", row.name, err)
		}
		root.Remove("tmp")
	}
}
