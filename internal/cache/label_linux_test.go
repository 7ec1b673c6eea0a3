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
	d := reserve(t, c, Request{Keys: []string{keyOf("a")}, Size: 3, Label: label})[0]
	_, err = d.WriteAt([]byte("abc"), 0)
	must(t, err)
	beside, err := d.Split(keyOf("b"))
	must(t, err)
	_, err = beside.Write([]byte("more"))
	must(t, err)
	for _, d := range []*Lease{beside, d} {
		_, err := d.Commit()
		must(t, err)
	}
	entries, err := c.Entries()
	if err != nil || len(entries) != 2 || entries[0].Label != label || entries[1].Label != label {
		t.Errorf("%+v, %v", entries, err)
	}
	must(t, releaseAll([]*Lease{beside, d}, nil))
}
