package input

import (
	"net/url"
	"regexp"
	"strings"
)

// remoteSchemes are the schemes of WebDataset's readers. None is read yet; a name
// that has one, with or without "//" after it, is refused, never taken for a file.
var remoteSchemes = []string{"http", "https", "s3", "gs", "az", "ais", "pipe", "hf", "htgs", "hdfs", "sftp", "ftps", "scp"}

var schemeStart = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*):(//)?`)

// localPaths turns a name into the local paths that it may mean, the likelier one
// first. A colon alone makes no scheme: a:b.tar is a file.
func localPaths(name string) ([]string, error) {
	m := schemeStart.FindStringSubmatch(name)
	if m == nil {
		return []string{name}, nil
	}
	scheme := strings.ToLower(m[1])
	if scheme == "file" {
		return fileURL(name[len("file:"):])
	}
	known := m[2] != ""
	for _, s := range remoteSchemes {
		known = known || s == scheme
	}
	if known {
		return nil, refuse(name, ErrScheme, "copy it to a local file, or pipe it in and name -", "%s:", scheme)
	}
	return []string{name}, nil
}

// fileURL reads what follows "file:". RFC 8089 escapes bytes as %XX; webdataset
// takes them as they stand, and reads file://a/b as the relative path a/b. Where
// the two disagree, the text as it stands comes first.
func fileURL(rest string) ([]string, error) {
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
	return paths, nil
}
