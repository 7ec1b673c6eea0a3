package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Index yields the samples of a part. It reads only the files that Options.Load asks for.
func (l *List) Index(ctx context.Context, part int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		p := l.each[part]
		if err := p.stat(ctx, l.opts.MaxSample); err != nil {
			yield(converters.Span{}, err)
			return
		}
		r := listReader{part: p}
		for i := range p.samples {
			s, err := r.sample(ctx, &p.samples[i], l.opts.Load)
			if err != nil {
				yield(converters.Span{}, err)
				return
			}
			if !yield(converters.Span{Off: s.Off, Entries: len(s.Fields), Shape: s, ModTime: p.samples[i].newest()}, nil) {
				return
			}
		}
	}
}

// Read yields the samples of a run. A file that has changed since the first Index or Read of its part is
// refused.
func (l *List) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		if err := l.read(ctx, run, func(s *converters.Sample) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

func (l *List) read(ctx context.Context, run converters.Run, yield func(*converters.Sample) bool) error {
	p := l.each[run.Part]
	if err := p.stat(ctx, l.opts.MaxSample); err != nil {
		return err
	}
	n := int64(len(p.samples))
	if run.First < 0 || run.First >= n || p.samples[run.First].off != run.Off {
		return p.fail("", fmt.Errorf("%w: no sample %d at offset %d", converters.ErrChanged, run.First, run.Off))
	}
	r := listReader{part: p}
	for i := run.First; i < min(n, run.First+run.Count); i++ {
		s, err := r.sample(ctx, &p.samples[i], func(string) bool { return true })
		if err != nil || !yield(s) {
			return err
		}
	}
	if run.First+run.Count > n {
		return p.fail("", fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, n, run.Count, run.First))
	}
	return nil
}

func (p *listPart) fail(path string, err error) error {
	return &converters.Error{Where: p.name, Off: -1, Entry: path, Err: bare(err)}
}

// stat sets sizes, times and offsets, the first time that it is called.
func (p *listPart) stat(ctx context.Context, most int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stated {
		return nil
	}
	off := int64(0)
	for i := range p.samples {
		if err := ctx.Err(); err != nil {
			return p.fail("", err)
		}
		s := &p.samples[i]
		s.off = off
		for j := range s.files {
			f := &s.files[j]
			if err := f.stat(); err != nil {
				return p.fail(f.path, err)
			}
			if off += f.size; off-s.off > most {
				return &converters.Error{Where: p.name, Off: -1, Entry: f.path, Err: fmt.Errorf("%w: its sample has more than %s", converters.ErrLimit, text.Count(most, "byte")), Hint: "Options.MaxSample"}
			}
		}
	}
	p.stated = true
	return nil
}

func (f *listedFile) stat() error {
	if f.path == "" {
		f.size = int64(len(f.text))
		return nil
	}
	st, err := os.Stat(f.path)
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%w: not a regular file", converters.ErrUnsupported)
	}
	if err == nil {
		f.size, f.mtime = st.Size(), st.ModTime().UnixNano()
	}
	return err
}

// newest returns the time of the newest file of the sample.
func (s *listedSample) newest() time.Time {
	newest := int64(0)
	for i := range s.files {
		newest = max(newest, s.files[i].mtime)
	}
	return time.Unix(0, newest)
}

// A listReader reads the samples of a part, one at a time.
type listReader struct {
	part *listPart
	s    converters.Sample
	buf  []byte
}

// sample returns a sample, with the bytes of the fields that load takes. It is valid until the next one.
func (r *listReader) sample(ctx context.Context, of *listedSample, load func(string) bool) (*converters.Sample, error) {
	if err := ctx.Err(); err != nil {
		return nil, r.part.fail("", err)
	}
	size := int64(0)
	for i := range of.files {
		size += of.files[i].size // at most Options.MaxSample, see stat
	}
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	b := r.buf[:size]
	r.s = converters.Sample{Key: of.key, Off: of.off, Fields: r.s.Fields[:0]}
	for i := range of.files {
		f := &of.files[i]
		v := converters.Opaque(f.size)
		if load != nil && load(f.field) {
			if err := f.read(b[:f.size]); err != nil {
				return nil, r.part.fail(f.path, err)
			}
			v = converters.Bytes(b[:f.size:f.size])
		}
		b = b[f.size:]
		r.s.Fields = append(r.s.Fields, converters.Field{Name: f.field, Value: v})
	}
	return &r.s, nil
}

// read reads a file into b. It is an error if size or time differ from stat, before or after.
func (f *listedFile) read(b []byte) error {
	if f.path == "" {
		copy(b, f.text)
		return nil
	}
	in, err := blocking.Open(f.path)
	if err != nil {
		return err
	}
	defer in.Close()
	was := entry{mtime: f.mtime}
	if err := unchanged(in, &was, len(b)); err != nil {
		return err
	}
	if _, err := io.ReadFull(in, b); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: it became shorter", converters.ErrChanged)
		}
		return err
	}
	return unchanged(in, &was, len(b))
}
