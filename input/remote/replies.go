package remote

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// rangeOf asks for n bytes from off on; n < 0: for all there are.
func rangeOf(off, n int64) string {
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
	first, last, size, ok := contentRange(h.Get("Content-Range"))
	if !ok {
		return nil, &Error{URL: shown(o.URL), Kind: ErrLength, Status: status,
			Err: fmt.Errorf("a range of bytes %q", clean(h.Get("Content-Range"))), Again: true}
	}
	if n := last - first + 1; r.N < 0 {
		r.N = n
	} else if r.N != n {
		return nil, &Error{URL: shown(o.URL), Kind: ErrLength, Status: status,
			Err: fmt.Errorf("bytes %d to %d come as %d", first, last, r.N), Again: true}
	}
	r.Off, r.Size = first, size
	return r, nil
}

// contentRange reads "bytes first-last/size"; size is -1 for "*".
func contentRange(value string) (first, last, size int64, ok bool) {
	spec, ok := strings.CutPrefix(value, "bytes ")
	span, total, ok2 := strings.Cut(spec, "/")
	from, to, ok3 := strings.Cut(span, "-")
	if !ok || !ok2 || !ok3 {
		return 0, 0, 0, false
	}
	size = -1
	for _, part := range []struct {
		text string
		to   *int64
	}{{from, &first}, {to, &last}, {total, &size}} {
		if part.text == "*" && part.to == &size {
			continue
		}
		n, err := strconv.ParseInt(part.text, 10, 64)
		if err != nil || !isDigits(part.text) {
			return 0, 0, 0, false
		}
		*part.to = n
	}
	return first, last, size, last >= first && (size < 0 || last < size)
}

// sameVersion refuses bytes of another version than the one that was found.
func sameVersion(o Object, version string) error {
	if o.Version == "" || version == "" || o.Version == version {
		return nil
	}
	return &Error{URL: shown(o.URL), Kind: ErrChanged, Err: fmt.Errorf("it has another version"), Hint: againHint}
}
