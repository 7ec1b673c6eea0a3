// Package thumb makes small pictures of large ones, a few at a time.
//
//	m := thumb.New(thumb.Options{})
//	data, contentType, err := m.Get(ctx, "0/17/3", func() ([]byte, error) { return field, nil })
//
// Pictures come from anywhere. What decoding takes is computed from the head of a picture, compared with a limit, and taken from a budget of
// all decoders before anything is decoded: a picture over the limit is an error with its dimensions. What was made, errors too, stays in a
// cache of limited size.
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
	"golang.org/x/sync/singleflight"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// Options are limits. 0 is the default of each.
type Options struct {
	Size     int   // pixels of the longer side of a thumbnail, 192; smaller pictures stay as they are
	Pixels   int64 // of a picture, [picture.DefaultMaxPixels]
	Bytes    int64 // of memory that all decoders may take together, and so one picture, 256 MiB
	Cache    int64 // bytes of thumbnails that are kept, 32 MiB
	Pictures int   // loaded at once, 4; together their files take at most half of Bytes
}

const quality = 80 // of JPEG

// ErrNoPicture is the error of data that is not a JPEG, PNG, GIF or WebP.
var ErrNoPicture = errors.New("not a JPEG, PNG, GIF or WebP")

// A Maker makes thumbnails. It may be used by several goroutines.
type Maker struct {
	opts   Options
	loaded *semaphore.Weighted
	memory *semaphore.Weighted
	group  singleflight.Group
	cache  *cache
	png    png.Encoder
}

// New returns a maker.
func New(opts Options) *Maker {
	opts = Options{
		Size:     cmp.Or(opts.Size, 192),
		Pixels:   cmp.Or(opts.Pixels, picture.DefaultMaxPixels),
		Bytes:    cmp.Or(opts.Bytes, 256<<20),
		Cache:    cmp.Or(opts.Cache, 32<<20),
		Pictures: cmp.Or(opts.Pictures, 4),
	}
	return &Maker{opts: opts, loaded: semaphore.NewWeighted(int64(opts.Pictures)), memory: semaphore.NewWeighted(opts.Bytes), cache: newCache(opts.Cache),
		png: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: new(buffers)}}
}

// A small is a thumbnail, or the reason that there is none.
type small struct {
	data []byte
	kind string // content type
	err  error
}

// Get returns the thumbnail of the picture that id names, and its content type. load returns the picture; it is called unless the thumbnail is
// there already or being made. Errors of load are returned, and not kept. The thumbnail must not be changed.
func (m *Maker) Get(ctx context.Context, id string, load func() ([]byte, error)) (data []byte, contentType string, err error) {
	for {
		if s, ok := m.cache.get(id); ok {
			return s.data, s.kind, s.err
		}
		mine := false
		made, err, _ := m.group.Do(id, func() (any, error) {
			mine = true
			return m.load(ctx, id, load)
		})
		if err == nil {
			s := made.(small)
			return s.data, s.kind, s.err
		}
		if err := ctx.Err(); err != nil || mine {
			return nil, "", cmp.Or(err, made.(small).err)
		}
		// The caller that made it has failed, perhaps because its context has ended.
	}
}

// load makes a thumbnail and keeps it. An error means that another try may do better.
func (m *Maker) load(ctx context.Context, id string, load func() ([]byte, error)) (small, error) {
	if s, ok := m.cache.get(id); ok { // another caller made it after this one had looked
		return s, nil
	}
	if err := m.loaded.Acquire(ctx, 1); err != nil {
		return small{err: err}, err
	}
	defer m.loaded.Release(1)
	data, err := load()
	if err != nil {
		return small{err: err}, err
	}
	s, err := m.decode(ctx, data)
	if err != nil {
		return small{err: err}, err
	}
	m.cache.put(id, s)
	return s, nil
}

// decode makes a thumbnail. Its error is that of ctx; what is wrong with the picture is in the result.
func (m *Maker) decode(ctx context.Context, data []byte) (small, error) {
	if picture.Of(data) == nil {
		return small{err: ErrNoPicture}, nil
	}
	head, err := picture.ReadFirst(data, m.opts.Pixels)
	if err != nil {
		return small{err: err}, nil
	}
	if most := m.opts.Bytes / int64(2*m.opts.Pictures); int64(len(data)) > most {
		return small{err: fmt.Errorf("%w: %d × %d pixels in a file of %d MiB, and %d MiB are allowed", picture.ErrUnchecked, head.Width, head.Height, len(data)>>20, most>>20)}, nil
	}
	need, turn, err := cost(head, data)
	if err != nil {
		return small{err: err}, nil
	}
	if need > m.opts.Bytes {
		return small{err: fmt.Errorf("%w: %d × %d pixels take %d MiB to decode, and %d MiB are allowed", picture.ErrPixels, head.Width, head.Height, need>>20, m.opts.Bytes>>20)}, nil
	}
	if err := m.memory.Acquire(ctx, need); err != nil {
		return small{}, err
	}
	defer m.memory.Release(need)
	full, err := head.First(data)
	if err != nil {
		return small{err: err}, nil
	}
	return m.encode(turn.apply(shrink(full, m.opts.Size))), nil
}

// exact is how many pixels of a thumbnail are kept without loss: the digits of MNIST have 784.
const exact = 64 * 64

func (m *Maker) encode(p picture.RGB) small {
	var b bytes.Buffer
	var err error
	kind := "image/jpeg"
	if p.Width*p.Height <= exact {
		kind, err = "image/png", m.png.Encode(&b, rgba(p))
	} else {
		err = jpeg.Encode(&b, rgba(p), &jpeg.Options{Quality: quality})
	}
	if err != nil {
		return small{err: err}
	}
	return small{data: bytes.Clone(b.Bytes()), kind: kind}
}

// buffers keep what an encoder of PNG allocates, a megabyte, for the next one.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() *png.EncoderBuffer {
	e, _ := b.pool.Get().(*png.EncoderBuffer)
	return e
}

func (b *buffers) Put(e *png.EncoderBuffer) { b.pool.Put(e) }
