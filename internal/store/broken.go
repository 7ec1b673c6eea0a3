package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// transportError makes an [*Error] of an error of net/http, or of a body. After an unknown error
// another attempt may succeed. The caller checks first whether the context has ended.
func transportError(url string, err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok { // of a store, or of a proxy
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
	case errors.Is(err, ErrRedirect): // made by redirect, and complete
		e.Kind, e.Err, e.Hint = nil, err, redirectHint
	case errors.Is(err, ErrSetting): // made by proxy, and complete
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

// identityProblem returns kind and hint of an error of TLS; nil for other errors.
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
	if invalid || alert || strings.Contains(err.Error(), "tls: ") && !isTimeout(err) {
		return "a proxy in between, or a server that is out of date?", ErrTLS
	}
	return "", nil
}

func noSuchHost(err error) bool {
	e, ok := errors.AsType[*net.DNSError](err)
	return ok && e.IsNotFound
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[net.Error](err)
	return ok && e.Timeout()
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

// A detail is an error of a library, printed on one short line.
type detail struct{ error }

func (d detail) Error() string { return clean(d.error.Error()) }
func (d detail) Unwrap() error { return d.error }

// clean shortens the text of a service or a library, and replaces line breaks and control characters.
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

// Silent reports whether an error of [Client.Stat] means that no service has answered: it is not reached, or is not asked for want of an address or of
// credentials.
func Silent(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == 0 && (e.Kind == ErrUnavailable || e.Kind == ErrSetting || e.Kind == ErrDenied)
}
