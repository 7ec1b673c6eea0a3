package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"
)

// A request is one HTTP request for an object or a list.
type request struct {
	name    string // URL of the object, or prefix of the list
	list    bool   // name is a prefix
	method  string
	query   url.Values
	address string      // URL to request; "": made of name and query
	header  http.Header // nil: none

	body   func() io.Reader // returns a new reader of the body; nil: none
	size   int64            // bytes of body
	sha256 string           // of body, hexadecimal; "": the signature for S3 does not cover the body
	expect bool             // send Expect: 100-continue, and the body after the service has agreed

	sign func(*http.Request) *http.Request // adds a signature; nil: none
}

// send returns a reply of any status, or an [*Error]. The caller closes the body.
func (r *request) send(ctx context.Context, client *http.Client) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, r.address, nil)
	if err != nil {
		return nil, &Error{URL: Redact(r.name), Kind: ErrURL}
	}
	maps.Copy(req.Header, r.header)
	req.Header.Set("User-Agent", userAgent)
	if r.sign != nil {
		req = r.sign(req)
	}
	if r.body != nil && r.size > 0 { // after signing: the signature covers neither
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(r.body()), nil }
		req.Body, _ = req.GetBody()
		req.ContentLength = r.size
		if r.expect {
			req.Header.Set("Expect", "100-continue")
		}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, unreached(ctx, r.name, err)
	}
	return resp, nil
}

const userAgent = "ffconvert"

// read are the success statuses of requests that read.
var read = []int{http.StatusOK, http.StatusPartialContent}

// noRedirects returns a client that follows no redirects: a signature is valid for one host.
func noRedirects(hc *http.Client) *http.Client {
	return &http.Client{Transport: hc.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// notService closes a reply and returns the error for an HTML page in place of a service's reply.
func notService(name string, resp *http.Response, hint string) *Error {
	resp.Body.Close()
	return &Error{URL: Redact(name), Kind: ErrPage, Status: resp.StatusCode, Hint: hint}
}

// errorBody reads the body of an error reply. It ignores read errors: the status matters more.
func errorBody(resp *http.Response) []byte {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return body
}

// readFile reads at most most bytes of a file of settings.
func readFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// setRange sets Range to n bytes from off on, or to the rest of the object if n < 0. For the whole object it sets
// nothing, since an empty object has no valid range.
func setRange(h http.Header, off, n int64) {
	switch {
	case n >= 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case off > 0:
		h.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
}

// replyOf finds which bytes of the object a body has, RFC 9110, 14.4 and 15.3.7. A reply of status 200
// has the whole object, whatever range was requested. After an error the body is closed.
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
		return nil, refuse(o.URL, resp, ErrLength, "Content-Length is %d, and Content-Range has %d bytes", r.N, end-off).hint(lengthHint)
	}
	r.Off, r.N, r.Size = off, end-off, size
	return r, nil
}

func noContentRange(url string, resp *http.Response) *Error {
	return refuse(url, resp, ErrLength, "a part that does not say which: no sound Content-Range").hint(lengthHint)
}

// into returns a function for decode that unmarshals into v, by [json.Unmarshal] or [xml.Unmarshal].
func into(unmarshal func([]byte, any) error, v any) func([]byte) error {
	return func(text []byte) error { return unmarshal(text, v) }
}

// decode reads a reply of at most most bytes.
func decode(ctx context.Context, name string, resp *http.Response, most int64, unmarshal func([]byte) error) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err != nil {
		return unreached(ctx, name, err)
	}
	if err = unmarshal(text); int64(len(text)) > most {
		err = errors.New("the answer is longer than one of its kind can be")
	}
	switch {
	case err == nil:
		return nil
	case isHTML(resp):
		return &Error{URL: Redact(name), Kind: ErrPage, Status: resp.StatusCode, Hint: "a proxy in between?"}
	}
	return refuse(name, resp, ErrUnavailable, "its answer cannot be read: %s", serviceText(err.Error())).again()
}

// unreached returns the error of a request without a reply, or with an incomplete one: the cause of ctx if
// that has ended.
func unreached(ctx context.Context, name string, err error) *Error {
	if cause := context.Cause(ctx); cause != nil {
		return &Error{URL: Redact(name), Err: cause}
	}
	return transportError(name, err)
}

func noList(prefix string, err error) *Error {
	return &Error{URL: Redact(prefix), Kind: ErrNoList, Err: errors.New(serviceText(err.Error())), Hint: "name the objects one by one, or by {000..999}"}
}

// contentRange parses Content-Range, RFC 9110, 14.4: the bytes [off, end) of size. size is -1
// if it is unknown; off and end are -1 for "bytes */size", which comes with status 416.
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

// number parses decimal digits without sign or space, up to 1<<63 - 2.
func number(s string) (int64, bool) {
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && n+1 > 0
}

// isStrong reports whether an ETag identifies bytes, RFC 9110, 8.8.3: it is quoted and not weak. Only
// such an ETag may be sent in If-Match.
func isStrong(etag string) bool {
	return len(etag) > 2 && etag[0] == '"' && strings.IndexByte(etag[1:], '"') == len(etag)-2
}

func lastModified(h http.Header) time.Time {
	t, _ := http.ParseTime(h.Get("Last-Modified"))
	return t
}

// encoding returns the Content-Encoding of a body; "" if there is none.
func encoding(h http.Header) string {
	v := strings.ToLower(strings.Join(h.Values("Content-Encoding"), ","))
	if v == "identity" {
		return ""
	}
	return v
}

// isHTML reports whether a reply has an HTML page, by its Content-Type. Some services name that type in replies without content.
func isHTML(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && resp.StatusCode != http.StatusNoContent && (kind == "text/html" || kind == "application/xhtml+xml")
}

// wantsHTML reports whether the object of a URL may be an HTML page.
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

// IsPage reports whether head, the first bytes of the object of a URL, is HTML and the URL does not name an HTML
// file. Some services send a login page with status 200.
func IsPage(url string, head []byte) bool { return !wantsHTML(url) && looksLikePage(head) }

// looksLikePage reports whether the first bytes of an object are the beginning of an HTML page.
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
