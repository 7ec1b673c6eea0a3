package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/internal/picture"
)

const thumbSize = 192 // pixels of the longer side; smaller pictures are not scaled

const quality = 80 // of JPEG

// errNoPicture is the error of data that is not a JPEG, PNG, GIF or WebP.
var errNoPicture = errors.New("not a JPEG, PNG, GIF or WebP")

// Thumbs makes thumbnails of untrusted pictures, a few at a time. It computes the memory for decoding from the head of
// a picture and reserves it before decoding: a picture that needs more than the limit is an error with its dimensions.
// It does not cache: browsers do. Thumbs may be used concurrently.
type Thumbs struct {
	bytes    int64
	pictures int
	loaded   *semaphore.Weighted
	memory   *semaphore.Weighted
	png      png.Encoder
}

// NewThumbs returns a Thumbs. bytes limits the memory of all decoders together, and so of one picture; pictures is how
// many are loaded at a time: their files take at most half of bytes.
func NewThumbs(bytes int64, pictures int) *Thumbs {
	return &Thumbs{bytes: bytes, pictures: pictures, loaded: semaphore.NewWeighted(int64(pictures)), memory: semaphore.NewWeighted(bytes),
		png: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(buffers)}}
}

// Make returns the thumbnail of the picture from load, and its content type. It calls load once memory is available.
func (m *Thumbs) Make(ctx context.Context, load func() ([]byte, error)) (small []byte, contentType string, err error) {
	if err := m.loaded.Acquire(ctx, 1); err != nil {
		return nil, "", err
	}
	defer m.loaded.Release(1)
	data, err := load()
	if err != nil {
		return nil, "", err
	}
	if picture.Of(data) == nil {
		return nil, "", errNoPicture
	}
	head, err := picture.ReadFirst(data, picture.DefaultMaxPixels)
	if err != nil {
		return nil, "", err
	}
	if most := m.bytes / int64(2*m.pictures); int64(len(data)) > most {
		return nil, "", fmt.Errorf("%w: %d × %d pixels in a file of %d MiB, and %d MiB are allowed", picture.ErrUnchecked, head.Width, head.Height, len(data)>>20, most>>20)
	}
	need, turn, err := cost(head, data)
	if err != nil {
		return nil, "", err
	}
	if need > m.bytes {
		return nil, "", fmt.Errorf("%w: %d × %d pixels take %d MiB to decode, and %d MiB are allowed", picture.ErrPixels, head.Width, head.Height, need>>20, m.bytes>>20)
	}
	if err := m.memory.Acquire(ctx, need); err != nil {
		return nil, "", err
	}
	defer m.memory.Release(need)
	full, err := head.First(data)
	if err != nil {
		return nil, "", err
	}
	return m.encode(turn.apply(shrink(full, thumbSize)))
}

// exact is up to how many pixels a thumbnail is stored without loss: the digits of MNIST have 784.
const exact = 64 * 64

func (m *Thumbs) encode(p picture.RGB) (data []byte, contentType string, err error) {
	var b bytes.Buffer
	if p.Width*p.Height <= exact {
		err = m.png.Encode(&b, rgba(p))
		return b.Bytes(), "image/png", err
	}
	err = jpeg.Encode(&b, rgba(p), &jpeg.Options{Quality: quality})
	return b.Bytes(), "image/jpeg", err
}

// buffers reuse the memory of PNG encoders, a megabyte each.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.pool.Get().(*png.EncoderBuffer)
	return e
}

func (b *buffers) Put(e *png.EncoderBuffer) { b.pool.Put(e) }
