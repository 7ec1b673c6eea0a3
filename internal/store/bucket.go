package store

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Limits of answers other than the bytes of objects.
const (
	// maxPage bounds one page of a list. A thousand names of the greatest length, each byte of them
	// escaped, take 4 MiB.
	maxPage = 16 << 20
	// maxAnswer bounds the attributes of one object, the text of an error and a token.
	maxAnswer = 64 << 10
	// maxEmptyPages bounds the pages in a row without a name. Services send some, for names that a filter
	// drops; a hostile one sends them for ever.
	maxEmptyPages = 1000
)

// splitBucket parses scheme://bucket/key. Everything after the bucket's slash is the key, literally:
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

// listed returns the URL of an object with that key in a list of prefix.
func listed(prefix, key string) string {
	begin, _, end := parts(prefix)
	return begin + key + end
}

// parts splits a prefix: s3://bucket/, what keys begin with, and ?provider= of an ais: URL.
func parts(prefix string) (begin, keys, end string) {
	url, _ := SplitProvider(prefix)
	scheme, rest, _ := strings.Cut(url, "://")
	bucket, keys, _ := strings.Cut(rest, "/")
	return scheme + "://" + bucket + "/", keys, prefix[len(url):]
}

// saidCredential matches credentials of the request in the text of a service.
var saidCredential = regexp.MustCompile(`(?i)\b(?:(credential|signature)=[^\s,;&"'<>]+|(bearer) [\w.~+/=-]{16,})`)

// said makes the text of a service one short line without the secrets of the request, which some
// services send back.
func said(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 8 {
			text = strings.ReplaceAll(text, secret, redacted)
		}
	}
	text = saidCredential.ReplaceAllString(text, "$1$2 "+redacted)
	return strings.TrimSuffix(clean(strings.Join(strings.Fields(text), " ")), ".")
}
