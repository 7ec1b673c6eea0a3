package remote

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
)

// minio-go hides what our errors and limits need: headers of replies that are errors, the
// errors of net/http, and bodies that it reads to their end. An s3Wire, its transport, notes
// them in the s3Seen of the request's context.
type s3Wire struct{ next http.RoundTripper }

// An s3Seen belongs to one call of a store, whose requests follow each other.
type s3Seen struct {
	object bool // the call asks for bytes of an object

	err    error       // of net/http; nil where a reply came
	status int         // of the last reply
	header http.Header // of the last reply
	pages  int         // of a list, since one brought a name
}

type s3SeenKey struct{}

func (s *s3Seen) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, s3SeenKey{}, s)
}

var errTooLong = errors.New("the answer is longer than one of its kind can be")

func (w s3Wire) RoundTrip(req *http.Request) (*http.Response, error) {
	seen, _ := req.Context().Value(s3SeenKey{}).(*s3Seen)
	if seen == nil {
		return w.next.RoundTrip(req)
	}
	isList := strings.Contains(req.URL.RawQuery, "list-type=")
	if isList {
		if seen.pages++; seen.pages > maxEmptyPages {
			seen.err = errEndless
			return nil, errEndless
		}
	}
	resp, err := w.next.RoundTrip(req)
	if err != nil {
		seen.err, seen.status, seen.header = err, 0, nil
		return nil, err
	}
	seen.err, seen.status, seen.header = nil, resp.StatusCode, resp.Header
	switch {
	case resp.StatusCode/100 != 2:
		// The text of an error that is cut is still an error: its status says so.
		resp.Body = &limited{body: resp.Body, left: maxAnswer, over: io.EOF}
	case isList:
		resp.Body = &limited{body: resp.Body, left: maxPage, over: errTooLong}
	case !seen.object || strings.Contains(req.URL.RawQuery, "location="):
		resp.Body = &limited{body: resp.Body, left: maxAnswer, over: errTooLong}
	}
	return resp, nil
}

// A limited is a body that ends with over where it is longer than left.
type limited struct {
	body io.ReadCloser
	left int64
	over error
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		// A body of just that length is not over it.
		var one [1]byte
		if n, err := l.body.Read(one[:]); n == 0 {
			return 0, err
		}
		return 0, l.over
	}
	n, err := l.body.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

func (l *limited) Close() error { return l.body.Close() }
