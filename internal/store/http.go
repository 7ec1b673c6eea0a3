package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An httpStore reads objects of web servers, by RFC 9110.
type httpStore struct {
	readOnly
	hc *http.Client
}

func newHTTP(_ Options, hc *http.Client) (service, error) { return httpStore{hc: hc}, nil }

// headRefused are the statuses of HEAD after which GET may succeed: a signed URL is valid for one
// method, and some servers support GET alone.
var headRefused = []int{http.StatusBadRequest, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented}

func (s httpStore) stat(ctx context.Context, url string) (Object, error) {
	resp, err := s.do(ctx, http.MethodHead, url, nil)
	if err != nil {
		return Object{}, err
	}
	resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusOK:
		if o, err := found(url, resp); err != nil || resp.ContentLength > 0 {
			o.Size = resp.ContentLength
			return o, err
		}
		return s.probe(ctx, url) // some servers send no length, or 0, for HEAD
	case slices.Contains(headRefused, resp.StatusCode):
		return s.probe(ctx, url)
	}
	return Object{}, statusError(url, resp)
}

// probe implements stat by a GET request for the first byte.
func (s httpStore) probe(ctx context.Context, url string) (Object, error) {
	resp, err := s.do(ctx, http.MethodGet, url, http.Header{"Range": {"bytes=0-0"}})
	if err != nil {
		return Object{}, err
	}
	defer discard(resp)
	_, _, size, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case resp.StatusCode == http.StatusPartialContent && ok:
	case resp.StatusCode == http.StatusPartialContent:
		return Object{}, noContentRange(url, resp)
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && ok && size == 0: // it is empty
	case resp.StatusCode == http.StatusOK:
		size = resp.ContentLength
	default:
		return Object{}, statusError(url, resp)
	}
	o, err := found(url, resp)
	o.Size = size
	o.whole = o.whole || resp.StatusCode == http.StatusOK
	return o, err
}

// found returns the object that the headers of a reply describe, without its size.
func found(url string, resp *http.Response) (Object, error) {
	if err := refusePage(url, resp); err != nil {
		return Object{}, err
	}
	h := resp.Header
	o := Object{
		URL: url, Version: h.Get("Etag"), Modified: lastModified(h), key: encoding(h),
		Sum: headerSum(h, resp.StatusCode != http.StatusOK),
	}
	// If the server stores the encoded bytes, they are the object. If it encodes each reply, it sends no
	// length or a weak ETag, and two ranges may be of different encodings. Ranges with the same weak ETag
	// may differ too (RFC 9110, 15.3.7.3); then only a time or a checksum can show a change.
	o.whole = h.Get("Accept-Ranges") == "none" || o.key != "" && (resp.ContentLength < 0 || !isStrong(o.Version)) ||
		!isStrong(o.Version) && o.Modified.IsZero() && o.Sum.NewHash() == nil
	o.unsure = h.Get("Accept-Ranges") != "bytes" && resp.StatusCode != http.StatusPartialContent
	return o, nil
}

// list returns ErrNoList: the directory lists of web servers are HTML.
func (s httpStore) list(_ context.Context, prefix, _ string, _ bool) ([]Object, string, error) {
	return nil, "", &Error{URL: Redact(prefix), Kind: ErrNoList, Hint: "name each object; {000..099} counts"}
}

func (s httpStore) open(ctx context.Context, o Object, off, n int64) (*reply, error) {
	resp, err := s.do(ctx, http.MethodGet, o.URL, pinned(o, off, n))
	if err != nil {
		return nil, err
	}
	r, err := s.answer(o, off > 0 || n >= 0, resp)
	if err != nil {
		discard(resp)
		return nil, err
	}
	return r, nil
}

// discard closes a body. It reads a short body to its end, so that the connection can be reused.
func discard(resp *http.Response) {
	if resp.ContentLength >= 0 && resp.ContentLength <= 4<<10 {
		io.Copy(io.Discard, resp.Body)
	}
	resp.Body.Close()
}

// pinned returns the headers of a request for n bytes from off on of the version of o.
func pinned(o Object, off, n int64) http.Header {
	h := make(http.Header)
	setRange(h, off, n)
	switch {
	case isStrong(o.Version):
		h.Set("If-Match", o.Version)
	case !o.Modified.IsZero():
		h.Set("If-Unmodified-Since", o.Modified.UTC().Format(http.TimeFormat))
	}
	return h
}

func (s httpStore) answer(o Object, ranged bool, resp *http.Response) (*reply, error) {
	if resp.StatusCode != http.StatusOK && !(ranged && resp.StatusCode == http.StatusPartialContent) {
		return nil, statusError(o.URL, resp)
	}
	r, err := replyOf(o, resp, resp.Header.Get("Etag"), headerSum(resp.Header, resp.StatusCode != http.StatusOK))
	if err != nil {
		return nil, err
	}
	if err := refusePage(o.URL, resp); err != nil {
		return nil, err
	}
	if err := sameObject(o, resp); err != nil {
		return nil, err
	}
	if r.N < 0 && o.Size < 0 && !slices.Contains(resp.TransferEncoding, "chunked") {
		return nil, refuse(o.URL, resp, ErrLength, "neither Content-Length nor chunks: its end cannot be told from a cut").hint("copy it to a local file, and compare")
	}
	return r, nil
}

// sameObject compares the encoding and the modification time of a reply with o. Version and length are compared by
// fetch.checkReply.
func sameObject(o Object, resp *http.Response) error {
	modified := lastModified(resp.Header)
	switch e := encoding(resp.Header); {
	case e != o.key && o.key == "":
		return refuse(o.URL, resp, ErrSetting, "it was asked for plain bytes, and sends them in %s", clean(e)).hint("turn compression off for it on the server")
	case e != o.key:
		return refuse(o.URL, resp, ErrChanged, "another encoding").hint(againHint)
	case (!isStrong(o.Version) || resp.Header.Get("Etag") == "") && !o.Modified.IsZero() && !modified.IsZero() && !modified.Equal(o.Modified):
		return refuse(o.URL, resp, ErrChanged, "modified at %s", modified.UTC().Format(http.TimeFormat)).hint(againHint)
	}
	return nil
}

// do sends one request. It sends the user and password of a URL in a header; redirect removes that for other hosts.
func (s httpStore) do(ctx context.Context, method, rawURL string, header http.Header) (*http.Response, error) {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" || u.Opaque != "" { // err is not wrapped: it may quote a password
		return nil, &Error{URL: Redact(rawURL), Kind: ErrURL, Hint: "letters other than those of a URL are written %XX"}
	}
	r := request{name: rawURL, method: method, header: http.Header{"Accept-Encoding": {"identity"}}}
	maps.Copy(r.header, header)
	if u.User != nil {
		password, _ := u.User.Password()
		r.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	u.User, u.Fragment = nil, ""
	r.address = u.String()
	return r.send(ctx, s.hc)
}

// refusePage returns ErrPage if the Content-Type of a reply is HTML and the URL does not name an HTML file.
func refusePage(url string, resp *http.Response) error {
	if !isHTML(resp) || wantsHTML(url) {
		return nil
	}
	e := &Error{URL: Redact(url), Kind: ErrPage, Status: resp.StatusCode, Hint: pageHint}
	if resp.Request != nil && Redact(resp.Request.URL.String()) != Redact(url) {
		e.Hint = fmt.Sprintf("it leads to %s: does that want a login? a signed URL needs none", clean(Redact(resp.Request.URL.String())))
	}
	if path, _, _ := strings.Cut(url, "?"); e.Hint == pageHint && strings.HasSuffix(path, "/") {
		e.Hint = "of a directory over HTTP name the files, by a pattern as {000..009}"
	}
	return e
}

const pageHint = "open it in a browser to see what the server says"
