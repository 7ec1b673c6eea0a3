package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
)

// doubts is how often an object that something names is asked for again, with pauses, before it is said not to exist, to be
// another version or to have another length: a reply may be wrong.
const doubts = 3

// doubtful reports whether one wrong reply for an object that is there could have led to an error.
func (e *Error) doubtful() bool {
	switch e.Status {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusGone: // the service has compared
		return false
	}
	return e.page || e.Kind == ErrNotFound || e.Kind == ErrChanged || e.Kind == ErrLength
}

// askedOften says in the error of a doubtful reply how often it came.
func askedOften(e *Error, n int) *Error {
	last := *e
	how := fmt.Sprintf("asked for %d times", n)
	if last.Err == nil {
		last.Err = errors.New(how)
	} else {
		last.Err = fmt.Errorf("%s: %w", how, e.Err)
	}
	return &last
}

// Find is Stat of an object that something names: it asks again, with pauses, before that is said not to exist. The error
// says how often it has asked.
func Find(ctx context.Context, s Store, url string) (Object, error) {
	for n := 1; ; n++ {
		o, err := s.Stat(ctx, url)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != ErrNotFound || ctx.Value(onceKey{}) != nil {
			return o, err
		}
		if n > doubts {
			return o, askedOften(e, n)
		}
		if err := sleep(ctx, firstWait<<(n-1)); err != nil {
			return o, err
		}
	}
}

// StatTwice is Stat of an object that may be missing: it asks once more, at once, before that is said.
func StatTwice(ctx context.Context, s Store, url string) (Object, error) {
	o, err := s.Stat(ctx, url)
	if errors.Is(err, ErrNotFound) {
		o, err = s.Stat(ctx, url)
	}
	return o, err
}

// IsDoubtful reports whether one wrong reply, or a listing, could have led to an error of a Client.
func IsDoubtful(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrChanged) || errors.Is(err, ErrLength)
}

// IsMissing reports whether an error says that an object, or a file, does not exist.
func IsMissing(err error) bool { return errors.Is(err, ErrNotFound) || errors.Is(err, fs.ErrNotExist) }

// found reports whether a service has said what the object is.
func (o *Object) found() bool { return o.Version != "" || !o.Modified.IsZero() }
