package remote

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What a service may answer in place of an object's bytes.
const (
	// maxPage bounds one page of a list. A thousand names of the longest kind, each byte of
	// them escaped, take 4 MiB.
	maxPage = 16 << 20
	// maxAnswer bounds the description of one object, the text of an error and a token.
	maxAnswer = 64 << 10
	// maxEmptyPages is how many pages in a row may bring no name: services leave out what a
	// filter drops, but a list that never comes to its end is not one.
	maxEmptyPages = 1000
)

// splitBucket takes scheme://bucket/key apart. Everything after the bucket's slash is the
// key, letter for letter: "?", "#", "%" and "+" stand for themselves, as they do in the
// tools of the services and in webdataset. partial allows an empty key, for lists.
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
	case signedName.MatchString(key):
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

// saidCredential is what signed the request, where a service sends its headers back.
var saidCredential = regexp.MustCompile(`(?i)\b(?:(credential|signature)=[^\s,;&"'<>]+|(bearer) [\w.~+/=-]{16,})`)

// said makes the text of a service fit for an error: one short line without the secrets,
// which some services send back.
func said(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 8 {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = saidCredential.ReplaceAllString(text, "$1$2 "+redacted)
	return strings.TrimSuffix(clean(strings.Join(strings.Fields(text), " ")), ".")
}
