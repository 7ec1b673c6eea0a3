package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// lie gives a JPEG another size.
func lie(data []byte, width, height int) []byte {
	data = bytes.Clone(data)
	for _, marker := range []byte{0xc0, 0xc1, 0xc2} {
		if at := bytes.Index(data, []byte{0xff, marker, 0}); at >= 0 {
			binary.BigEndian.PutUint16(data[at+5:], uint16(height))
			binary.BigEndian.PutUint16(data[at+7:], uint16(width))
			return data
		}
	}
	panic("no frame")
}

// It is not parallel: memory is counted. What decoding and shrinking allocate is no more than what cost has said, whatever the form, and so if the picture
// is cut or its size is a lie: then all is allocated before the end is met.
func TestCost(t *testing.T) {
	rgba := picturetest.PNG(plain(1500, 1000))
	deep := image.NewNRGBA64(image.Rect(0, 0, 1500, 1000))
	deep.SetNRGBA64(0, 0, color.NRGBA64{A: 0x7fff})
	interlaced := bytes.Clone(file(t, "interlaced.png"))
	for name, data := range map[string][]byte{
		"PNG":              rgba,
		"PNG, alpha":       picturetest.PNG(image.NewNRGBA(image.Rect(0, 0, 1500, 1000))),
		"PNG, 16 bits":     picturetest.PNG(deep),
		"PNG, grey":        picturetest.PNG(image.NewGray(image.Rect(0, 0, 1500, 1000))),
		"PNG, interlaced":  interlaced,
		"PNG, wide":        picturetest.PNG(plain(60_000, 20)),
		"JPEG":             picturetest.JPEG(plain(1500, 1000)),
		"JPEG, grey":       picturetest.JPEG(image.NewGray(image.Rect(0, 0, 1500, 1000))),
		"JPEG, thin":       picturetest.JPEG(plain(1, 30_000)),
		"JPEG, CMYK":       lie(file(t, "cmyk.jpeg"), 1500, 1000),
		"JPEG, RGB":        lie(file(t, "rgb.jpeg"), 1500, 1000),
		"progressive, 420": lie(file(t, "progressive-420.jpeg"), 1500, 1000),
		"progressive, 444": lie(file(t, "progressive-444.jpeg"), 1500, 1000),
		"baseline, 411":    lie(file(t, "baseline-411.jpeg"), 1500, 1000),
		"GIF":              picturetest.GIF(2000),
		"WebP":             file(t, "lossless.webp"),
		"WebP, lossy":      file(t, "lossy.webp"),
	} {
		head, err := picture.ReadFirst(data, 1<<40)
		if err != nil {
			t.Fatal(name, err)
		}
		need, turn, err := cost(head, data)
		if err != nil {
			t.Fatal(name, err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if full, err := head.First(data); err == nil {
			turn.apply(shrink(full, 192))
		}
		runtime.ReadMemStats(&after)
		took := int64(after.TotalAlloc - before.TotalAlloc)
		t.Logf("%s: %d × %d, %d KiB of %d KiB", name, head.Width, head.Height, took>>10, need>>10)
		if took > need {
			t.Errorf("%s: %d bytes were allocated, and %d counted", name, took, need)
		}
		if head.Width*head.Height > 1e6 && took < need/5 {
			t.Errorf("%s: %d bytes were allocated, and no fewer than %d counted", name, took, need)
		}
	}
}

// A picture waits until others have given back the memory that it takes; one that is no longer wanted does not wait on.
func TestBudget(t *testing.T) {
	t.Parallel()
	m := NewThumbs(4<<20, 4)
	if err := m.memory.Acquire(t.Context(), 2<<20); err != nil {
		t.Fatal(err)
	}
	data := picturetest.PNG(plain(700, 700)) // 2.9 MiB
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	load := func() ([]byte, error) { return data, nil }
	if _, _, err := m.Make(ctx, load); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("without memory: %v", err)
	}
	time.AfterFunc(50*time.Millisecond, func() { m.memory.Release(2 << 20) })
	if _, _, err := m.Make(t.Context(), load); err != nil {
		t.Errorf("with memory: %v", err)
	}
	if !m.memory.TryAcquire(4<<20) || !m.loaded.TryAcquire(int64(m.pictures)) {
		t.Error("not all was given back")
	}
}

// No more pictures are loaded at once than Options say.
func TestPictures(t *testing.T) {
	t.Parallel()
	m := NewThumbs(usual, 3)
	var now, most atomic.Int64
	var wait sync.WaitGroup
	for range 40 {
		wait.Go(func() {
			m.Make(t.Context(), func() ([]byte, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				time.Sleep(2 * time.Millisecond)
				return nil, nil
			})
		})
	}
	if wait.Wait(); most.Load() != 3 {
		t.Errorf("%d at once", most.Load())
	}
}

// photo is a picture with some detail, as a JPEG of some 50 KB.
func photo(width, height int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	seed := uint32(1)
	for y := range height {
		for x := range width {
			seed = seed*1664525 + 1013904223
			n := uint8(seed>>28) * 2
			m.SetRGBA(x, y, color.RGBA{uint8(x/2) + n, uint8(y/2) + n, uint8((x+y)/4) + n, 255})
		}
	}
	return picturetest.JPEG(m)
}

func BenchmarkThumbnail(b *testing.B) {
	for _, size := range []image.Point{{500, 375}, {4000, 3000}} {
		b.Run(fmt.Sprintf("%dx%d", size.X, size.Y), func(b *testing.B) {
			data, m := photo(size.X, size.Y), NewThumbs(usual, 4)
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := m.Make(b.Context(), func() ([]byte, error) { return data, nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
