package input

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

func hasMeta(path string) bool { return strings.ContainsAny(path, `*?[`) }

// glob lists the paths that match a pattern as in a shell, sorted by code point within each directory. Unlike
// [filepath.Glob] it reports a directory that cannot be read, and * does not match hidden files, such as the
// temporary files of a running copy.
func glob(pattern string) ([]string, error) {
	found := []string{""}
	rest := strings.TrimLeft(pattern, "/")
	if len(rest) < len(pattern) {
		found[0] = "/"
	}
	for len(rest) > 0 && len(found) > 0 {
		component, after, more := strings.Cut(rest, "/")
		rest = strings.TrimLeft(after, "/")
		var next []string
		for _, dir := range found {
			var err error
			if next, err = globIn(next, pattern, dir, component, more); err != nil {
				return nil, err
			}
		}
		found = next
	}
	return found, nil
}

// globIn appends the paths in dir that component matches.
func globIn(found []string, pattern, dir, component string, wantDir bool) ([]string, error) {
	below := dir
	if dir != "" && dir != "/" {
		below += "/"
	}
	if !hasMeta(component) {
		path := below + component
		fi, err := os.Lstat(path)
		if err == nil && wantDir {
			fi, err = os.Stat(path)
		}
		switch {
		case err == nil && (!wantDir || fi.IsDir()):
			return append(found, path), nil
		case err == nil || isMissing(err):
			return found, nil
		}
		return nil, place.IOError(path, err)
	}
	component = shellClass(component)
	if _, err := filepath.Match(component, ""); err != nil {
		return nil, badGlob(pattern, err)
	}
	open := dir
	open = cmp.Or(open, ".")
	entries, err := os.ReadDir(open)
	if err != nil {
		return nil, place.IOError(open, err)
	}
	for _, e := range entries {
		name := e.Name()
		if ok, _ := filepath.Match(component, name); !ok || name[0] == '.' && component[0] != '.' {
			continue
		}
		if wantDir && !e.IsDir() {
			if fi, err := os.Stat(below + name); err != nil || !fi.IsDir() {
				if err != nil && !isMissing(err) {
					return nil, place.IOError(below+name, err)
				}
				continue
			}
		}
		found = append(found, below+name)
	}
	return found, nil
}

func badGlob(pattern string, err error) error {
	return place.Refuse(pattern, errPattern, "a closing ] is missing, or a range is reversed", "%w", err)
}
