package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// send makes one request for the object or list of that name.
func send(ctx context.Context, client *http.Client, name, method, address string, header http.Header, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{URL: Redact(name), Kind: ErrURL}
	}
	req.Header = header
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreached(ctx, name, err)
	}
	return resp, nil
}

// setRange asks for n bytes from off on; n < 0: for all there are. All of an object has no Range,
// since an empty one has none.
func setRange(h http.Header, off, n int64) {
	switch {
	case n >= 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
}

// replyOf reads where in the object a body is: RFC 9110, 14.4 and 15.3.7. A status of 200
// has ignored the range. It closes the body where that cannot be told.
func replyOf(o Object, resp *http.Response, version string, sum Sum) (*reply, error) {
	r := &reply{Body: resp.Body, N: resp.ContentLength, Size: resp.ContentLength, Version: version, Sum: sum}
	if resp.StatusCode != http.StatusPartialContent {
		return r, nil
	}
	off, end, size, ok := contentRange(resp.Header.Get("Content-Range"))
	if !ok || off < 0 {
		resp.Body.Close()
		return nil, noContentRange(o.URL, resp)
	}
	if r.N >= 0 && r.N != end-off {
		resp.Body.Close()
		return nil, &Error{URL: Redact(o.URL), Kind: ErrLength, Status: resp.StatusCode,
			Err: fmt.Errorf("Content-Length is %d, and Content-Range has %d bytes", r.N, end-off), Hint: lengthHint}
	}
	r.Off, r.N, r.Size = off, end-off, size
	return r, nil
}

func noContentRange(url string, resp *http.Response) *Error {
	return &Error{URL: Redact(url), Kind: ErrLength, Status: resp.StatusCode, Err: errors.New("a part that does not say which: no sound Content-Range"), Hint: lengthHint}
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
	return &Error{URL: Redact(prefix), Kind: ErrNoList, Err: errors.New(said(err.Error())), Hint: "name the objects one by one, or by {000..999}"}
}

// contentRange reads Content-Range, RFC 9110, 14.4: the bytes [off, end) of size. size is -1
// where it is not said; off and end are -1 for "bytes */size", which answers 416.
func contentRange(v string) (off, end, size int64, ok bool) {
	unit, v, _ := strings.Cut(strings.TrimSpace(v), " ")
	span, total, cut := strings.Cut(strings.TrimSpace(v), "/")
	if !strings.EqualFold(unit, "bytes") || !cut {
		return 0, 0, 0, false
	}
	size = -1
	if total != "*" {
		if size, ok = number(total); !ok {
			return 0, 0, 0, false
		}
	}
	if span == "*" {
		return -1, -1, size, size >= 0
	}
	first, last, _ := strings.Cut(span, "-")
	off, ok1 := number(first)
	end, ok2 := number(last)
	if !ok1 || !ok2 || end < off || size >= 0 && end >= size {
		return 0, 0, 0, false
	}
	return off, end + 1, size, true
}

// number reads digits alone: no sign, no space. What has one to spare below 1<<63 is one.
func number(s string) (int64, bool) {
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n+1 > 0
}

// isStrong tells an ETag that stands for bytes, RFC 9110, 8.8.3, from one that is weak or
// not even quoted. Only such a one may stand in If-Match.
func isStrong(etag string) bool {
	return len(etag) > 2 && etag[0] == '"' && strings.IndexByte(etag[1:], '"') == len(etag)-2
}

func lastModified(h http.Header) time.Time {
	t, err := http.ParseTime(h.Get("Last-Modified"))
	if err != nil {
		return time.Time{}
	}
	return t
}

// encoding is what a body is encoded in beyond being the object; "" for nothing.
func encoding(h http.Header) string {
	v := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ","))
	if v == "identity" {
		return ""
	}
	return v
}

// isHTML tells a reply that is a page by its own word.
func isHTML(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && (kind == "text/html" || kind == "application/xhtml+xml")
}

// wantsHTML tells a URL whose object may well be a page.
func wantsHTML(url string) bool {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	switch strings.ToLower(path.Ext(url)) {
	case ".html", ".htm", ".xhtml":
		return true
	}
	return false
}

const sniffLen = 512 // bytes

// looksLikePage tells a page by its first bytes.
func looksLikePage(head []byte) bool {
	s := strings.TrimPrefix(string(head), "\ufeff")
	s = strings.ToLower(strings.TrimLeft(s, " \t\r\n\f"))
	for _, tag := range []string{"<!doctype html", "<html"} {
		if rest, ok := strings.CutPrefix(s, tag); ok && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n\f>/")) {
			return true
		}
	}
	return false
}
