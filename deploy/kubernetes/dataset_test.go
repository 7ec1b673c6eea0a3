package kubernetes

import (
	"archive/tar"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// writeTars writes a small dataset: sixteen tars of some fifteen samples of a picture's size, and a
// member of each that is no sample. It returns their names.
func writeTars(t *testing.T, dir string) (names []string) {
	t.Helper()
	rng := rand.NewChaCha8([32]byte{1})
	size := rand.New(rng)
	for part := range 16 {
		names = append(names, filepath.Join(dir, fmt.Sprintf("train-%02d.tar", part)))
		f, err := os.Create(names[part])
		if err != nil {
			t.Fatal(err)
		}
		w := tar.NewWriter(f)
		add := func(name string, data []byte) {
			if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(data)), Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 10 + size.IntN(10) {
			picture := make([]byte, 500+size.IntN(20_000))
			_, _ = rng.Read(picture) // it cannot fail
			add(fmt.Sprintf("%d-%04d.jpg", part, i), picture)
			add(fmt.Sprintf("%d-%04d.cls", part, i), fmt.Append(nil, i%10))
		}
		add("README", []byte("no sample\n"))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

var created = regexp.MustCompile(`"(created|sha256)": *"[^"]*"`)

// output returns the files of an output directory, by name: those that input and options
// decide with their content, the others as they must be anyway.
func output(t *testing.T, out string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && name == out {
			return err
		}
		rel, err := filepath.Rel(out, name)
		if err != nil {
			return err
		}
		if rel = filepath.ToSlash(rel); d.IsDir() {
			files[rel+"/"] = "a directory"
			return nil
		}
		data, err := os.ReadFile(name)
		files[rel] = alike(rel, data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return files
}

// alike returns what is equal in a file of two equal datasets.
func alike(name string, data []byte) string {
	switch name {
	case "manifest.json":
		return created.ReplaceAllString(string(data), `"created": ""`)
	case ".ffconvert/journal", ".ffconvert/lock": // times, an order of lines; who held it last
		return "a file"
	}
	return string(data)
}

// difference says where two outputs differ.
func difference(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name, data := range want {
		if other, ok := got[name]; !ok {
			t.Errorf("%s is not there", name)
		} else if other != data {
			t.Errorf("%s differs: %d bytes; on one machine %d", name, len(other), len(data))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is there; on one machine it is not", name)
		}
	}
}
