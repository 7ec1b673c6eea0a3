package input

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Schemes that are recognized with or without "//", like the schemes of package store. A name with one of them is
// never a file.
var (
	listedSchemes = []string{"s3", "gs", "ais"} // of services that list objects
	otherSchemes  = []string{"file", "pipe", "az", "hf", "htgs", "hdfs", "sftp", "ftps", "scp"}
)

var schemeStart = text.Pattern(`^([A-Za-z][A-Za-z0-9+.-]*):(//)?`)

// schemeOf returns the scheme of a name in lower case, "" for a path. A colon alone does not make a scheme:
// a:b.tar is a file.
func schemeOf(name string) string {
	m := schemeStart().FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	scheme := strings.ToLower(m[1])
	if m[2] != "" || store.Supports(scheme) || slices.Contains(otherSchemes, scheme) {
		return scheme
	}
	return ""
}

// A location is a parsed name: its scheme in lower case, and its path or URL.
type location struct {
	scheme string // "" and "file" are local
	name   string
}

func locate(name string) location {
	scheme := schemeOf(name)
	return location{scheme, scheme + name[len(scheme):]}
}

func (l location) local() bool  { return l.scheme == "" || l.scheme == "file" }
func (l location) remote() bool { return store.Supports(l.scheme) }

// localPaths returns the paths that a local name may mean, the most likely one first.
func (l location) localPaths() []string {
	if l.scheme == "" {
		return []string{l.name}
	}
	return fileURL(l.name[len("file:"):])
}

// supported returns an error for a scheme that opts do not allow. shown is the name for errors.
func (l location) supported(shown string, opts Options) error {
	hint := ""
	switch {
	case l.local():
		return nil
	case opts.Directories && slices.Contains(listedSchemes, l.scheme) && opts.Remote != nil:
		return nil
	case opts.Directories && l.remote() && opts.Remote != nil:
		return place.Refuse(shown, ErrScheme, "name a directory, or a prefix of s3:, gs: or ais:", "%s: gives no lists, so that there are no directories", l.scheme)
	case opts.Directories:
		hint = "copy it to a local directory"
	case l.remote() && opts.Remote != nil, l.scheme == "pipe" && opts.AllowPipe:
		return nil
	case l.scheme == "pipe":
		hint = "it would run a program; option allow-pipe lets it"
	case l.scheme == "az":
		hint = "name it as an https: URL with a SAS token"
	case l.remote():
		hint = "copy it to a local file, or pipe it in and name -"
	default:
		hint = "read it by pipe:COMMAND with option allow-pipe, or pipe it in and name -"
	}
	return place.Refuse(shown, ErrScheme, hint, "%s:", l.scheme)
}

// fileURL returns the paths that the text after "file:" may mean. RFC 8089 escapes bytes as %XX; webdataset does
// not unescape, and reads file://a/b as the relative path a/b. If the two differ, webdataset's path comes first.
func fileURL(rest string) []string {
	path := rest
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		path = after
		if host, _, ok := strings.Cut(after, "/"); ok && strings.EqualFold(host, "localhost") {
			path = after[len(host):]
		}
	}
	paths := []string{path}
	if decoded, err := url.PathUnescape(path); err == nil && decoded != path {
		paths = append(paths, decoded)
	}
	return paths
}

// LocalPath returns the path for the name of an input, false unless it is an existing local file or directory.
func LocalPath(name string) (string, bool) {
	l := locate(name)
	if !l.local() || name == "-" {
		return "", false
	}
	for _, path := range l.localPaths() {
		if _, err := os.Stat(path); err == nil {
			return path, true
		}
	}
	return "", false
}

var (
	urlInText = text.Pattern(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"]+`)
	urlJoined = text.Pattern(`::[A-Za-z][A-Za-z0-9+.-]*://`)
)

// Shown returns a name, a pattern or a command for errors and manifests, with passwords, tokens and
// signatures redacted in its URLs. The rest of a command is unchanged.
func Shown(name string) string {
	if !strings.Contains(name, ":") {
		return name
	}
	if !store.Supports(schemeOf(name)) {
		return urlInText().ReplaceAllStringFunc(name, store.Redact)
	}
	if at := urlJoined().FindStringIndex(name); at != nil {
		return store.Redact(name[:at[0]]) + "::" + Shown(name[at[0]+2:])
	}
	return store.Redact(name)
}
