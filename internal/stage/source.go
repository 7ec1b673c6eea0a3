package stage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

const (
	copySize = 256 << 10 // bytes per read and per write, and between checks of the context

	// ratioGrace is the number of decompressed bytes before MaxRatio applies: a small
	// file of zeros is harmless.
	ratioGrace = 16 << 20
)

// open opens the source as it is, maybe compressed. The caller must call done.
func (j *job) open(ctx context.Context) (src *source, done func(), err error) {
	src = &source{ctx: ctx, progress: j.progress}
	if j.source.Once() {
		src.r, done, err = openOnce(ctx, j.source, j.opts)
		return src, done, err
	}
	f, err := files.Open(j.source.Path)
	if err != nil {
		return nil, nil, sourceError(j.source.Name, err)
	}
	src.r, src.f = f, f
	return src, func() { f.Close() }, nil
}

// openOnce opens standard input, or starts a command. The reader fails when ctx is done. The caller must call done, which
// stops the command.
func openOnce(ctx context.Context, n input.Name, opts Options) (r io.Reader, done func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, nil, err
	}
	if n.IsStdin() {
		r, done = opts.OpenStdin(ctx)
		return r, done, nil
	}
	p, err := start(n.Command, opts.grace, opts.Guarded, nil)
	if err != nil {
		return nil, nil, err
	}
	r, release := input.CancelableReader(ctx, p)
	return r, func() { release(); p.Stop() }, nil
}

// copy copies the decompressed bytes of src.
func (j *job) copy(src *source) error {
	in := bufio.NewReaderSize(src, copySize)
	if j.source.IsStdin() || j.source.Command != nil && j.source.Command.Sniff { // the output of other commands is not decompressed
		head, err := in.Peek(sniffLen)
		if err == nil || err == io.EOF {
			j.compression, err = sniff(head)
		}
		if err != nil {
			return j.placed(src, in, err)
		}
	}
	if err := j.decompress(src, in, j.lease); err != nil {
		return err
	}
	return j.complete(src)
}

func (j *job) decompress(src *source, in *bufio.Reader, out *cache.Lease) error {
	dec, err := decoder(j.compression, in, j.opts.MaxWindow)
	if err != nil {
		return j.placed(src, in, err)
	}
	defer dec.Close()
	maxRatio := j.opts.MaxRatio
	written := int64(0)
	buf := make([]byte, copySize)
	for {
		if err := context.Cause(src.ctx); err != nil {
			return err
		}
		n, err := dec.Read(buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				j.recordRatio(written+int64(n), src.n)
				return j.cacheError(err)
			}
			written += int64(n)
			if j.compression != "" && maxRatio > 0 && written > ratioGrace && written/maxRatio >= src.n {
				return &place.Error{Where: j.source.Name, Off: src.n, Hint: "raise option max-ratio if it is sound",
					Err: fmt.Errorf("%w: %d bytes have become %d; the limit is 1:%d", ErrRatio, src.n, written, maxRatio)}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return j.placed(src, in, err)
		}
	}
}

// complete returns an error unless the whole source was read and it has not changed since Find.
func (j *job) complete(src *source) error {
	if src.f == nil {
		return nil
	}
	fi, err := src.f.Stat()
	if err != nil {
		return place.IOError(j.source.Name, err)
	}
	if err := unchanged(j.source, fi); err != nil {
		return err
	}
	if fi, err = os.Stat(j.source.Path); err != nil {
		return sourceError(j.source.Name, err)
	}
	if err := unchanged(j.source, fi); err != nil {
		return err
	}
	if src.n != j.source.Size {
		return place.Refuse(j.source.Name, input.ErrChanged, "", "%d of %d bytes were read", src.n, j.source.Size)
	}
	return nil
}

// unchanged compares a file with the size and modification time that Find has recorded.
func unchanged(n input.Name, fi fs.FileInfo) error {
	switch {
	case fi.Size() != n.Size:
		return place.Refuse(n.Name, input.ErrChanged, "run again once nothing writes to it", "%d bytes have become %d", n.Size, fi.Size())
	case !fi.ModTime().Equal(n.ModTime):
		return place.Refuse(n.Name, input.ErrChanged, "run again once nothing writes to it",
			"modified at %s", fi.ModTime().UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// placed returns err with the offset in the source; or, if reading the source has caused it, the error of the source or
// the cause of the context.
func (j *job) placed(src *source, in *bufio.Reader, err error) error {
	if src.err != nil { // it has caused the error of the decoder
		if cause := context.Cause(src.ctx); cause != nil && errors.Is(src.err, cause) {
			return cause
		}
		if e, ok := errors.AsType[*place.Error](src.err); ok {
			return e // the error of a command
		}
		return place.IOError(j.source.Name, src.err)
	}
	off := src.n - int64(in.Buffered())
	if errors.Is(err, ErrTruncated) || errors.Is(err, ErrCompression) {
		return sniffError(j.source.Name, off, err, "the copy is incomplete: fetch it again")
	}
	hint, kind := decodeError(j.compression, j.opts.MaxWindow, err)
	return &place.Error{Where: j.source.Name, Off: off, Err: kind, Hint: hint}
}

// A source reads a named input. It counts and reports the bytes, and keeps its first error, which a decoder
// may replace. It fails when its context is done.
type source struct {
	ctx context.Context
	r   io.Reader
	f   *os.File // r, if it is a file; otherwise nil
	n   int64    // bytes read
	err error    // other than io.EOF

	progress func(n int64)
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.err = context.Cause(s.ctx); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	if n > 0 {
		s.n += int64(n)
		s.progress(int64(n))
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
