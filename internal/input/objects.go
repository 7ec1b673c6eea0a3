package input

import (
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/store"
)

// An objectPattern matches the keys of a service that lists objects, component by component, as shell globs match
// paths.
type objectPattern struct {
	bucket     string   // s3://bucket/
	query      string   // end of each URL: ?provider= of an AIStore, or ""
	components []string // of the key; if the last is "", all objects directly below match
	literal    bool     // no component is a glob
}

// parseObjects reads the URL of a service that lists objects, false for any other.
func parseObjects(where location) (objectPattern, bool) {
	url, query := splitQuery(where.name)
	head, rest, ok := strings.Cut(url, "://")
	if !ok || !slices.Contains(listedSchemes, where.scheme) {
		return objectPattern{}, false
	}
	bucket, key, _ := strings.Cut(rest, "/")
	return objectPattern{bucket: head + "://" + bucket + "/", query: query, components: strings.Split(key, "/")}, true
}

// webDirectory returns the pattern of the objects directly below an http: URL; false if that has a query or a fragment.
func webDirectory(url string) (objectPattern, bool) {
	head, rest, _ := strings.Cut(url, "://")
	host, path, _ := strings.Cut(strings.TrimRight(rest, "/"), "/")
	p := objectPattern{bucket: head + "://" + host + "/", components: []string{""}, literal: true}
	if path != "" {
		p.components = append(strings.Split(path, "/"), "")
	}
	return p, !strings.ContainsAny(url, "?#")
}

// splitQuery cuts ?provider= off an ais: URL. In any other URL a query is part of the key.
func splitQuery(url string) (rest, query string) {
	rest, _ = store.SplitProvider(url)
	return rest, url[len(rest):]
}

// base is the last component; "" matches all objects that Options.Match accepts.
func (p objectPattern) base() string { return p.components[len(p.components)-1] }

func (p objectPattern) isGlob(component string) bool { return !p.literal && hasMeta(component) }

// meta reports whether the pattern has a glob; without one it names a single object.
func (p objectPattern) meta() bool { return slices.ContainsFunc(p.components, p.isGlob) }

// check refuses a malformed glob. name is redacted.
func (p objectPattern) check(name string) error {
	for _, c := range p.components {
		if _, err := path.Match(shellClass(c), ""); err != nil && p.isGlob(c) {
			return badGlob(name, err)
		}
	}
	return nil
}

// below returns the pattern of all objects directly below p, which must not have a glob.
func (p objectPattern) below() objectPattern {
	p.components, p.literal = append(slices.Clone(p.components), ""), true
	return p
}

// prefix returns the longest common prefix of the URLs of matching objects, followed by the query.
func (p objectPattern) prefix() string {
	key := strings.Join(p.components, "/")
	if i := strings.IndexAny(key, "*?["); i >= 0 && !p.literal {
		key = key[:i]
	}
	return p.bucket + key + p.query
}

// key returns the key of a listed object, false if its URL is not in the bucket.
func (p objectPattern) key(url string) (string, bool) {
	key, ok := strings.CutPrefix(url, p.bucket)
	key, also := strings.CutSuffix(key, p.query)
	return key, ok && also
}

// matchDir reports whether objects directly below dir can match. dir is "" or ends in a slash.
func (p objectPattern) matchDir(dir string) bool {
	for _, c := range p.components[:len(p.components)-1] {
		in, rest, ok := strings.Cut(dir, "/")
		if !ok || !p.match(c, in) {
			return false
		}
		dir = rest
	}
	return dir == ""
}

// matchBase reports whether an object of a matching directory matches. If the pattern ends in a slash, part
// decides; a nil part accepts all.
func (p objectPattern) matchBase(base string, part func(string) bool) bool {
	if p.base() == "" {
		return base != "" && base[0] != '.' && (part == nil || part(base))
	}
	return p.match(p.base(), base)
}

// match matches one component. A glob does not match an empty or a hidden name.
func (p objectPattern) match(component, name string) bool {
	if !p.isGlob(component) {
		return component == name
	}
	ok, _ := path.Match(shellClass(component), name)
	return ok && name != "" && (name[0] != '.' || component[0] == '.')
}

// shellClass translates [!a] to Go's [^a].
func shellClass(component string) string { return strings.ReplaceAll(component, "[!", "[^") }
