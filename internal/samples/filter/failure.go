package filter

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

var (
	errMore   = fmt.Errorf("%w: it wrote more answers than it was given samples", converters.ErrMalformed)
	errShut   = errors.New("it has closed its input, and goes on without it")
	errUnread = fmt.Errorf("%w: it has answered samples that it did not read", converters.ErrMalformed)
	errHung   = errors.New("it neither reads nor writes")
)

// fail adds the place to an error of a process that has answered done samples of a part. key is the key of the
// first sample without an answer. p is nil if the process had no part.
func (w *worker) fail(p *part, done int64, key string, err error) error {
	const hint = "every sample must get one answer: docs/plugins.md"
	e := &place.Error{Where: w.name, Off: -1, Err: err}
	if p != nil {
		e.Where, e.Entry = p.name, key
	}
	if own, ok := errors.AsType[*place.Error](err); ok && own.Where == w.name { // the error of its exit
		err, e.Hint = own.Err, own.Hint
	}
	switch {
	case errors.Is(err, errMore), errors.Is(err, errUnread):
		e.Hint = hint
	case w.watch.hung():
		err, e.Hint = fmt.Errorf("%w for %v", errHung, w.watch.limit), "option filter-timeout is for one that needs longer"
	case err == io.EOF:
		err, e.Hint = fmt.Errorf("%w: it has ended, with status 0", converters.ErrTruncated), hint
	case errors.Is(err, io.ErrUnexpectedEOF):
		err, e.Hint = fmt.Errorf("%w: it has ended, with status 0, inside an answer", converters.ErrTruncated), hint
	case errors.Is(err, os.ErrDeadlineExceeded):
		err, e.Hint = errShut, hint
	}
	e.Err = fmt.Errorf("the filter %s: %w", text.Name(w.name), err)
	if p == nil {
		e.Err = fmt.Errorf("the filter: %w", err)
	} else {
		e.Err = fmt.Errorf("%w, after %d of %d answers", e.Err, done, p.n)
	}
	return e
}
