package faults

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// A member is one file of a tar.
type member struct {
	name string
	data []byte
}

// writeTar writes a tar. Its time is fixed, so that the same members give the same bytes.
func writeTar(path string, members []member) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := tar.NewWriter(f)
	for _, m := range members {
		head := tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data)), ModTime: time.Unix(1e9, 0), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(&head); err != nil {
			return err
		}
		if _, err := w.Write(m.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// writeSources writes the dataset of the rows that need no other.
func writeSources(dir string) ([]string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	var paths []string
	for i := range 3 {
		var members []member
		for j := range 40 {
			key := fmt.Sprintf("s%d/%04d", i, j)
			members = append(members,
				member{key + ".jpg", noise(rng, 3<<10+rng.IntN(37<<10))},
				member{key + ".cls", fmt.Appendf(nil, "%d", rng.IntN(10))})
		}
		path := filepath.Join(dir, fmt.Sprintf("shards-%03d.tar", i))
		if err := writeTar(path, members); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// compress writes a gzip of each file into a directory.
func compress(dir string, files []string) ([]string, error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Close()
		path := filepath.Join(dir, filepath.Base(name)+".gz")
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func noise(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
