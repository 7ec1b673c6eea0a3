package aio_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

// openers open a file as a conversion does.
func openers() map[string]func(f *os.File) *aio.Stream {
	return map[string]func(*os.File) *aio.Stream{
		"stream":      func(f *os.File) *aio.Stream { return aio.OpenStream(f, 0) },
		"run of 5 MB": func(f *os.File) *aio.Stream { return aio.OpenStream(f, 5_000_000) },
		"run of 5 kB": func(f *os.File) *aio.Stream { return aio.OpenStream(f, 5000) },
	}
}

func openOS(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// checkReads reads a file in order, with gaps, and after jumps.
func checkReads(f io.ReaderAt, data []byte, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 1))
	size, room := int64(len(data)), make([]byte, 1<<20) // new memory for each read costs much under the race detector
	for off, n := int64(0), 0; n < 300; n++ {
		switch rng.IntN(30) {
		case 0:
			off = rng.Int64N(size + 5000)
		case 1, 2:
			off += rng.Int64N(1 << 20)
		}
		b := room[:1+rng.IntN(1<<rng.IntN(21))]
		clear(b)
		got, err := f.ReadAt(b, off)
		want := data[min(off, size):min(off+int64(len(b)), size)]
		if !bytes.Equal(b[:got], want) {
			return fmt.Errorf("read %d of %d bytes at %d, or they differ: %w", got, len(want), off, err)
		}
		if wantErr := got < len(b); wantErr != (err != nil) || wantErr && err != io.EOF {
			return fmt.Errorf("read %d of %d bytes at %d: error %w", got, len(b), off, err)
		}
		if off += int64(got); off >= size {
			off = 0
		}
	}
	return nil
}

// The bytes are those of the file, whether all of it lies in the page cache, nothing, or a part.
func TestStream(t *testing.T) {
	t.Parallel()
	for kind, openFile := range openers() {
		for _, size := range []int{0, 1, 4096, 1<<20 + 7, 20<<20 + 513} {
			for _, cached := range []string{"all", "none", "part"} {
				t.Run(fmt.Sprint(kind, "/", size, "/", cached), func(t *testing.T) {
					t.Parallel()
					data := noise(size)
					path := writeFile(t, data)
					if cached != "all" {
						cool(t, path)
					}
					f := openOS(t, path)
					if cached == "part" {
						for off := 0; off < size; off += 3 << 20 {
							f.ReadAt(make([]byte, 1<<20), int64(off))
						}
					}
					s := openFile(f)
					if err := checkReads(s, data, uint64(size)); err != nil {
						t.Error(err)
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
					if err := f.Close(); !errors.Is(err, os.ErrClosed) {
						t.Errorf("the file is still open: %v", err)
					}
				})
			}
		}
	}
}

// More files than may read ahead are read, at the same time.
func TestStreamMany(t *testing.T) {
	t.Parallel()
	data := noise(3 << 20)
	path := writeFile(t, data)
	cool(t, path)
	for _, openFile := range openers() {
		var reading sync.WaitGroup
		for i := range uint64(20) {
			s := openFile(openOS(t, path))
			reading.Go(func() {
				if err := errors.Join(checkReads(s, data, i), s.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		reading.Wait()
	}
}

// A file that another one replaces while it is open is read to its end.
func TestStreamReplaced(t *testing.T) {
	t.Parallel()
	data := noise(3 << 20)
	for _, openFile := range openers() {
		path := writeFile(t, data)
		cool(t, path)
		f := openOS(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, len(data)), 0o600); err != nil {
			t.Fatal(err)
		}
		s := openFile(f)
		if err := errors.Join(checkReads(s, data, 3), s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// A file that becomes shorter ends where it ends.
func TestStreamTruncated(t *testing.T) {
	t.Parallel()
	for kind, openFile := range openers() {
		data := noise(3 << 20)
		path := writeFile(t, data)
		cool(t, path)
		s := openFile(openOS(t, path))
		b := make([]byte, 1<<20)
		if n, err := s.ReadAt(b, 0); n != len(b) || err != nil {
			t.Fatal(n, err)
		}
		if err := os.Truncate(path, 2<<20-100); err != nil {
			t.Fatal(err)
		}
		b = make([]byte, 3<<20)
		if n, err := s.ReadAt(b, 1<<20); err == nil || !bytes.Equal(b[:min(n, 1<<20-100)], data[1<<20:][:min(n, 1<<20-100)]) {
			t.Errorf("%s: %d bytes, error %v", kind, n, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
