package remote

import (
	"errors"
	"fmt"
	"iter"
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

// An item is an object of a list under its name in the bucket. Its URL is left to [pages].
type item struct {
	name string
	Object
}

// pages yields the objects of a list whose names begin with that of prefix, page by page. page asks
// for the one after token, "" for the first, and says the token of the next, "" at the end. url is
// prefix or, of an AIStore, what comes before its query, which goes to the end of each URL.
//
// A list comes in the order of code points, each name once: the caller merges lists and finds
// repeated names by it, and a list that goes backwards may never end.
func pages(prefix, url string, page func(names, token string) (items []item, next string, err error)) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		bucket, names, bad := splitBucket(url, true)
		if bad != nil {
			yield(Object{}, bad)
			return
		}
		scheme, _, _ := strings.Cut(url, "://")
		last, started, empty := "", false, 0
		for token := ""; ; {
			items, next, err := page(names, token)
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, i := range items {
				switch {
				case !strings.HasPrefix(i.name, names):
					err = fmt.Errorf("the list of %q holds %q", names, i.name)
				case started && i.name <= last:
					err = fmt.Errorf("the list is not in order: %q comes after %q", i.name, last)
				}
				if err != nil {
					yield(Object{}, noList(prefix, err))
					return
				}
				i.URL = scheme + "://" + bucket + "/" + i.name + prefix[len(url):]
				if last, started, empty = i.name, true, 0; !yield(i.Object, nil) {
					return
				}
			}
			if empty++; empty > maxEmptyPages {
				yield(Object{}, noList(prefix, errors.New("the list does not come to an end")))
				return
			}
			if token = next; token == "" {
				return
			}
		}
	}
}

// hintUnordered goes with what pages refuses.
const hintUnordered = "name the objects one by one, or by {000..999}"

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
