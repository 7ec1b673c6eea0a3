package check

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// oddKey describes why a key makes a poor file name. It returns "" if the key makes a good one.
func oddKey(key string) string {
	if plainKey(key) {
		return ""
	}
	switch {
	case !utf8.ValidString(key):
		return "the key is not UTF-8"
	case strings.ContainsFunc(key, unicode.IsControl):
		return "the key has control characters"
	case strings.ContainsFunc(key, func(r rune) bool { return unicode.Is(unicode.Cf, r) }):
		return "the key has invisible characters"
	case strings.HasPrefix(key, "/"), len(key) > 1 && key[1] == ':' && (key[0]|0x20 >= 'a' && key[0]|0x20 <= 'z'):
		return "the key is an absolute path"
	case leadsUp(key):
		return "the key leads to a directory above, by .."
	case strings.HasSuffix(key, "/"):
		return "the key ends in a slash: the files are hidden ones, such as ._a.jpg of macOS"
	case strings.TrimSpace(key) != key:
		return "the key begins or ends with a space"
	}
	return ""
}

// leadsUp reports whether an element of a path is "..".
func leadsUp(key string) bool {
	for element := range strings.FieldsFuncSeq(key, func(r rune) bool { return r == '/' || r == '\\' }) {
		if element == ".." {
			return true
		}
	}
	return false
}

// plainKey reports whether a key consists of ASCII letters, digits, '-', '_' and single slashes
// within. It is a fast path of oddKey, true for most keys; a key with a dot takes the slow path.
func plainKey(key string) bool {
	last := byte('/')
	for i := range len(key) {
		c := key[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
		case c == '/' && last != '/':
		default:
			return false
		}
		last = c
	}
	return last != '/' || key == ""
}
