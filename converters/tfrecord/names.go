package tfrecord

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A name is the name of a feature.
type name struct {
	text string
	list bool // the feature is a list
	load bool // Index reads its bytes
	step bool // a step of a feature list is parsed

	kinds []valueKind // of its values, while counting
	many  bool        // it had another number than one
	steps bool        // it was in a feature list
}

// saw records the number of values of a feature in one record, or in one step of a feature list.
func (n *name) saw(kind valueKind, count int64, step bool) {
	if !slices.Contains(n.kinds, kind) {
		n.kinds = append(n.kinds, kind)
	}
	n.many, n.steps = n.many || count != 1, n.steps || step
}

// Limits of remembered names.
const (
	mostNames   = 4096
	longestName = 256 // bytes
)

// names has the names of recent features, so that a name is allocated once.
type names struct{ known map[string]*name }

// take returns the name with this text, which is not known.
func (f *names) take(b []byte, s *scanner) *name {
	n := &name{text: string(b)}
	n.list = s.rule.list(n.text) && n.text != converters.KeyField
	n.load = n.text == converters.KeyField || s.opts.Load(n.text)
	if len(b) > longestName && !s.counting {
		return n
	}
	if f.known == nil || len(f.known) >= mostNames && !s.counting {
		f.known = make(map[string]*name)
	}
	f.known[n.text] = n
	return n
}

// A rule decides which features are lists.
type rule struct {
	all     bool            // every feature
	given   []string        // Options.Lists; nil: every feature that is not single
	single  map[string]bool // features that had one value in each of the first records
	columns []converters.ColumnType
}

func (r *rule) list(name string) bool {
	switch {
	case r.all:
		return true
	case r.given != nil:
		return slices.Contains(r.given, name)
	}
	return !r.single[name]
}

// why says why a feature is one value.
func (r *rule) why() string {
	if r.given != nil {
		return "not named a list"
	}
	return "one value in the first records"
}

// hint says how to make a list of a feature, too.
func (r *rule) hint(name string) string {
	lists := slices.Clone(r.given)
	for _, c := range r.columns {
		if r.given == nil && !r.single[c.Name] {
			lists = append(lists, c.Name)
		}
	}
	if lists = append(lists, name); len(lists) > 16 {
		return "option lists all makes lists of all features"
	}
	return fmt.Sprintf("option lists %s makes a list of it", strings.Join(lists, ","))
}

// learn decides by the names that a scanner counted.
func (r *rule) learn(seen names) {
	r.single = make(map[string]bool)
	for _, text := range slices.Sorted(maps.Keys(seen.known)) {
		n := seen.known[text]
		if n.kinds == nil || text == converters.KeyField {
			continue
		}
		r.single[text] = !n.many
		var each []string
		for _, kind := range n.kinds {
			each = append(each, kind.String())
		}
		dtype := strings.Join(each, " or ")
		if r.list(text) {
			dtype = "list of " + dtype
		}
		if n.steps {
			dtype = "list of " + strings.Replace(dtype, "list", "lists", 1)
		}
		r.columns = append(r.columns, converters.ColumnType{Name: text, DType: dtype})
	}
}
