package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// rangeOf asks for n bytes from off on; n < 0: for all there are. "" for all of the object,
// of which an empty one has no range.
func rangeOf(off, n int64) string {
	if off == 0 && n < 0 {
		return ""
	}
	if n < 0 {
		return fmt.Sprintf("bytes=%d-", off)
	}
	return fmt.Sprintf("bytes=%d-%d", off, off+n-1)
}

// replyOf reads where in the object a body is: RFC 9110, 14.4 and 15.3.7. A status of 200
// has ignored the range.
func replyOf(o Object, body io.ReadCloser, status int, h http.Header) (*reply, error) {
	r := &reply{Body: body, N: -1, Size: -1}
	if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		r.N = n
	}
	if status != http.StatusPartialContent {
		r.Size = r.N
		return r, nil
	}
	off, end, size, ok := contentRange(h.Get("Content-Range"))
	if !ok || off < 0 {
		return nil, &Error{URL: Redact(o.URL), Kind: ErrLength, Status: status,
			Err: fmt.Errorf("a range of bytes %q", clean(h.Get("Content-Range"))), Again: true}
	}
	if r.N >= 0 && r.N != end-off {
		return nil, &Error{URL: Redact(o.URL), Kind: ErrLength, Status: status,
			Err: fmt.Errorf("Content-Length is %d, and Content-Range has %d bytes", r.N, end-off), Again: true}
	}
	r.Off, r.N, r.Size = off, end-off, size
	return r, nil
}

// sameVersion refuses bytes of another version than the one that was found.
func sameVersion(o Object, version string) error {
	if o.Version == "" || version == "" || o.Version == version {
		return nil
	}
	return &Error{URL: Redact(o.URL), Kind: ErrChanged, Err: fmt.Errorf("it has another version"), Hint: againHint}
}

// decode reads an answer of at most most bytes, by [json.Unmarshal] or [xml.Unmarshal].
func decode(ctx context.Context, name string, resp *http.Response, most int64, unmarshal func([]byte, any) error, into any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return unreached(ctx, name, err)
	}
	if err = unmarshal(text, into); int64(len(text)) > most {
		err = errors.New("the answer is longer than one of its kind can be")
	}
	switch {
	case err == nil:
		return nil
	case isHTML(resp.Header):
		return &Error{URL: Redact(name), Kind: ErrPage, Status: resp.StatusCode, Hint: "a proxy in between?"}
	}
	return &Error{URL: Redact(name), Kind: ErrUnavailable, Status: resp.StatusCode, Again: true,
		Err: fmt.Errorf("its answer cannot be read: %s", said(err.Error()))}
}

// unreached is a request that no reply came to, or a reply that broke off.
func unreached(ctx context.Context, name string, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		return &Error{URL: Redact(name), Err: cause}
	}
	return transportError(name, err)
}

func noList(prefix string, err error) *Error {
	return &Error{URL: Redact(prefix), Kind: ErrNoList, Err: errors.New(said(err.Error())), Hint: hintUnordered}
}
