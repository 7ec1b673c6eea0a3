package remote

import (
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

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
