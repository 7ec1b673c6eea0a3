package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// mostAfter bounds what a Retry-After may say, so that sums of times cannot overflow. It is
// more than anybody waits.
const mostAfter = 7 * 24 * time.Hour

// statusError says what a reply that is no success means. It leaves the body alone, which its
// caller closes.
func statusError(name string, resp *http.Response) *Error {
	e := &Error{URL: Redact(name), Status: resp.StatusCode, Err: statusText(resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind = ErrNotFound
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusUnavailableForLegalReasons:
		e.Kind = ErrDenied
		e.Hint = deniedHint(name, resp)
	case code == http.StatusProxyAuthRequired:
		e.Kind, e.Hint = ErrDenied, proxyHint
	case code == http.StatusPreconditionFailed, code == http.StatusRequestedRangeNotSatisfiable:
		e.Kind, e.Hint = ErrChanged, againHint
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusTooManyRequests,
		code >= 500 && code != http.StatusNotImplemented && code != http.StatusHTTPVersionNotSupported && code != http.StatusNetworkAuthenticationRequired:
		e.Kind, e.Again = ErrUnavailable, true
		e.After = retryAfter(resp.Header, time.Now())
	case code/100 == 3:
		e.Kind, e.Hint = ErrRedirect, redirectHint
		e.Err = fmt.Errorf("%w without a place to go to", e.Err)
	case code == http.StatusBadRequest, code == http.StatusRequestURITooLong:
		e.Kind = ErrURL
	default:
		e.Kind = ErrSetting
	}
	return e
}

const (
	redirectHint = "see where it leads, as by curl -I, and name that"

	againHint = "run again once nothing writes to it"
	proxyHint = "the proxy wants a user: HTTPS_PROXY=http://user:password@host:port"
)

// deniedHint says what a web server may have missed. Other services have words of their own.
func deniedHint(name string, resp *http.Response) string {
	u, err := url.Parse(name)
	switch {
	case err != nil || !isHTTP(name):
	case resp.Request != nil && hostPort(resp.Request.URL) != hostPort(u):
		return fmt.Sprintf("it leads to %s, which gets no credentials: name that", clean(Redact(resp.Request.URL.String())))
	case signed(name):
		return "a signed URL ends after a while: make a new one"
	case u.User != nil:
		return "are the user and the password in the URL right?"
	case resp.StatusCode == http.StatusUnauthorized:
		return "does it want a user? https://user:password@host/path"
	case resp.StatusCode == http.StatusForbidden:
		return "it is not for everybody: name it by a signed URL, or as https://user:password@host/path"
	}
	return ""
}

func statusText(code int) error {
	if text := http.StatusText(code); text != "" {
		return fmt.Errorf("HTTP %d %s", code, text)
	}
	return fmt.Errorf("HTTP %d", code)
}

// retryAfter reads Retry-After, RFC 9110, 10.2.3: seconds, or a date, which is compared with
// the server's own where it says it. 0: it says nothing, or nothing sensible.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if isDigits(v) {
		seconds, err := strconv.ParseInt(v, 10, 64)
		if err != nil || seconds > int64(mostAfter/time.Second) {
			return mostAfter
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return min(max(at.Sub(now), 0), mostAfter)
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
