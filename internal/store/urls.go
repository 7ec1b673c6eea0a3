package store

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
)

const redacted = "REDACTED"

// Redact returns a URL for messages and manifests, on one line: without user and password and, for http
// and https, without fragment, and with REDACTED for the values of parameters that sign it, that look
// like a secret, or that contain a URL. Time and validity of a signature are removed, so that two
// signed URLs of one object become the same text.
//
// Text that is not a URL is treated the same way as far as possible.
func Redact(url string) string {
	return printable(rewrite(url, func(string) string { return redacted }))
}

// Identity is Redact for comparing objects, not for messages. A parameter that looks like a secret may
// name the object (?key=a.tar), so Identity adds eight bytes of the SHA-256 of its value.
func Identity(url string) string {
	return rewrite(url, func(secret string) string {
		sum := sha256.Sum256([]byte(secret))
		return fmt.Sprintf("%s-%x", redacted, sum[:8])
	})
}

// Names of query parameters of signed URLs, in lower case: AWS signatures 4 and 2, Google, Azure shared access
// signatures, CloudFront, Alibaba, Akamai.
var (
	signature = text.Pattern(`^(x-(amz|goog|oss)-(signature|credential|security-token)|(aws|oss)accesskeyid|googleaccessid|` +
		`sig(nature)?|skoid|sktid|key-pair-id|policy|hdnts|hdnea|hmac)$`)
	validity  = text.Pattern(`^(x-(amz|goog|oss)-(date|expires|signedheaders)|expires|expiry|exp|st|se|skt|ske)$`) // only in a signed URL
	secret    = text.Pattern(`token|secret|passw|passphrase|auth|sign|credential|session|api[_-]?key|access_?key|private|^(key|code|jwt|sid|pwd?)$`)
	nestedURL = text.Pattern(`(?i)(:|%(25)*3a)(/|%(25)*2f)`) // however often it is escaped

	// signedName matches the start of a signature. It belongs in an https: URL, not in one with a bucket.
	signedName = text.Pattern(`(?i)\?x-(amz|goog)-`)
)

func rewrite(text string, secretValue func(string) string) string {
	if !isHTTP(text) { // in a key "?" and "#" are ordinary characters
		text = withoutUser(text)
		if at := signedName().FindStringIndex(text); at != nil {
			text = text[:at[0]] + "?" + redacted
		}
		return text
	}
	if u, err := url.Parse(text); err != nil || u.Host == "" { // a user or password that contains one of /?#
		scheme, rest, _ := strings.Cut(text, "://")
		text = scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
	}
	isSigned := signed(text)
	text, _, _ = strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	var shown []string
	for _, p := range params(query) {
		switch {
		case signature().MatchString(p.name):
			shown = append(shown, p.written+"="+redacted)
		case isSigned && validity().MatchString(p.name):
		case secret().MatchString(p.name) || nestedURL().MatchString(p.value):
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

// A param is a parameter of a query. Of "%53ig=x" the members are "%53ig=x", "%53ig", "sig" and "x".
type param struct{ text, written, name, value string }

// params returns the parameters of a query, separated by & or ;.
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

func signed(url string) bool {
	url, _, _ = strings.Cut(url, "#")
	_, query, _ := strings.Cut(url, "?")
	for _, p := range params(query) {
		if signature().MatchString(p.name) {
			return true
		}
	}
	return false
}

func isHTTP(text string) bool {
	s := schemeOf(text)
	return s == "http" || s == "https"
}

// schemeOf returns the text before "://" in lower case; "" if there is none.
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
		if scheme, rest, ok = strings.Cut(text, ":"); ok && Supports(strings.ToLower(scheme)) { // the user forgot the slashes
			return scheme + ":" + rest[strings.LastIndexByte(rest, '@')+1:]
		}
		return text
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if !isHTTP(text) && strings.Contains(authority, ":") && !strings.Contains(authority, "@") {
		authority, path = rest, "" // a bucket has no colon: this is a password that contains a slash
	}
	return scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + path
}

// printable escapes line breaks and control characters as URLs do.
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

// Limits of replies other than the bytes of objects.
const (
	// maxPage caps one page of a list. A thousand names of the greatest length, with every byte
	// escaped, take 4 MiB.
	maxPage = 16 << 20
	// maxAnswer caps the attributes of one object, the text of an error and a token.
	maxAnswer = 64 << 10
	// maxEmptyPages caps consecutive pages without a name. Services send some when a filter drops all names of a
	// page; a hostile service could send them for ever.
	maxEmptyPages = 1000
)

// splitBucket parses scheme://bucket/key. The key is everything after the slash that follows the bucket, literally:
// "?", "#", "%" and "+" are not special, as in the tools of the services and in webdataset. partial
// allows an empty key, for lists.
func splitBucket(url string, partial bool) (bucket, key string, err *Error) {
	bad := func(hint, format string, args ...any) (string, string, *Error) {
		return "", "", &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf(format, args...), Hint: hint}
	}
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return bad("", "it has no scheme")
	}
	bucket, key, _ = strings.Cut(rest, "/")
	switch {
	case signedName().MatchString(key):
		return bad("a signed URL begins with https:", "it holds a signature")
	case bucket == "":
		return bad(fmt.Sprintf("as in %s://bucket/key", scheme), "it names no bucket")
	case strings.Contains(bucket, "@"):
		return bad("credentials come from the environment and from profiles", "a user stands before its bucket")
	case !utf8.ValidString(rest):
		return bad("", "it is not UTF-8")
	case key == "" && !partial:
		return bad(fmt.Sprintf("as in %s://%s/key", scheme, bucket), "it names no object")
	}
	return bucket, key, nil
}

// listed returns the URL of the object with a key in the bucket of prefix.
func listed(prefix, key string) string {
	begin, _, end := parts(prefix)
	return begin + key + end
}

// parts splits a prefix into s3://bucket/, the prefix of the keys, and the ?provider= of an ais: URL.
func parts(prefix string) (begin, keys, end string) {
	url, _ := SplitProvider(prefix)
	scheme, rest, _ := strings.Cut(url, "://")
	bucket, keys, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket + "/", keys, prefix[len(url):]
}

// sentCredential matches credentials of the request in the text of a service.
var sentCredential = text.Pattern(`(?i)\b(?:(credential|signature)=[^\s,;&"'<>]+|(bearer) [\w.~+/=-]{16,})`)

// serviceText makes the text of a service one short line without the secrets of the request, which some
// services send back.
func serviceText(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 8 {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = sentCredential().ReplaceAllString(text, "$1$2 "+redacted)
	return strings.TrimSuffix(clean(strings.Join(strings.Fields(text), " ")), ".")
}
