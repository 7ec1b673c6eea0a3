// Package thumb makes small pictures of large ones, a few at a time.
//
//	m := thumb.New(thumb.Options{})
//	small, contentType, err := m.Make(ctx, func() ([]byte, error) { return field, nil })
//
// Pictures come from anywhere. What decoding takes is computed from the head of a picture, compared with a limit, and taken from a budget of
// all decoders before anything is decoded: a picture over the limit is an error with its dimensions. Nothing is kept: the browser does.
package thumb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// Options are limits. 0 is the default of each.
type Options struct {
	Size     int   // pixels of the longer side of a thumbnail, 192; smaller pictures stay as they are
	Pixels   int64 // of a picture, [picture.DefaultMaxPixels]
	Bytes    int64 // of memory that all decoders may take together, and so one picture, 256 MiB
	Pictures int   // loaded at once, 4; together their files take at most half of Bytes
}

const quality = 80 // of JPEG

// errNoPicture is the error of data that is not a JPEG, PNG, GIF or WebP.
var errNoPicture = errors.New("not a JPEG, PNG, GIF or WebP")

// A Maker makes thumbnails. It may be used by several goroutines.
type Maker struct {
	opts   Options
	loaded *semaphore.Weighted
	memory *semaphore.Weighted
	png    png.Encoder
}

// New returns a maker.
func New(opts Options) *Maker {
	opts = Options{
		Size:     cmp.Or(opts.Size, 192),
		Pixels:   cmp.Or(opts.Pixels, picture.DefaultMaxPixels),
		Bytes:    cmp.Or(opts.Bytes, 256<<20),
		Pictures: cmp.Or(opts.Pictures, 4),
	}
	return &Maker{opts: opts, loaded: semaphore.NewWeighted(int64(opts.Pictures)), memory: semaphore.NewWeighted(opts.Bytes),
		png: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(buffers)}}
}

// Make returns the thumbnail of the picture that load returns, and its content type. load is called when its turn has come.
func (m *Maker) Make(ctx context.Context, load func() ([]byte, error)) (small []byte, contentType string, err error) {
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
	head, err := picture.ReadFirst(data, m.opts.Pixels)
	if err != nil {
		return nil, "", err
	}
	if most := m.opts.Bytes / int64(2*m.opts.Pictures); int64(len(data)) > most {
		return nil, "", fmt.Errorf("%w: %d × %d pixels in a file of %d MiB, and %d MiB are allowed", picture.ErrUnchecked, head.Width, head.Height, len(data)>>20, most>>20)
	}
	need, turn, err := cost(head, data)
	if err != nil {
		return nil, "", err
	}
	if need > m.opts.Bytes {
		return nil, "", fmt.Errorf("%w: %d × %d pixels take %d MiB to decode, and %d MiB are allowed", picture.ErrPixels, head.Width, head.Height, need>>20, m.opts.Bytes>>20)
	}
	if err := m.memory.Acquire(ctx, need); err != nil {
		return nil, "", err
	}
	defer m.memory.Release(need)
	full, err := head.First(data)
	if err != nil {
		return nil, "", err
	}
	return m.encode(turn.apply(shrink(full, m.opts.Size)))
}

// exact is how many pixels of a thumbnail are kept without loss: the digits of MNIST have 784.
const exact = 64 * 64

func (m *Maker) encode(p picture.RGB) (data []byte, contentType string, err error) {
	var b bytes.Buffer
	if p.Width*p.Height <= exact {
		err = m.png.Encode(&b, rgba(p))
		return b.Bytes(), "image/png", err
	}
	err = jpeg.Encode(&b, rgba(p), &jpeg.Options{Quality: quality})
	return b.Bytes(), "image/jpeg", err
}

// buffers keep what an encoder of PNG allocates, a megabyte, for the next one.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.pool.Get().(*png.EncoderBuffer)
	return e
}

func (b *buffers) Put(e *png.EncoderBuffer) { b.pool.Put(e) }
