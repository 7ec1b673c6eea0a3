package remote

import (
	"errors"
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
	case signatureAt(key) >= 0:
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

// A sequence checks that a list comes in the order of code points, each name once: the
// caller merges lists and finds repeated names by it, and a list that goes backwards may
// never end.
type sequence struct {
	last    string
	started bool
}

func (s *sequence) next(prefix, key string) error {
	if !strings.HasPrefix(key, prefix) {
		return fmt.Errorf("the list of %q holds %q", prefix, key)
	}
	if s.started && key <= s.last {
		return fmt.Errorf("the list is not in order: %q comes after %q", key, s.last)
	}
	s.last, s.started = key, true
	return nil
}

// hintUnordered goes with what a sequence refuses.
const hintUnordered = "name the objects one by one, or by {000..999}"

var errEndless = errors.New("the list does not come to an end")

// env is a variable of the environment that the options name; one that is empty counts as
// unset.
func (o Options) env(key string) string {
	value, _ := o.lookupEnv(key)
	return strings.TrimSpace(value)
}

// firstEnv is the first of the variables that is set, and its name.
func (o Options) firstEnv(keys ...string) (value, key string) {
	for _, key := range keys {
		if value := o.env(key); value != "" {
			return value, key
		}
	}
	return "", ""
}

// flagEnv tells whether a variable says yes.
func (o Options) flagEnv(key string) bool {
	switch strings.ToLower(o.env(key)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// home is where ~ leads; "" where nothing says.
func (o Options) home() string {
	dir, _ := o.firstEnv("HOME", "USERPROFILE")
	return dir
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
