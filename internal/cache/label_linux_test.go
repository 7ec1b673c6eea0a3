package cache

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What a copy is of is kept with it, where the file system keeps attributes.
func TestLabel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setxattr(probe, labelName, []byte("x"), 0); err != nil {
		t.Skipf("no extended attributes here: %v", err)
	}
	c, err := Open(filepath.Join(dir, "cache"), 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const label = "s3://bucket/a.tar"
	h, err := c.Reserve(t.Context(), []Request{{Keys: []string{keyOf("a")}, Size: 3, Label: label}})
	if err != nil {
		t.Fatal(err)
	}
	d := h.Writer(0)
	if _, err := d.WriteAt([]byte("abc"), 0); err != nil {
		t.Fatal(err)
	}
	beside := d.Beside(keyOf("b"))
	if _, err := beside.Write([]byte("more")); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*Writer{beside, d} {
		if _, err := d.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := c.Entries()
	if err != nil || len(entries) != 2 || entries[0].Label != label || entries[1].Label != label {
		t.Errorf("%+v, %v", entries, err)
	}
	if err := h.Release(); err != nil {
		t.Fatal(err)
	}
}
