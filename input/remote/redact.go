package remote

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const redacted = "REDACTED"

// Redact makes a URL fit to be shown and to be written down, on one line: without user and
// password and, for http and https, without a fragment and with REDACTED for the values of
// those parameters that sign it or that look like a secret; URLs in parameters alike. When it was signed and how long
// that lasts is left out, so that two signed URLs of one object are the same text.
//
// Text that is no URL is treated alike, as far as it goes.
func Redact(url string) string {
	return printable(rewrite(url, func(string) string { return redacted }, 0))
}

// Identity is Redact for telling objects apart, not to be shown: what merely looks like a
// secret may be the name of the object (?key=a.tar), so eight bytes of its SHA-256 stand for it.
func Identity(url string) string {
	return rewrite(url, func(secret string) string {
		sum := sha256.Sum256([]byte(secret))
		return fmt.Sprintf("%s-%x", redacted, sum[:8])
	}, 0)
}

// mostNested is how many URLs in one another are looked into: what is deeper is a secret.
const mostNested = 3

func rewrite(text string, secretValue func(string) string, nested int) string {
	if !isHTTP(text) { // "?" and "#" are letters of a key there
		return withoutSignature(withoutUser(text))
	}
	if isBroken(text) { // by a user or password with one of /?# in it, which hold no URL together
		scheme, rest, _ := strings.Cut(text, "://")
		text = scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	text, _, _ = strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	var b strings.Builder
	b.WriteString(withoutUser(text))
	isSigned := signed("?" + query)
	sep := "?"
	for param := range params(query) {
		name, value, _ := strings.Cut(param, "=")
		switch classify(name) {
		case stamp:
			continue
		case validity:
			if isSigned {
				continue
			}
		case signature:
			param = name + "=" + redacted
		case secret:
			param = name + "=" + secretValue(value)
		case ordinary:
			inner, err := url.QueryUnescape(value)
			switch {
			case err != nil || !isHTTP(inner):
			case nested == mostNested:
				param = name + "=" + secretValue(value)
			default: // of a proxy, or a redirection: it has secrets of its own
				if shown := rewrite(inner, secretValue, nested+1); shown != inner {
					param = name + "=" + url.QueryEscape(shown)
				}
			}
		}
		b.WriteString(sep)
		b.WriteString(param)
		sep = "&"
	}
	return b.String()
}

func isHTTP(text string) bool {
	s := schemeOf(text)
	return s == "http" || s == "https"
}

// schemeOf is what stands before "://", in lower case; "" where that stands nowhere.
func schemeOf(text string) string {
	scheme, _, ok := strings.Cut(text, "://")
	if !ok {
		return ""
	}
	return strings.ToLower(scheme)
}

// isBroken tells what is written like a URL of http and is none.
func isBroken(text string) bool {
	u, err := url.Parse(text)
	return err != nil || u.Host == ""
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

// withoutSignature leaves out what signs the name of an object, which is refused: see splitBucket.
func withoutSignature(text string) string {
	if i := signatureAt(text); i >= 0 {
		return text[:i] + "?" + redacted
	}
	return text
}

// signatureAt is where the signature of a URL of https: begins that somebody has made one of a
// bucket; -1: nowhere.
func signatureAt(text string) int {
	lower := strings.ToLower(text)
	for _, start := range []string{"?x-amz-", "?x-goog-"} {
		if i := strings.Index(lower, start); i >= 0 {
			return i
		}
	}
	return -1
}

// signed tells a URL that holds its own credentials.
func signed(url string) bool {
	_, query, _ := strings.Cut(url, "?")
	for param := range params(query) {
		name, _, _ := strings.Cut(param, "=")
		if classify(name) == signature {
			return true
		}
	}
	return false
}

// params yields the parameters of a query, by either separator that servers know.
func params(query string) iter.Seq[string] {
	return strings.FieldsFuncSeq(query, func(r rune) bool { return r == '&' || r == ';' })
}

// printable escapes what could forge a line or drive a terminal, as URLs do.
func printable(s string) string {
	if !strings.ContainsFunc(s, unprintable) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || unprintable(r) {
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
