package convert

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// SpecFormat is the format of several collections in a plan. No format has that name.
const SpecFormat = "spec"

// A collection is sources of one format. A Spec has several; a conversion without Spec has one.
type collection struct {
	*format.Reader
	entry *spec.Collection // nil: the conversion has no Spec
}

// passes returns how many times the collection is read.
func (c *collection) passes() int {
	if c.entry == nil {
		return 1
	}
	return c.entry.Passes()
}

// newCollections looks up the formats of a specification and sets their options, and limits. The specification itself
// must not set limits. Errors name the place in it.
func newCollections(s *spec.Spec, limits map[string]string) ([]collection, error) {
	var all []collection
	for i := range s.Collections {
		c := &s.Collections[i]
		f, known := format.Named(c.Format)
		if !known {
			return nil, c.Error("format", fmt.Errorf("%q is not a format here; there are %s", c.Format, strings.Join(format.Names(), ", ")))
		}
		r := f.Reader()
		for _, name := range slices.Sorted(maps.Keys(c.Options)) {
			if err := setOption(r, c, name); err != nil {
				return nil, c.Error("options."+name, err)
			}
		}
		c.Options = r.Set.Kept()
		all = append(all, collection{r, c})
	}
	return all, setLimits(limits, all)
}

// setOption sets an option of a collection.
func setOption(r *format.Reader, c *spec.Collection, name string) error {
	o := r.Set.Lookup(name)
	if o == nil {
		return fmt.Errorf("%s has no such option; it has %s", c.Format, strings.Join(option.Keys(r.Set), ", "))
	}
	if c.IsList(name) && !o.List() {
		return errors.New("a list, where one value is wanted")
	}
	err := r.Set.SetKept(name, c.Options[name])
	if e, ok := errors.AsType[*option.Error](err); ok {
		return fmt.Errorf("%q: %w", e.Text, e.Err) // the caller adds the name as the place
	}
	return err
}

// setLimits sets each limit in every collection whose format has it. It is an error if none has it.
func setLimits(limits map[string]string, all []collection) error {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		known := false
		var formats []string
		for _, c := range all {
			if !slices.Contains(formats, c.Name) {
				formats = append(formats, c.Name)
			}
			if c.Set.Lookup(name) == nil {
				continue
			}
			known = true
			if err := c.Set.Set(name, limits[name]); err != nil {
				return err
			}
		}
		if !known {
			return &option.Error{Name: name, Text: limits[name], Err: fmt.Errorf("%w of %s", option.ErrUnknown, strings.Join(formats, ", "))}
		}
	}
	return nil
}

// plannedSpec reads the specification in a plan. The plan may be hostile, so the limits of a file apply.
func plannedSpec(options map[string]string) (*spec.Spec, error) {
	text, ok := options[plan.OptionSpec]
	if !ok || len(options) != 1 {
		return nil, errors.New("it has no specification alone")
	}
	return spec.FromText(text)
}

// move reads the specification in file name and takes its places of shards. Otherwise it must equal s.
func move(s *spec.Spec, name string) error {
	moved, err := spec.Read(name)
	if err != nil {
		return err
	}
	if _, err := newCollections(moved, nil); err != nil {
		return err
	}
	if len(moved.Collections) != len(s.Collections) {
		return fmt.Errorf("%s: the dataset was made of %d collections, not %d", name, len(s.Collections), len(moved.Collections))
	}
	for i := range s.Collections {
		c, d := &s.Collections[i], &moved.Collections[i]
		if !like(c, d) || c.Times != d.Times {
			return d.Error("", errors.New("the dataset was made otherwise; change shards, buckets and prefix alone"))
		}
	}
	s.Move(moved)
	return nil
}

// like reports whether two collections make the same records from the same files.
func like(c, d *spec.Collection) bool {
	return c.Format == d.Format && c.Fields == d.Fields && slices.Equal(c.Rename, d.Rename) && maps.Equal(c.Options, d.Options)
}
