package slurm

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is converted, from the directory of the jobs. The names have spaces, as users' have.
const (
	pattern = "a dataset/shards <000..007>.tar"
	shards  = 40
	out     = "the shards"
)

// arguments are those of a conversion into a directory.
func arguments(out string) []string {
	return []string{"tar", "--shards", fmt.Sprint(shards), pattern, out}
}

// write writes the dataset: 8 tars of 25 samples, 6 MB.
func write(t *testing.T, work string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 8 {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for j := range 25 {
			data := make([]byte, 20<<10+rng.IntN(20<<10))
			for k := range data {
				data[k] = byte(rng.Uint32())
			}
			head := tar.Header{Name: fmt.Sprintf("%d/%03d.bin", i, j), Mode: 0o644, Size: int64(len(data)), ModTime: time.Unix(1e9, 0), Typeflag: tar.TypeReg}
			if err := w.WriteHeader(&head); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(work, strings.Replace(pattern, "<000..007>", fmt.Sprintf("%03d", i), 1))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var created = regexp.MustCompile(`"(created|sha256)": "[^"]*"`)

// tree returns the files below a directory, without what may differ between two sound
// conversions: the time in the manifest, times and order in the journal, who held the lock.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			files[name+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(path)
		switch text := string(data); name {
		case "manifest.json":
			files[name] = created.ReplaceAllString(text, "")
		case ".ffconvert/journal":
			files[name] = journal(t, text)
		case ".ffconvert/lock":
			files[name] = ""
		default:
			files[name] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// journal returns what a journal's lines say, sorted. A line is a CRC-32 and JSON.
func journal(t *testing.T, text string) string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(text) {
		_, data, _ := strings.Cut(line, " ")
		var says map[string]any
		if err := json.Unmarshal([]byte(data), &says); err != nil {
			t.Fatalf("journal: %v: %s", err, line)
		}
		delete(says, "at")
		lines = append(lines, fmt.Sprint(says))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// same asserts that the jobs have left what one process leaves.
func (c *cluster) same() {
	c.t.Helper()
	alone := "in one process"
	c.output("ffconvert", arguments(alone)...)
	want, got := tree(c.t, filepath.Join(c.work, alone)), tree(c.t, filepath.Join(c.work, out))
	if n := len(slices.DeleteFunc(slices.Collect(maps.Keys(want)), func(name string) bool { return filepath.Ext(name) != ".ffr" })); n != shards {
		c.t.Fatalf("%d shards in one process, want %d", n, shards)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if text, ok := got[name]; !ok {
			c.t.Errorf("%s is missing", name)
		} else if text != want[name] {
			c.t.Errorf("%s differs: %d bytes, want %d", name, len(text), len(want[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			c.t.Errorf("%s was left behind", name)
		}
	}
}
