package direct

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/aio"
)

// aligned returns random bytes in memory that is aligned for direct writes.
func aligned(t *testing.T, size int) []byte {
	t.Helper()
	b, err := aio.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { aio.Free(b) })
	rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// writes has the bytes of each write to a file with a payload from byte 5,000 on: aligned blocks, the
// unaligned ends, and the bytes before the payload last.
var writes = [][2]int{{0, 12}, {5000, 8192}, {8192, 1 << 20}, {1 << 20, 1<<20 + 4096}, {1<<20 + 4096, 1<<20 + 5000}, {12, 4096}, {4096, 5000}, {0, 12}}

// A file that was written past the page cache and through it, its first bytes last, has all bytes.
func TestFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := aligned(t, 1<<20+5000)
	w := newFile(f)
	past := 0
	for _, span := range writes {
		if n, err := w.WriteAt(want[span[0]:span[1]], int64(span[0])); n != span[1]-span[0] || err != nil {
			t.Fatalf("bytes %v: %d, %v", span, n, err)
		}
		if w.direct {
			past++
		}
	}
	if past != 2 && !w.refused {
		t.Errorf("%d of the aligned writes went past the page cache, want 2", past)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file differs from what was written: %d bytes, error %v", len(got), err)
	}
}

// After a block in memory that is not aligned, everything is written through the page cache.
func TestFileMisaligned(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := aligned(t, 3*directAlign)
	w := newFile(f)
	want := append(bytes.Clone(data[1:directAlign+1]), data[directAlign:2*directAlign]...)
	for i, p := range [][]byte{data[1 : directAlign+1], data[directAlign : 2*directAlign]} {
		if n, err := w.WriteAt(p, int64(i)*directAlign); n != directAlign || err != nil {
			t.Fatal(n, err)
		}
	}
	if w.direct && !w.refused {
		t.Log("the file system takes any memory")
	}
	got, err := os.ReadFile(f.Name())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file differs from what was written: %d bytes, error %v", len(got), err)
	}
}

// A file that cannot have O_DIRECT is written through the page cache, and errors are returned.
func TestFileRefused(t *testing.T) {
	t.Parallel()
	fd, err := unix.MemfdCreate("file", 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "file")
	w := newFile(f)
	data := aligned(t, directAlign)
	if n, err := w.WriteAt(data, 0); n != directAlign || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteAt(data, 0); !errors.Is(err, os.ErrClosed) && !errors.Is(err, unix.EBADF) {
		t.Errorf("a closed file: %v", err)
	}
}

// BenchmarkFile writes and syncs 256 MiB, through the page cache and past it. sys-ms is the processor
// time in the kernel.
func BenchmarkFile(b *testing.B) {
	blocks, err := NewBlocks(1)
	if err != nil {
		b.Fatal(err)
	}
	defer blocks.Free()
	block := blocks.Empty[0][:blockSize]
	copy(block, bytes.Repeat([]byte("0123456789abcdef"), blockSize/16))
	const size = 256 << 20
	for name, wrap := range map[string]func(f *os.File) io.WriterAt{
		"page cache": func(f *os.File) io.WriterAt { return f },
		"direct":     func(f *os.File) io.WriterAt { return newFile(f) },
	} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "file")
			b.SetBytes(size)
			before := kernelTime(b)
			for b.Loop() {
				f, err := os.Create(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := Reserve(f, size); err != nil {
					b.Fatal(err)
				}
				w := wrap(f)
				for off := int64(0); off < size; off += blockSize {
					if _, err := w.WriteAt(block, off); err != nil {
						b.Fatal(err)
					}
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
			b.ReportMetric(float64(kernelTime(b)-before)/1e6/float64(b.N), "sys-ms/op")
		})
	}
}

// kernelTime returns the processor time that the kernel has used for this process.
func kernelTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Stime.Nano())
}
