package shard

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/verify"
)

// A file beside the shards that is not what was written does not get its name.
func TestWriteBeside(t *testing.T) {
	t.Parallel()
	out, err := OpenOutput(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, text := range []string{"", "a", strings.Repeat("b", 1<<20+1)} {
		err := out.writeBeside("tmp", "final", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		data, err2 := out.root.ReadFile("final")
		if err != nil || err2 != nil || string(data) != text {
			t.Fatalf("%d bytes became %d: %v, %v", len(text), len(data), err, err2)
		}
	}
	err = out.writeBeside("tmp", "final", func(w io.Writer) error {
		io.WriteString(w, "wrong")
		return errAbsent
	})
	if !errors.Is(err, errAbsent) {
		t.Error(err)
	}
	if names, err := readNames(out.root, "."); err != nil || strings.Join(names, " ") != ".ffconvert final" {
		t.Errorf("left %q, %v", names, err)
	}
	if err := out.root.WriteFile("tmp", []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := aio.NewReader(aio.Options{Backend: aio.Pread})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = out.readBack(context.Background(), r, "tmp", "meta.json", FileSum{Bytes: 7, CRC: 1})
	if !errors.Is(err, verify.ErrCorrupt) || !strings.Contains(err.Error(), "meta.json: its checksum is") {
		t.Error(err)
	}
}

// A run that goes on writes an index anew whose bytes are others, though it has the right size.
func TestResumeHealsIndex(t *testing.T) {
	t.Parallel()
	src := newFixture(15, 2, 50, 2000)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	dir := t.TempDir()
	if _, err := write(t, src, plan, dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want := everything(t, dir)
	name := indexName("PART_00002.ffr")
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(data) / 2, len(data) - 1} {
		flip(t, dir, name, at)
		report, err := write(t, src, plan, dir, WriteOptions{})
		if err != nil || len(report.Lost) != 1 || report.Kept != 3 {
			t.Fatalf("byte %d: %+v, %v", at, report, err)
		}
		for name, text := range everything(t, dir) {
			if want[name] != text {
				t.Errorf("byte %d: %s differs", at, name)
			}
		}
	}
}
