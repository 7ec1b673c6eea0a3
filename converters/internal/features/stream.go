package features

import (
	"io"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// openPart opens a part, or with Options.Continued the part and all after it, and returns the number of bytes.
func (s *Source) openPart(part int, how converters.Access) (converters.File, int64, error) {
	f, err := s.open(s.parts[part], how)
	if err != nil || !s.opts.Continued {
		return f, s.parts[part].Size, err
	}
	size := int64(0)
	for _, p := range s.parts[part:] {
		size += p.Size
	}
	return &joined{src: s, first: part, files: []converters.File{f}}, size, nil
}

// start returns the offset in a part of the first record that begins in it; that is beyond the part if none does.
func (s *Source) start(part int) (int64, error) {
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
func (s *Source) chain() {
	s.starts = make([]func() (int64, error), len(s.parts))
	for i := range s.parts {
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
func (s *Source) overhang(part int, start int64) (int64, error) {
	p := s.parts[part]
	if start >= p.Size {
		return start - p.Size, nil
	}
	f, size, err := s.openPart(part, converters.ForIndex)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var sc scanner
	sc.indexing(s, f, p, size, start)
	for sc.Offset() < p.Size {
		sc.ordinal++
		sc.start = sc.Offset()
		n, err := sc.head()
		if err != nil {
			return 0, err
		}
		sc.Skip(n + int64(s.form.Trailer))
	}
	return sc.Offset() - p.Size, nil
}

// A joined file has the bytes of a part and of all parts after it, which are opened when they are read.
type joined struct {
	src   *Source
	first int
	files []converters.File // from part first on; nil: not open
}

func (j *joined) ReadAt(b []byte, off int64) (n int, err error) {
	for i, p := range j.src.parts[j.first:] {
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
		f, err := j.src.open(j.src.parts[j.first+i], converters.Access{})
		if err != nil {
			return nil, err
		}
		j.files[i] = f
	}
	return j.files[i], nil
}

// Close closes the files that are open.
func (j *joined) Close() (err error) {
	for _, f := range j.files {
		if f == nil {
			continue
		}
		if e := f.Close(); err == nil {
			err = e
		}
	}
	return err
}
