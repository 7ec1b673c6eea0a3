package store

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestContentRange(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		v              string
		off, end, size int64
		ok             bool
	}{
		{"bytes 0-0/1", 0, 1, 1, true}, {"Bytes 10-19/*", 10, 20, -1, true}, {" bytes  5-9/10 ", 5, 10, 10, true},
		{"bytes */1000", -1, -1, 1000, true}, {"bytes */0", -1, -1, 0, true},
		{"bytes 0-9223372036854775806/*", 0, 1<<63 - 1, -1, true}, {v: "bytes 0-9223372036854775807/*"}, {"bytes 0-9223372036854775805/9223372036854775806", 0, 9223372036854775806, 9223372036854775806, true},
		{v: ""}, {v: "bytes"}, {v: "bytes */*"}, {v: "bytes 0-9"}, {v: "bytes 0-10/10"}, {v: "bytes 5-4/10"}, {v: "bytes -1-4/10"}, {v: "bytes 0-+4/10"},
		{v: "bytes 0-4/-1"}, {v: "items 0-4/10"}, {v: "bytes 0-99999999999999999999/*"}, {v: "bytes 0x0-4/10"}, {v: "bytes=0-4/10"},
	} {
		off, end, size, ok := contentRange(row.v)
		if ok != row.ok || ok && (off != row.off || end != row.end || size != row.size) {
			t.Errorf("%q: [%d, %d) of %d, %v", row.v, off, end, size, ok)
		}
	}
}

func TestRetryAfterField(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, row := range []struct {
		v, date string
		want    time.Duration
	}{
		{"0", "", 0}, {"7", "", 7 * time.Second}, {" 120 ", "", 2 * time.Minute}, {"999999999999999999999", "", mostAfter}, {"99999999", "", mostAfter},
		{"Fri, 02 Jan 2026 03:05:05 GMT", "", time.Minute},
		{"Fri, 02 Jan 2026 03:05:05 GMT", "Fri, 02 Jan 2026 03:05:00 GMT", 5 * time.Second}, // the server's clock
		{"Fri, 02 Jan 2026 03:05:05 GMT", "yesterday", time.Minute},
		{"Friday, 02-Jan-26 03:05:05 GMT", "", time.Minute}, {"Fri Jan  2 03:05:05 2026", "", time.Minute},
		{"Thu, 01 Jan 2026 00:00:00 GMT", "", 0}, {"Fri, 02 Jan 2099 03:05:05 GMT", "", mostAfter},
		{"", "", 0}, {"-5", "", 0}, {"1.5", "", 0}, {"soon", "", 0},
	} {
		if got := retryAfter(http.Header{"Retry-After": {row.v}, "Date": {row.date}}, now); got != row.want {
			t.Errorf("%q: %v, want %v", row.v, got, row.want)
		}
	}
}

func TestStatusError(t *testing.T) {
	t.Parallel()
	for code := 100; code < 1000; code++ {
		var kind error
		again := false
		switch code {
		case 404, 410:
			kind = ErrNotFound
		case 401, 403, 407, 451:
			kind = ErrDenied
		case 412, 416:
			kind = ErrChanged
		case 507:
			kind = ErrFull
		case 408, 425, 429, 500, 502, 503, 504, 509, 520, 599:
			kind, again = ErrUnavailable, true
		}
		e := statusError("https://me:"+password+"@h/x?sig="+password, &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {"3"}}})
		presentable(t, e)
		if e.Kind == nil || e.Status != code || kind != nil && (e.Kind != kind || e.Again != again) || e.Again != (e.After == 3*time.Second) {
			t.Errorf("%d: %+v", code, e)
		}
	}
}

// Who is denied is told what may be missing, whatever the name shows.
func TestDeniedHints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		code int
		want string
	}{
		{"https://h/x", 401, "does it want a user?"},
		{"https://h/x", 403, "it is not for everybody"},
		{"https://me:" + password + "@h/x", 401, "are the user and the password in the URL right?"},
		{"https://me:" + password + "@h/x", 403, "are the user and the password in the URL right?"},
		{"https://h/x?X-Amz-Signature=" + password, 403, "a signed URL ends after a while"},
		{"https://h/x", 451, ""},
		{"s3://bucket/x", 403, ""},
	} {
		hint := statusError(row.name, &http.Response{StatusCode: row.code}).Hint
		if !strings.HasPrefix(hint, row.want) || row.want == "" && hint != "" {
			t.Errorf("%s, %d: %q, want %q", row.name, row.code, hint, row.want)
		}
	}
}

func TestLooksLikePage(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		page: true, "<html>": true, "<HTML lang=en>": true, "\ufeff<!doctype HTML>": true, "<html": true,
		"": false, "<": false, "<htmlx>": false, "<?xml version=\"1.0\"?>": false, "a,b\n<html>": false, "<!doctype svg>": false, "{}": false,
	} {
		if looksLikePage([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}

func TestIsStrong(t *testing.T) {
	t.Parallel()
	for etag, want := range map[string]bool{`"a"`: true, `"a-1"`: true, `W/"a"`: false, `a`: false, `""`: false, `"`: false, ``: false, `"a"b"`: false, `"a", "b"`: false} {
		if isStrong(etag) != want {
			t.Errorf("%s: %v", etag, !want)
		}
	}
}

// What headers and URLs hold is anything. What parses says the same when it is written again.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{
		"bytes 0-9/10", "bytes 5-9/*", "bytes */10", "120", "Fri, 02 Jan 2026 03:05:05 GMT", "sha-256=:AAAA:, md5=AA==", `W/"a"`, `"a"`, "text/html; charset=x",
		"https://me:" + password + "@host/a?sig=x;token=y&st=z#f", "https://h/?X-Amz-Signature=x", "http://[::1", "s3://b/\x1b", page,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if off, end, size, ok := contentRange(s); ok {
			total := "*"
			if size >= 0 {
				total = fmt.Sprint(size)
			}
			again := fmt.Sprintf("bytes %d-%d/%s", off, end-1, total)
			if off < 0 {
				again = "bytes */" + total
			}
			if o, e, n, ok := contentRange(again); !ok || o != off || e != end || n != size || off >= end && off >= 0 || size >= 0 && end > size {
				t.Errorf("%q is [%d, %d) of %d, and %q is [%d, %d) of %d", s, off, end, size, again, o, e, n)
			}
		}
		h := http.Header{}
		for _, name := range []string{"Retry-After", "Date", "Repr-Digest", "Digest", "X-Goog-Hash", "Content-Md5", "X-Amz-Checksum-Crc32", "Content-Encoding", "Content-Type", "Last-Modified"} {
			h.Set(name, s)
		}
		if d := retryAfter(h, time.Unix(1e9, 0)); d < 0 || d > mostAfter {
			t.Errorf("%q is %v", s, d)
		}
		for _, part := range []bool{false, true} {
			if sum := headerSum(h, part); sum != (Sum{}) && sum.NewHash() == nil {
				t.Errorf("%q is %v", s, sum)
			}
		}
		isHTML(&http.Response{Header: h})
		lastModified(h)
		looksLikePage([]byte(s))
		if isStrong(s) && strings.Count(s, `"`) != 2 {
			t.Errorf("%q is an ETag", s)
		}
		shown := Redact(s)
		if strings.ContainsFunc(shown, unprintable) {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if again := Redact(shown); again != shown {
			t.Errorf("%q is shown as %q, and that as %q", s, shown, again)
		}
		if u, err := url.Parse(s); err == nil && isHTTP(s) && u.User != nil {
			if v, err := url.Parse(shown); err == nil && v.User != nil {
				t.Errorf("%q is shown with a user: %q", s, shown)
			}
		}
		if line := clean(s); len(line) > 2*len(s)+3 || strings.ContainsFunc(line, unprintable) {
			t.Errorf("%q is %q", s, line)
		}
	})
}
