package remote

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const redacted = "REDACTED"

// Redact makes a URL fit to be shown and to be written down, on one line: without user and
// password and, for http and https, without a fragment and with REDACTED for the values of
// those parameters that sign it, that look like a secret, or that hold a URL. When it was signed and how
// long that lasts is left out, so that two signed URLs of one object are the same text.
//
// Text that is not a URL is treated alike, as far as it goes.
func Redact(url string) string {
	return printable(rewrite(url, func(string) string { return redacted }))
}

// Identity is Redact for telling objects apart, not to be shown: what merely looks like a
// secret may be the name of the object (?key=a.tar), so eight bytes of its SHA-256 stand for it.
func Identity(url string) string {
	return rewrite(url, func(secret string) string {
		sum := sha256.Sum256([]byte(secret))
		return fmt.Sprintf("%s-%x", redacted, sum[:8])
	})
}

// The parameters of signed URLs are of AWS signatures 4 and 2, Google's, Azure's shared access
// signatures, CloudFront's, Alibaba's and Akamai's. The names are in lower case.
var (
	signature = regexp.MustCompile(`^(x-(amz|goog|oss)-(signature|credential|security-token)|(aws|oss)accesskeyid|googleaccessid|` +
		`sig(nature)?|skoid|sktid|key-pair-id|policy|hdnts|hdnea|hmac)$`)
	validity  = regexp.MustCompile(`^(x-(amz|goog|oss)-(date|expires|signedheaders)|expires|expiry|exp|st|se|skt|ske)$`) // where it is signed
	secret    = regexp.MustCompile(`token|secret|passw|passphrase|auth|sign|credential|session|api[_-]?key|access_?key|private|^(key|code|jwt|sid|pwd?)$`)
	nestedURL = regexp.MustCompile(`(?i)(:|%(25)*3a)(/|%(25)*2f)`) // however often it is escaped

	// signedName begins the signature of a URL of https: that was made one of a bucket, which is refused.
	signedName = regexp.MustCompile(`(?i)\?x-(amz|goog)-`)
)

func rewrite(text string, secretValue func(string) string) string {
	if !isHTTP(text) { // "?" and "#" are letters of a key there
		text = withoutUser(text)
		if at := signedName.FindStringIndex(text); at != nil {
			text = text[:at[0]] + "?" + redacted
		}
		return text
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" { // a user or password with one of /?# in it
		scheme, rest, _ := strings.Cut(text, "://")
		text = scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	isSigned := signed(text)
	text, _, _ = strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	var shown []string
	for _, p := range params(query) {
		switch {
		case signature.MatchString(p.name):
			shown = append(shown, p.written+"="+redacted)
		case isSigned && validity.MatchString(p.name):
		case secret.MatchString(p.name) || nestedURL.MatchString(p.value):
			shown = append(shown, p.written+"="+secretValue(p.value))
		default:
			shown = append(shown, p.text)
		}
	}
	if text = withoutUser(text); len(shown) > 0 {
		text += "?" + strings.Join(shown, "&")
	}
	return text
}

// A param is one parameter of a query, such as "%53ig=x": text, "%53ig", "sig" and "x".
type param struct{ text, written, name, value string }

// params are the parameters of a query, by either separator that servers know.
func params(query string) (all []param) {
	for text := range strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' }) {
		written, value, _ := strings.Cut(text, "=")
		name, err := url.QueryUnescape(written)
		if err != nil {
			name = written
		}
		all = append(all, param{text, written, strings.ToLower(name), value})
	}
	return all
}

// signed tells a URL that holds its own credentials.
func signed(url string) bool {
	url, _, _ = strings.Cut(url, "#")
	_, query, _ := strings.Cut(url, "?")
	for _, p := range params(query) {
		if signature.MatchString(p.name) {
			return true
		}
	}
	return false
}

func isHTTP(text string) bool {
	s := schemeOf(text)
	return s == "http" || s == "https"
}

// schemeOf is what comes before "://", in lower case; "" where that is not there.
func schemeOf(text string) string {
	scheme, _, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

func withoutUser(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		if scheme, rest, ok = strings.Cut(text, ":"); ok && Supports(strings.ToLower(scheme)) { // slashes are forgotten
			return scheme + ":" + rest[strings.LastIndexByte(rest, '@')+1:]
		}
		return text
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if !isHTTP(text) && strings.Contains(authority, ":") && !strings.Contains(authority, "@") {
		authority, path = rest, "" // no bucket has a colon: a password with a slash in it
	}
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + path
}

// printable escapes what could forge a line or drive a terminal, as URLs do.
func printable(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || unprintable(r) {
			b.WriteString("%" + strings.ReplaceAll(fmt.Sprintf("% X", s[:n]), " ", "%"))
		} else {
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
