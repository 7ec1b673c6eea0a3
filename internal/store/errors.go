package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Kinds of failure. Every error of this package is an [*Error] that wraps one of them, an
// operating system error, or the cause of a cancelled context.
var (
	ErrURL         = place.New(place.Usage, "bad URL")                               // a mistake on the command line
	ErrNoList      = place.New(place.Usage, "the service gives no lists")            // so patterns cannot be expanded
	ErrNotFound    = place.New(place.Refused, "no such object")                      // 404; also a missing bucket
	ErrDenied      = place.New(place.Refused, "access denied")                       // 401, 403, no or expired credentials
	ErrSetting     = place.New(place.Usage, "wrong setting")                         // wrong region, endpoint, path style
	ErrPage        = place.New(place.Refused, "an HTML page in place of data")       // an error or login page
	ErrChanged     = place.New(place.Refused, "changed while it was being fetched")  // its version or size differs
	ErrLength      = place.New(place.Refused, "wrong length")                        // differs from Content-Length or from Stat
	ErrSum         = place.New(place.Refused, "wrong checksum")                      // differs from the checksum of the service
	ErrUnavailable = place.New(place.IO, "the service does not answer")              // network, 429, 5xx, after all retries
	ErrTLS         = place.New(place.Refused, "the server's identity is not proven") // certificate, TLS version
	ErrExists      = place.New(place.Refused, "an object of that name is there")     // Put with Upload.New
	ErrFull        = place.New(place.IO, "the service has no room for it")           // a quota, a full disk, 507
	ErrRedirect    = place.New(place.Refused, "refused to be redirected")            // too many, or to another scheme
)

// An Error describes a failure and names the object. It prints on one line.
type Error struct {
	URL    string // redacted
	Kind   error  // one of the above; nil: see Err
	Status int    // of HTTP; 0: there was no reply
	Err    error  // the details; may be nil
	Hint   string // what the user can do, see [place.Error]; may be empty

	Again bool          // a retry may succeed
	After time.Duration // Retry-After, the least wait before a retry; 0: the service sent none

	code string // error code of S3; "": none
	page bool   // a page of a list has wrong or unsorted names
}

const hintAnonymous = "option anonymous for a public bucket"

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.URL)
	b.WriteString(": ")
	b.WriteString(e.Problem())
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Problem returns the text of the error without the URL and the hint.
func (e *Error) Problem() string {
	switch {
	case e.Kind != nil && e.Err != nil:
		return fmt.Sprintf("%v: %v", e.Kind, e.Err)
	case e.Kind != nil:
		return e.Kind.Error()
	}
	return fmt.Sprint(e.Err)
}

func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.Err}, func(err error) bool { return err == nil })
}

// mostAfter caps Retry-After, so that sums of times cannot overflow. No caller waits that long.
const mostAfter = 7 * 24 * time.Hour

// refuse makes an error about a reply, with its status.
func refuse(url string, resp *http.Response, kind error, format string, args ...any) *Error {
	return &Error{URL: Redact(url), Kind: kind, Status: resp.StatusCode, Err: fmt.Errorf(format, args...)}
}

// hint sets what to do about the error.
func (e *Error) hint(hint string) *Error {
	e.Hint = hint
	return e
}

// again marks the error: a retry may succeed.
func (e *Error) again() *Error {
	e.Again = true
	return e
}

// gotOther returns the error of a reply with the checksum of other bytes than were sent.
func gotOther(url string, resp *http.Response) *Error {
	return refuse(url, resp, ErrSum, "it has got other bytes than were sent").hint("a proxy in between? a damaged service?").again()
}

// statusError makes the error of a reply without success. The caller reads and closes the body.
func statusError(name string, resp *http.Response) *Error {
	e := &Error{URL: Redact(name), Status: resp.StatusCode, Err: statusText(resp.StatusCode)}
	switch code := resp.StatusCode; {
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind = ErrNotFound
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusUnavailableForLegalReasons:
		e.Kind = ErrDenied
		e.Hint = deniedHint(name, resp)
	case code == http.StatusInsufficientStorage:
		e.Kind, e.Hint = ErrFull, fullHint
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

	fullHint  = "run again when there is room"
	againHint = "run again once nothing writes to it"
	proxyHint = "the proxy wants a user: HTTPS_PROXY=http://user:password@host:port"
)

// deniedHint suggests which credentials a web server may require; "" for other services.
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
	return errors.New(strings.TrimSpace(fmt.Sprintf("HTTP %d %s", code, http.StatusText(code))))
}

// retryAfter parses Retry-After, RFC 9110, 10.2.3: seconds, or a date, which is relative to the server's
// Date header or, without one, to now. 0: the header is missing or malformed.
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

// transportError converts an error of net/http or of reading a body. An unknown error allows a retry.
// The caller must check first whether the context has ended.
func transportError(url string, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok { // from a store, or from a proxy
		placed := *e
		placed.URL = Redact(url)
		return &placed
	}
	err = withoutURL(err)
	e := &Error{URL: Redact(url), Kind: ErrUnavailable, Err: detail{err}}
	hint, kind := identityProblem(err)
	switch {
	case kind != nil:
		e.Kind, e.Hint = kind, hint
	case errors.Is(err, context.Canceled):
	case errors.Is(err, ErrRedirect): // from redirect, with its own text
		e.Kind, e.Err, e.Hint = nil, err, redirectHint
	case errors.Is(err, ErrSetting): // from proxy, with its own text
		e.Kind, e.Err = nil, err
	case noSuchHost(err):
		e.Hint = "is the name of the host right?"
	case strings.Contains(err.Error(), "invalid header field value"): // net/http does not quote the value
		e.Kind, e.Hint = ErrSetting, "a key, a token or a password has a line break in it, or the like: set it anew"
	case strings.Contains(err.Error(), "malformed HTTP"):
		e.Kind, e.Hint = ErrSetting, "is that a web server? one that wants https:?"
	default:
		e.Again = true
	}
	return e
}

// identityProblem returns the kind and the hint for an error of TLS; kind is nil for other errors.
func identityProblem(err error) (hint string, kind error) {
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "where you trust it, name a file with the certificate of its authority in SSL_CERT_FILE", ErrTLS
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "its certificate is for another name: ask it by that one", ErrTLS
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return "is this machine's clock right? if so, the server needs a new certificate", ErrTLS
		}
		return "its certificate is not valid", ErrTLS
	}
	if _, ok := errors.AsType[x509.SystemRootsError](err); ok {
		return "this machine knows no authorities: install ca-certificates, or set SSL_CERT_FILE", ErrTLS
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		return "it speaks no TLS there: is the port right, or is it http:?", ErrTLS
	}
	_, invalid := errors.AsType[*tls.CertificateVerificationError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	late, isNet := errors.AsType[net.Error](err)
	if invalid || alert || strings.Contains(err.Error(), "tls: ") && !(isNet && late.Timeout()) {
		return "a proxy in between, or a server that is out of date?", ErrTLS
	}
	return "", nil
}

func noSuchHost(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

// withoutURL unwraps errors of net/http that quote URLs.
func withoutURL(err error) error {
	for {
		e, ok := errors.AsType[*url.Error](err)
		if !ok {
			return err
		}
		err = e.Err
	}
}

// A detail prints an error of a library on one short line.
type detail struct{ error }

func (d detail) Error() string { return clean(d.error.Error()) }
func (d detail) Unwrap() error { return d.error }

// clean makes the text of a service or a library printable: at most 300 bytes, without line breaks and control
// characters.
func clean(s string) string {
	const most = 300 // bytes
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '·'
		}
		return r
	}, strings.ToValidUTF8(s, "·"))
}

// Silent reports whether [Client.Stat] failed without a reply: the service cannot be reached, or the client has no
// address or no credentials for it.
func Silent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == 0 && (e.Kind == ErrUnavailable || e.Kind == ErrSetting || e.Kind == ErrDenied)
}
