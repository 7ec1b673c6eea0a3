package tfrecord

import (
	"io"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// turn turns the window to an offset of a part, which is open as f; with Options.Continued the window has all parts after
// it, too.
func (s *scanner) turn(part int, f converters.File, off int64, sizes scan.Sizes) {
	parts := s.src.Parts()[part:]
	if !s.opts.Continued {
		s.Reset(f, parts[0].Size, off, sizes)
		return
	}
	size := int64(0)
	for i := range parts {
		size += parts[i].Size
	}
	s.joined = joined{open: s.src.open, parts: parts, files: []converters.File{f}}
	s.Reset(&s.joined, size, off, sizes)
}

// start returns the offset in a part of the first record that begins in it; that is beyond the part if none does.
func (s *source) start(part int) (int64, error) {
	if s.starts == nil {
		return 0, nil
	}
	for i := range part { // one after another, since each asks for the one before it
		if _, err := s.starts[i](); err != nil {
			return 0, err
		}
	}
	return s.starts[part]()
}

// chain prepares starts. Each is computed once, from the one of the part before.
func (s *source) chain() {
	s.starts = make([]func() (int64, error), len(s.Parts()))
	for i := range s.starts {
		s.starts[i] = sync.OnceValues(func() (int64, error) {
			if i == 0 {
				return 0, nil
			}
			start, err := s.starts[i-1]()
			if err != nil {
				return 0, err
			}
			return s.overhang(i-1, start)
		})
	}
}

// overhang returns by how many bytes the last record that begins in a part extends beyond the part. It reads heads.
func (s *source) overhang(part int, start int64) (int64, error) {
	p := s.Parts()[part]
	if start >= p.Size {
		return start - p.Size, nil
	}
	first, err := s.open(p, converters.Cached)
	if err != nil {
		return 0, err
	}
	defer first.Close()
	sc := s.scanner()
	sc.part = p.Name
	sc.turn(part, first, start, (&scan.Pass{Index: true}).Sizes())
	defer sc.End()
	for sc.Offset() < p.Size {
		sc.start = sc.Offset()
		n, err := sc.head()
		if err != nil {
			return 0, err
		}
		sc.Skip(n + int64(s.form.Trailer))
		sc.ordinal++
	}
	return sc.Offset() - p.Size, nil
}

// A joined file has the bytes of parts that follow one another. All but the first are opened when they are read.
type joined struct {
	open  scan.Opener
	parts []converters.Part
	files []converters.File // of parts; shorter, or nil: not open
}

func (j *joined) ReadAt(b []byte, off int64) (n int, err error) {
	for i, p := range j.parts {
		if off >= p.Size {
			off -= p.Size
			continue
		}
		f, err := j.file(i)
		if err != nil {
			return n, err
		}
		m, err := f.ReadAt(b[n:min(int64(len(b)), int64(n)+p.Size-off)], off)
		if n += m; n == len(b) {
			return n, nil
		}
		if off += int64(m); off < p.Size {
			return n, err
		}
		off = 0
	}
	return n, io.EOF
}

func (j *joined) file(i int) (converters.File, error) {
	for len(j.files) <= i {
		j.files = append(j.files, nil)
	}
	if j.files[i] == nil {
		f, err := j.open(j.parts[i], converters.Cached)
		if err != nil {
			return nil, err
		}
		j.files[i] = f
	}
	return j.files[i], nil
}

// closeOthers closes the files that ReadAt has opened.
func (j *joined) closeOthers() {
	for _, f := range j.files[min(1, len(j.files)):] {
		if f != nil {
			f.Close()
		}
	}
	j.files = nil
}
