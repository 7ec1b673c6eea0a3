package jsonl

import (
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Members that name files have names with these endings. The text before the ending, without its underscore, is the
// prefix of the field's name.
const (
	oneFile   = "file_name"
	manyFiles = "file_names"
)

// A namer finds the files that lines name. It must not be used concurrently.
type namer struct {
	suffixes scan.FieldNames
	found    []named
	fields   []converters.Field
	taken    map[string]struct{} // names of fields in use
}

// names returns the files that the members of a line name. They are valid until the next call.
func (n *namer) names(s *converters.Sample) ([]named, error) {
	n.found = n.found[:0]
	naming := false
	for i := range s.Fields {
		f := &s.Fields[i]
		if prefix, ok := prefixOf(f.Name, oneFile); ok {
			naming = true
			if prefix != "" && f.Value.Kind() == converters.KindNested && f.Value.Nested() == nil {
				continue
			}
			if f.Value.Kind() != converters.KindText {
				return nil, fmt.Errorf("field %q: %w: want a text, the name of a file", f.Name, converters.ErrUnsupported)
			}
			if err := n.add(i, prefix, string(f.Value.Data())); err != nil {
				return nil, err
			}
		} else if prefix, ok := prefixOf(f.Name, manyFiles); ok {
			naming = true
			list, ok := f.Value.Nested().([]any)
			for k, x := range list {
				name, isText := x.(string)
				if ok = ok && isText; !ok {
					break
				}
				if err := n.add(i, join(prefix, strconv.Itoa(k)), name); err != nil {
					return nil, err
				}
			}
			if !ok {
				return nil, fmt.Errorf("field %q: %w: want a list of texts, the names of files", f.Name, converters.ErrUnsupported)
			}
		}
	}
	if !naming {
		return nil, fmt.Errorf("%w: the line has no %q", converters.ErrMalformed, oneFile)
	}
	return n.found, nil
}

// prefixOf returns the text before word in the name of a member, without its underscore.
func prefixOf(member, word string) (prefix string, ok bool) {
	prefix, ok = strings.CutSuffix(member, word)
	if prefix == "" || !ok {
		return "", ok
	}
	return strings.CutSuffix(prefix, "_")
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// add appends a file named by member i.
func (n *namer) add(i int, prefix, name string) error {
	file := named{after: i, path: filepath.Clean(filepath.FromSlash(name))}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("%.200q: %w: the name leads out of the directory", name, converters.ErrUnsupported)
	}
	suffix := "data"
	if ext := path.Ext(name); len(ext) > 1 {
		suffix = ext[1:]
	}
	suffix, err := n.suffixes.Of([]byte(suffix))
	if err != nil {
		return fmt.Errorf("%.200q: %w", name, err)
	}
	file.field = join(prefix, suffix)
	n.found = append(n.found, file)
	return nil
}

// sample returns s with the fields of its files, each after the member that names it, and with its key. It is valid
// until the next call.
func (n *namer) sample(s *converters.Sample, files []named, values []converters.Value) (*converters.Sample, error) {
	all := files
	n.fields = n.fields[:0]
	if n.taken == nil {
		n.taken = make(map[string]struct{})
	}
	clear(n.taken)
	for i, f := range s.Fields {
		n.taken[f.Name] = struct{}{}
		if f.Name == oneFile && s.Key == "" {
			s.Key = string(f.Value.Data())
		}
		n.fields = append(n.fields, f)
		for ; len(files) > 0 && files[0].after == i; files, values = files[1:], values[1:] {
			n.fields = append(n.fields, converters.Field{Name: files[0].field, Value: values[0]})
		}
	}
	for _, f := range all {
		if _, twice := n.taken[f.field]; twice {
			return nil, fmt.Errorf("%w field %q: it is the bytes of %q, and a member or another file", converters.ErrDuplicate, f.field, f.path)
		}
		n.taken[f.field] = struct{}{}
	}
	s.Fields, n.fields = n.fields, s.Fields
	return s, nil
}
