package input

import (
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/store"
)

// An objectPattern names objects of a service that gives lists, as shell globs name files:
// component by component of their keys.
type objectPattern struct {
	bucket     string   // s3://bucket/
	query      string   // what the URLs end with: ?provider= of an AIStore, or nothing
	components []string // of the key; a last one of "" matches all objects directly below
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

// splitQuery takes ?provider= off the end of an ais: URL. The query of any other URL is part of it.
func splitQuery(url string) (rest, query string) {
	rest, _ = store.SplitProvider(url)
	return rest, url[len(rest):]
}

// splitKey cuts a key after its last slash.
func splitKey(key string) (dir, base string) {
	i := strings.LastIndexByte(key, '/') + 1
	return key[:i], key[i:]
}

// base is the last component; "" stands for all objects that are parts.
func (p objectPattern) base() string { return p.components[len(p.components)-1] }

func (p objectPattern) isGlob(component string) bool { return !p.literal && hasMeta(component) }

// meta tells a pattern from the name of an object.
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

// below returns the pattern of all objects directly below the name, which is no glob.
func (p objectPattern) below() objectPattern {
	p.components, p.literal = append(slices.Clone(p.components), ""), true
	return p
}

// prefix returns the longest common prefix of the URLs of matching objects, and their query.
func (p objectPattern) prefix() string {
	key := strings.Join(p.components, "/")
	if i := strings.IndexAny(key, "*?["); i >= 0 && !p.literal {
		key = key[:i]
	}
	return p.bucket + key + p.query
}

// key returns the key of a listed object, false if its URL does not belong to the bucket.
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

// matchBase reports whether an object of a matching directory matches. Where the pattern ends in a
// slash, part decides; nil takes all.
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

// shellClass makes [!a] what Go calls it.
func shellClass(component string) string { return strings.ReplaceAll(component, "[!", "[^") }
