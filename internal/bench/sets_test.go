//go:build bench && linux

package bench

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A member is one file of every sample.
type member struct {
	suffix string
	size   int
}

// photos is the set that stands for real ones: samples of 100 KB in three members.
var photos = sync.OnceValues(func() (string, error) {
	members := []member{{"jpg", 99_500}, {"cls", 4}, {"json", 496}}
	return makeSet("photos", 10, photoSamples()/10, members)
})

func photoSamples() int64 { return volume / 10 / (99_500 + 5*512 + 512 + 512) * 10 }

// smalls is samples that cost more than their bytes: 240,000 of 300 bytes, at 2 GiB.
var smalls = func() (string, error) { return smallsOf(smallSamples()) }

func smallSamples() int64 { return volume * 240_000 / (2 << 30) / 16 * 16 }

// crumbs is the set that is nothing but samples: a million of 100 bytes, at 2 GiB.
var crumbs = sync.OnceValues(func() (string, error) {
	return makeSet("crumbs", 10, crumbSamples()/10, []member{{"bin", 100}})
})

func crumbSamples() int64 { return volume * 1_000_000 / (2 << 30) / 10 * 10 }

// setOf returns the directory of a set, which is made when it is first asked for.
func setOf(t *testing.T, set func() (string, error)) string {
	t.Helper()
	dir, err := set()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// makeSet writes the tars of a set, of so many samples each, and syncs them.
func makeSet(name string, tars, samples int64, members []member) (string, error) {
	dir := filepath.Join(work, name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	noise := rand.NewChaCha8([32]byte{1})
	for i := range tars {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("shard-%03d.tar", i)))
		if err != nil {
			return "", err
		}
		if err := writeTar(f, noise, i*samples, samples, members); err != nil {
			return "", fmt.Errorf("write %s: %w", f.Name(), err)
		}
	}
	return dir, nil
}

func writeTar(f *os.File, noise io.Reader, first, samples int64, members []member) error {
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	w := tar.NewWriter(out)
	for s := first; s < first+samples; s++ {
		for _, m := range members {
			h := &tar.Header{Name: fmt.Sprintf("%09d.%s", s, m.suffix), Mode: 0o644, Size: int64(m.size), ModTime: time.Unix(1e9, 0)}
			if err := w.WriteHeader(h); err != nil {
				return err
			}
			if _, err := io.CopyN(w, noise, h.Size); err != nil {
				return err
			}
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Sync()
}

// multiply gives the tars of a set so many names each: a larger input on the same room.
func multiply(t *testing.T, set string, times int) string {
	t.Helper()
	dir := fmt.Sprintf("%s-x%d", set, times)
	if times == 1 {
		return set
	}
	if err := os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrExist) {
		return dir
	} else if err != nil {
		t.Fatal(err)
	}
	for _, f := range glob(t, set, "*.tar") {
		for i := range times {
			if err := os.Link(f, filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(f)))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// copies gives the tars of a set so many copies each: a larger input that no page cache shares.
func copies(t *testing.T, set string, times int) string {
	t.Helper()
	dir := fmt.Sprintf("%s-copies", set)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range glob(t, set, "*.tar") {
		for i := range times {
			execute(t, "cp", "--reflink=never", f, filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(f))))
		}
	}
	settle(t)
	return dir
}
