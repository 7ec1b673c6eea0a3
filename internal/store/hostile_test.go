package store

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

const page = "\n <!DOCTYPE html><html><body>please log in</body></html>"

// hijack takes the connection of a request and answers with raw text.
func hijack(w http.ResponseWriter, text string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	conn.Write([]byte(text))
}

// What servers do that should not. The object has 1000 bytes, a range 300. before answers in
// place of a good server where it returns true; gets counts GETs from 0, and is -1 for HEAD.
var hostile = []struct {
	name   string
	path   string // default "/x.tar"
	opts   Options
	before func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool
	want   error  // nil: all bytes come
	says   string // of the error
	gets   int64  // 0: not looked at
}{
	{name: "short body, then it closes", gets: 5, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets != 0 {
			return false
		}
		hijack(w, "HTTP/1.1 206 Partial Content\r\nContent-Length: 300\r\nContent-Range: bytes 0-299/1000\r\nEtag: \"1\"\r\n\r\n"+string(o.data[:100]))
		return true
	}},
	{name: "always short of the end", want: ErrUnavailable, says: "at offset 250: unexpected EOF", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if !strings.HasPrefix(r.Header.Get("Range"), "bytes=0") && !strings.HasPrefix(r.Header.Get("Range"), "bytes=2") {
			return false
		}
		if off, _, _, _ := contentRange("bytes " + strings.TrimPrefix(r.Header.Get("Range"), "bytes=") + "/1000"); off >= 0 && off <= 250 && gets >= 0 {
			hijack(w, fmt.Sprintf("HTTP/1.1 206 Partial Content\r\nContent-Length: %d\r\nContent-Range: bytes %d-299/1000\r\nEtag: \"1\"\r\n\r\n%s", 300-off, off, o.data[off:250]))
			return true
		}
		return false
	}},
	{name: "longer in the same version", want: ErrLength, says: "1000 bytes have become 1200", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "1200")
		w.Write(make([]byte, 1200))
		return true
	}},
	{name: "shorter in the same version", want: ErrLength, says: "1000 bytes have become 800", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "800")
		w.Write(o.data[:800])
		return true
	}},
	{name: "chunks go on after the end", want: ErrLength, says: "more than the 1000 bytes", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		w.Write(o.data)
		http.NewResponseController(w).Flush()
		w.Write([]byte("y"))
		return true
	}},
	{name: "chunks end too early", want: ErrLength, says: "ends at offset 900 of 1000", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		http.NewResponseController(w).Flush()
		w.Write(o.data[:900])
		return true
	}},
	{name: "a chunk is cut", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets != 0 {
			return false
		}
		hijack(w, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nEtag: \"1\"\r\n\r\n3e8\r\n"+string(o.data[:10]))
		return true
	}},
	{name: "the end is not told", want: ErrLength, says: "cannot be told from a cut", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		}
		hijack(w, "HTTP/1.0 200 OK\r\n\r\n"+string(o.data))
		return true
	}},
	{name: "the end is not told, the size is", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		hijack(w, "HTTP/1.0 200 OK\r\n\r\n"+string(o.data))
		return true
	}},
	{name: "HEAD says nothing of the size", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 0 {
			return false
		}
		hijack(w, "HTTP/1.0 200 OK\r\n\r\n")
		return true
	}},
	{name: "HEAD says nothing is there", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 0 {
			return false
		}
		w.Header().Set("Content-Length", "0")
		return true
	}},
	{name: "HEAD is forbidden", before: headIs(http.StatusForbidden)},
	{name: "HEAD is a bad request", before: headIs(http.StatusBadRequest)},
	{name: "HEAD is not implemented", before: headIs(http.StatusNotImplemented)},
	{name: "HEAD is not allowed", before: headIs(http.StatusMethodNotAllowed)},

	{name: "changed before it is fetched", want: ErrChanged, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets == 0 {
			o.etag = `"2"`
		}
		return false
	}},
	{name: "changed, and If-Match is ignored", want: ErrChanged, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		r.Header.Del("If-Match")
		if gets >= 2 {
			w.Header().Set("Etag", `"2"`)
		}
		return false
	}},
	{name: "changed in size, without a version", want: ErrChanged, says: "1000 bytes have become 999", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag = ""
		if gets == 0 {
			o.data = o.data[:999]
		}
		return false
	}},
	{name: "changed in bytes, without a version", want: ErrChanged, says: "other bytes", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag = ""
		if gets == 0 {
			o.cuts = map[int64]bool{500: true}
		} else if gets == 1 {
			o.data = append([]byte{o.data[0] ^ 1}, o.data[1:]...)
		}
		return false
	}},
	{name: "modified under a weak version", want: ErrChanged, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag, o.modified = `W/"1"`, time.Unix(1e9, 0)
		if gets == 1 {
			o.modified = time.Unix(2e9, 0)
		}
		return false
	}},
	{name: "modified, and If-Unmodified-Since is ignored", want: ErrChanged, says: "modified at", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		r.Header.Del("If-Unmodified-Since")
		o.etag, o.modified = "", time.Unix(1e9, 0)
		if gets >= 1 {
			o.modified = time.Unix(2e9, 0)
		}
		return false
	}},
	{name: "modified, and the version is left out", want: ErrChanged, says: "modified at", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.modified = time.Unix(1e9, 0)
		if gets >= 1 {
			r.Header.Del("If-Match")
			o.etag, o.modified = "", time.Unix(2e9, 0)
		}
		return false
	}},
	{name: "a weak version alone says nothing of ranges", gets: 1, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag = `W/"1"`
		return false
	}},
	{name: "changed in bytes, under a weak version", want: ErrChanged, says: "other bytes", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag = `W/"1"`
		if gets == 0 {
			o.cuts = map[int64]bool{500: true}
		} else if gets == 1 {
			o.data = append([]byte{o.data[0] ^ 1}, o.data[1:]...)
		}
		return false
	}},
	{name: "shorter than the range", want: ErrChanged, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		r.Header.Del("If-Match")
		if gets > 0 {
			o.data = o.data[:100]
		}
		return false
	}},
	{name: "gone", want: ErrNotFound, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets == 1 {
			w.WriteHeader(http.StatusGone)
		}
		return gets == 1
	}},

	{name: "not found, for good", want: ErrNotFound, says: "asked for 4 times", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 1 {
			w.WriteHeader(http.StatusNotFound)
		}
		return gets >= 1
	}},
	{name: "not found, three times", gets: 7, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 1 && gets <= 3 {
			w.WriteHeader(http.StatusNotFound)
		}
		return gets >= 1 && gets <= 3
	}},
	{name: "another version, once", gets: 5, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		r.Header.Del("If-Match")
		if gets == 2 {
			w.Header().Set("Etag", `"2"`)
		}
		return false
	}},
	{name: "other bytes than were asked for, once", gets: 5, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets == 1 {
			r.Header.Set("Range", "bytes=10-19")
		}
		return false
	}},
	{name: "other bytes than were asked for", want: ErrLength, says: "bytes from 10 on have come", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 1 {
			r.Header.Set("Range", "bytes=10-19")
		}
		return false
	}},
	{name: "more bytes than were asked for", want: ErrLength, says: "have come for 300", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if r.Header.Get("Range") == "bytes=300-599" {
			r.Header.Set("Range", "bytes=300-")
		}
		return false
	}},
	{name: "fewer bytes than were asked for", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if r.Header.Get("Range") == "bytes=300-599" {
			r.Header.Set("Range", "bytes=300-333")
		}
		return false
	}},
	{name: "all once, where ranges were", gets: 5, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets == 2 {
			r.Header.Del("Range")
		}
		return false
	}},
	{name: "a part of it knows not what", want: ErrLength, says: "Content-Range", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets >= 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		return gets >= 0
	}},
	{name: "two lengths", want: ErrLength, says: "Content-Length is 4", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		w.Header().Set("Content-Range", "bytes 0-299/1000")
		w.WriteHeader(http.StatusPartialContent)
		w.Write([]byte("four"))
		return true
	}},
	{name: "a length that is none", want: ErrUnavailable, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n")
		return true
	}},
	{name: "no HTTP", want: ErrSetting, says: "is that a web server?", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		hijack(w, "SSH-2.0-OpenSSH_9.6\x1b[31m\r\n\r\n\r\n")
		return true
	}},
	{name: "headers without end", want: ErrUnavailable, opts: Options{Retries: -1}, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		hijack(w, "HTTP/1.1 200 OK\r\n"+strings.Repeat("X-Y: zzzzzzzzzzzzzzzz\r\n", 1<<15))
		return true
	}},
	{name: "compressed all the same", want: ErrSetting, says: "in gzip", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if r.Header.Get("Accept-Encoding") != "identity" {
			panic("it was asked for")
		}
		if gets >= 0 {
			w.Header().Set("Content-Encoding", "gzip")
		}
		return false
	}},
	{name: "stored in gzip", gets: 4, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.Header().Set("Content-Encoding", "gzip")
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "1000")
		}
		return false
	}},

	{name: "encoded anew for each reply", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.etag = `W/"1"`
		w.Header().Set("Content-Encoding", "gzip")
		if r.Method == http.MethodHead {
			w.Header().Set("Content-Length", "1000")
		}
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		return false
	}},
	{name: "no ranges, as the first byte has shown", gets: 2, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets > 0 && r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusTeapot)
			return true
		}
		r.Header.Del("Range")
		return headIs(http.StatusForbidden)(o, w, r, gets)
	}},

	{name: "503 and 429 for a while", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		switch gets {
		case 0, 3:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 4:
			w.Header().Set("Retry-After", time.Now().UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusBadGateway)
		default:
			return false
		}
		return true
	}},
	{name: "503 for ever", want: ErrUnavailable, says: "4 attempts in a row: HTTP 503 Service Unavailable", opts: Options{Retries: 3}, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}},
	{name: "501", want: ErrSetting, gets: 1, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.WriteHeader(http.StatusNotImplemented)
		return true
	}},
	{name: "it wants patience", want: ErrUnavailable, says: "asked again after 1h0m0s", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}},
	{name: "403", want: ErrDenied, says: "a signed URL ends after a while", gets: 1, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}},
	{name: "301 to nowhere", want: ErrRedirect, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.WriteHeader(http.StatusMovedPermanently)
		return true
	}},
	{name: "to a file", want: ErrRedirect, says: "from http to file (see where it leads", before: location("file:///etc/passwd")},
	{name: "to FTP", want: ErrRedirect, says: "from http to ftp", before: location("ftp://127.0.0.1/x")},
	{name: "to what is no URL", want: ErrRedirect, before: location("http://" + password + "@[::1/?sig=" + password)},
	{name: "in a circle", want: ErrRedirect, says: "more than 5 times (see where it leads", gets: 0, before: location("/x.tar")},

	{name: "a page by its word", want: ErrPage, says: "in a browser", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.Header().Set("Content-Type", "text/HTML; charset=utf-8")
		return false
	}},
	{name: "a page by its word, later", want: ErrPage, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets == 2 {
			w.Header().Set("Content-Type", "text/html")
		}
		return false
	}},
	{name: "a page by its looks", want: ErrPage, before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		o.data = []byte(page)
		return false
	}},
	{name: "a page that is meant", path: "/a/x.HTML", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		w.Header().Set("Content-Type", "text/html")
		o.data = []byte(page)
		return false
	}},
	{name: "a login", want: ErrPage, says: "/login", before: func(o *origin, w http.ResponseWriter, r *http.Request, gets int) bool {
		if r.URL.Path == "/login" {
			w.Header().Set("Content-Type", "text/html")
			w.Write([]byte(page))
			return true
		}
		http.Redirect(w, r, "/login?token="+password, http.StatusFound)
		return true
	}},

	{name: "the right sum", before: digest(0)},
	{name: "a wrong sum", want: ErrSum, says: "sha256", before: digest(1)},
}

func headIs(status int) func(*origin, http.ResponseWriter, *http.Request, int) bool {
	return func(_ *origin, w http.ResponseWriter, _ *http.Request, gets int) bool {
		if gets < 0 {
			w.WriteHeader(status)
		}
		return gets < 0
	}
}

func location(to string) func(*origin, http.ResponseWriter, *http.Request, int) bool {
	return func(_ *origin, w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
		return true
	}
}

func digest(flip byte) func(*origin, http.ResponseWriter, *http.Request, int) bool {
	return func(o *origin, w http.ResponseWriter, _ *http.Request, _ int) bool {
		sum := sha256.Sum256(o.data)
		sum[7] ^= flip
		w.Header().Set("Repr-Digest", "unknown=:AA==:, sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
		return false
	}
}

func TestHostile(t *testing.T) {
	t.Parallel()
	need.Time(t, "servers that are waited for")
	for _, row := range hostile {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := &origin{data: random(1000, 7), etag: `"1"`}
			if row.before != nil {
				o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool { return row.before(o, w, r, gets) }
			}
			opts := row.opts
			opts.RangeSize, opts.Connections = 300, 1
			path := row.path
			if path == "" {
				path = "/x.tar"
			}
			srv := start(t, o)
			f, _, err := fetchAll(t, client(t, opts), strings.Replace(srv.URL, "http://", "http://me:"+password+"@", 1)+path+"?X-Amz-Signature="+password)
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if err == nil {
				f.holds(t, o.data)
			} else if !strings.Contains(err.Error(), row.says) || !strings.Contains(err.Error(), "/x.tar?X-Amz-Signature=REDACTED: ") {
				t.Errorf("%v does not say %q", err, row.says)
			} else if errors.Is(err, ErrLength) && !strings.HasSuffix(err.Error(), ")") {
				t.Errorf("%v does not say what to do", err)
			} else {
				t.Log(err)
			}
			if n := o.gets.Load(); row.gets > 0 && n != row.gets {
				t.Errorf("%d GETs, want %d", n, row.gets)
			}
		})
	}
}
