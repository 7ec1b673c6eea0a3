//go:build linux || darwin

package input

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestExists(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, loop := filepath.Join(dir, "a{b}"), filepath.Join(dir, "loop")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		there bool
		fails bool
	}{
		{file, true, false},
		{loop, true, false},
		{filepath.Join(dir, "nothing"), false, false},
		{file + "/x", false, false},
		{"s3://bucket/x", false, false},
		{strings.Repeat("{a,b}", 1000), false, false},
		{"a\x00b", false, false},
		{loop + "/x", false, true},
	} {
		if there, err := Exists(c.name); there != c.there || (err != nil) != c.fails {
			t.Errorf("Exists(%.20q) = %v, %v", c.name, there, err)
		}
	}
	if !namesNothing(syscall.ENOENT) || namesNothing(syscall.EIO) || namesNothing(syscall.ESTALE) {
		t.Error("an I/O error is taken for a name of nothing")
	}
}
