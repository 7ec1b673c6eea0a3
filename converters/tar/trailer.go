package tar

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// Span.Skip of accepted defects.
const (
	acceptedTrailer   = "missing end of archive"
	acceptedAppended  = "appended archive"
	acceptedDuplicate = "key that came back"
	acceptedPath      = "field named __local_path__" // accepted without an option
)

// trailer reads the zeros after the last member, up to the end of the part or an appended archive, and appends the
// defects that are accepted there. last is false if another archive follows, at the window's position. Call it after
// next has returned false. GNU tar and Python pad the end to a multiple of 10,240 bytes, others write only two blocks.
// Like both readers, trailer accepts any number of zero blocks from two on.
func (w *members) trailer(o *Options, to []converters.Span) (_ []converters.Span, last bool, err error) {
	start := w.c.Offset()
	if start < w.c.Size {
		w.c.Skip(blockSize)
	}
	found, err := w.zeroTail()
	if err != nil {
		return to, false, err
	}
	more := found < w.c.Size
	next := found &^ (blockSize - 1) // the block with the first nonzero byte
	n := found - start
	if more {
		n = next - start
	}
	missing := n < 2*blockSize

	switch {
	case w.c.Size == 0:
		return to, false, w.fail(0, nil, fmt.Errorf("%w: the file is empty", converters.ErrTruncated), "")
	case more:
		header, err := w.headerAt(next)
		switch {
		case err != nil:
			return to, false, err
		case !header:
			return to, false, w.fail(found, nil, fmt.Errorf("%w: bytes other than zeros behind the end of the archive", converters.ErrMalformed), "")
		case !o.Concatenated:
			return to, false, w.fail(next, nil, fmt.Errorf("%w: another archive begins behind the end of this one", converters.ErrUnsupported), "option concatenated reads both")
		case missing && !o.AllowMissingTrailer:
			return to, false, w.fail(start, nil, fmt.Errorf("%w: a lone zero block, then another header", converters.ErrMalformed), "option allow-missing-trailer")
		}
	case missing && n%blockSize != 0: // the file is truncated; after two zero blocks only padding can be missing
		return to, false, w.fail(w.c.Size, nil, fmt.Errorf("%w: the file ends inside the end of the archive", converters.ErrTruncated), "")
	case missing && !o.AllowMissingTrailer:
		return to, false, w.fail(w.c.Size, nil, fmt.Errorf("%w: no two zero blocks end the archive", converters.ErrTruncated),
			"option allow-missing-trailer, if no member is missing")
	}
	if missing {
		to = append(to, converters.Span{Off: w.c.Offset(), Skip: acceptedTrailer, Accepted: true})
	}
	if more {
		to = append(to, converters.Span{Off: w.c.Offset(), Skip: acceptedAppended, Accepted: true})
	}
	return to, !more, nil
}

// zeroTail returns the offset of the next byte other than zero, or the size of the part. It skips to the
// block of that byte, or to the end.
func (w *members) zeroTail() (int64, error) {
	const piece = 64 * blockSize
	for {
		at := w.c.Offset()
		n := min(piece, w.c.Size-at)
		if n == 0 {
			return at, nil
		}
		b, err := w.c.Peek(int(n))
		if err != nil {
			return 0, w.fail(at, nil, err, "")
		}
		if zeros(b) {
			w.c.Skip(n)
			continue
		}
		i := int64(0)
		for b[i] == 0 {
			i++
		}
		w.c.Skip(i &^ (blockSize - 1))
		return at + i, nil
	}
}

// headerAt reports whether the window is at a header.
func (w *members) headerAt(at int64) (bool, error) {
	if w.c.Size-at < blockSize {
		return false, nil
	}
	b, err := w.c.Peek(blockSize)
	if err != nil {
		return false, w.fail(at, nil, err, "")
	}
	return checkSum(b) == nil, nil
}
