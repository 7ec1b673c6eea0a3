package folder

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/text"
)

func (p *listPart) fail(path string, err error) error {
	return &converters.Error{Where: p.name, Off: -1, Entry: path, Err: bare(err)}
}

// stat sets sizes, times and offsets. Later calls do nothing.
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
				return &converters.Error{Where: p.name, Off: -1, Entry: f.path, Err: fmt.Errorf("%w: its sample has more than %s", converters.ErrLimit, text.Count(most, "byte")), Hint: "option max-sample-size"}
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

// newest returns the modification time of the newest file of the sample.
func (s *listedSample) newest() time.Time {
	newest := int64(0)
	for i := range s.files {
		newest = max(newest, s.files[i].mtime)
	}
	return time.Unix(0, newest)
}

// A listReader reads the samples of one part in turn.
type listReader struct {
	of    *list
	part  *listPart
	run   converters.Run
	load  func(field string) bool
	index bool
	next  int64 // next sample
	spans [1]converters.Span
	s     converters.Sample
	buf   []byte
}

// Begin calls stat for the files of the part, once.
func (r *listReader) Begin(ctx context.Context, p *scan.Pass) error {
	r.part, r.run, r.index, r.next = r.of.each[p.Run.Part], p.Run, p.Index, p.Run.First
	if err := r.part.stat(ctx, r.of.opts.MaxSample); err != nil {
		return err
	}
	if r.load = r.of.opts.Load; p.Index {
		return nil
	}
	r.load = func(string) bool { return true }
	if n := int64(len(r.part.samples)); r.next < 0 || r.next >= n || r.part.samples[r.next].off != p.Run.Off {
		return r.part.fail("", fmt.Errorf("%w: no sample %d at offset %d", converters.ErrChanged, r.next, p.Run.Off))
	}
	return nil
}

// Offset returns -1: errors name a file instead.
func (r *listReader) Offset() int64 { return -1 }

// End does nothing: no file is open.
func (r *listReader) End() {}

// Next returns the next sample. An index reads only the files that Options.Load selects. A file that has changed since
// the first pass over its part is an error.
func (r *listReader) Next(context.Context, int64) ([]converters.Span, error) {
	if n := int64(len(r.part.samples)); r.next == n && r.index {
		return nil, nil
	} else if r.next == n {
		return nil, r.part.fail("", fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, n, r.run.Count, r.run.First))
	}
	of := &r.part.samples[r.next]
	if err := r.sample(of); err != nil {
		return nil, err
	}
	r.next++
	r.spans[0] = converters.Span{Off: of.off, Entries: len(of.files), Shape: &r.s, ModTime: of.newest()}
	return r.spans[:], nil
}

// sample sets r.s, with the bytes of the fields for which r.load is true.
func (r *listReader) sample(of *listedSample) error {
	size := int64(0)
	for i := range of.files {
		size += of.files[i].size // at most Options.MaxSample, checked by stat
	}
	if int64(cap(r.buf)) < size {
		r.buf = make([]byte, size)
	}
	b := r.buf[:size]
	r.s = converters.Sample{Key: of.key, Off: of.off, Fields: r.s.Fields[:0]}
	for i := range of.files {
		f := &of.files[i]
		v := converters.Opaque(f.size)
		if r.load != nil && r.load(f.field) {
			if err := f.read(b[:f.size]); err != nil {
				return r.part.fail(f.path, err)
			}
			v = converters.Bytes(b[:f.size:f.size])
		}
		b = b[f.size:]
		r.s.Fields = append(r.s.Fields, converters.Field{Name: f.field, Value: v})
	}
	return nil
}

// read reads a file into b. It is an error if its size or time differ from stat's, before or after.
func (f *listedFile) read(b []byte) error {
	if f.path == "" {
		copy(b, f.text)
		return nil
	}
	in, err := files.Open(f.path)
	if err != nil {
		return err
	}
	return readUnchanged(in, f.mtime, b)
}
