package parquet

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// schemaDepth limits the nesting of a schema.
const schemaDepth = 64

// A shape is how a value of a node is made from its leaves.
type shape uint8

const (
	shapeLeaf   shape = iota
	shapeStruct       // of the values of its children
	shapeList         // of values of children[0]
	shapeMap          // of keys, children[0], and values, children[1], if it exists
)

// A node is an element of the schema with levels: in a leaf below it, a definition level below def means that the value
// is null. For a list or a map, one below elementDef means that it is empty, and a repetition level of elementRep that
// another element follows.
type node struct {
	name       string
	shape      shape
	optional   bool
	def        int
	elementDef int
	elementRep int
	children   []*node
	leaf       *leaf
	first, end int  // the leaves below it
	media      bool // a struct of bytes and path
}

// A leaf is a column of the file.
type leaf struct {
	path     string // names joined by dots
	physical int32
	length   int // of typeFixed, bytes
	def, rep int // maximum levels
	scalar   scalar
	scale    int32
	dtype    string
}

// A column is a child of the root: one field, or two if it is media.
type column struct {
	*node
	bytes, path *node // of media
}

// A builder makes the nodes for the elements of a schema.
type builder struct {
	elements []element
	spark    bool // Spark wrote the file
	at       int
	leaves   []*leaf
}

// build makes the columns and leaves for the elements.
func (t *table) build(elements []element) error {
	b := builder{elements: elements, spark: t.spark}
	root, err := b.next()
	if err == nil && (root.physical >= 0 || root.children <= 0) {
		err = b.bad("it has no columns")
	}
	for i := int32(0); err == nil && i < root.children; i++ {
		var n *node
		if n, err = b.child("", 0, 0, 1); err == nil {
			t.columns = append(t.columns, newColumn(n))
		}
	}
	if err == nil && b.at < len(elements) {
		err = b.bad("%d elements more than its tree has", len(elements)-b.at)
	}
	t.leaves = b.leaves
	return err
}

func (b *builder) bad(format string, args ...any) error {
	return fmt.Errorf("%w: its schema: %s", converters.ErrMalformed, fmt.Sprintf(format, args...))
}

func (b *builder) next() (element, error) {
	if b.at >= len(b.elements) {
		return element{}, b.bad("it ends early")
	}
	e := b.elements[b.at]
	b.at++
	switch {
	case e.repetition < required || e.repetition > repeated:
		return e, b.bad("%q has the repetition %d", e.name, e.repetition)
	case e.physical > typeFixed || e.physical < -1 || e.physical >= 0 && e.children > 0 || e.children < 0:
		return e, b.bad("%q has the type %d and %d children", e.name, e.physical, e.children)
	case int(e.children) > len(b.elements)-b.at:
		return e, b.bad("%q has %d children, %d elements follow", e.name, e.children, len(b.elements)-b.at)
	}
	return e, nil
}

// child makes the node for the next element, below a path, levels and depth.
func (b *builder) child(path string, def, rep, depth int) (*node, error) {
	e, err := b.next()
	if err != nil {
		return nil, err
	}
	if depth > schemaDepth {
		return nil, fmt.Errorf("%w: its schema nests deeper than %d", converters.ErrLimit, schemaDepth)
	}
	if e.repetition != repeated {
		if e.repetition == optional {
			def++
		}
		return b.value(e, join(path, e.name), def, rep, depth)
	}
	// A repeated element outside a list or a map is itself a list.
	n := &node{name: e.name, shape: shapeList, def: def, elementDef: def + 1, elementRep: rep + 1, first: len(b.leaves)}
	element, err := b.value(e, join(path, e.name), def+1, rep+1, depth)
	n.children, n.end = []*node{element}, len(b.leaves)
	return n, err
}

// value makes the node for an element, without its repetition.
func (b *builder) value(e element, path string, def, rep, depth int) (n *node, err error) {
	n = &node{name: e.name, optional: e.repetition == optional, def: def, first: len(b.leaves)}
	switch {
	case e.physical >= 0:
		err = b.newLeaf(n, e, path, def, rep)
	case e.children == 0:
		err = fmt.Errorf("%w: column %q is a struct without fields", converters.ErrUnsupported, path)
	case e.is(logicalList, convertedList):
		n.shape = shapeList
		err = b.list(n, e, path, def, rep, depth)
	case e.is(logicalMap, convertedMap) || e.logical.kind == 0 && e.converted == convertedMapKeyValue:
		n.shape = shapeMap
		err = b.mapping(n, e, path, def, rep, depth)
	default:
		n.shape = shapeStruct
		err = b.fields(n, e, path, def, rep, depth)
	}
	n.end = len(b.leaves)
	return n, err
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// fields makes the children of a struct.
func (b *builder) fields(n *node, e element, path string, def, rep, depth int) error {
	names := make(map[string]bool, e.children)
	for range e.children {
		c, err := b.child(path, def, rep, depth+1)
		if err != nil {
			return err
		}
		if names[c.name] {
			return fmt.Errorf("%w column %q", converters.ErrDuplicate, join(path, c.name))
		}
		names[c.name] = true
		n.children = append(n.children, c)
	}
	n.media = len(n.children) == 2 && n.part("bytes", scalarBytes) != nil && n.part("path", scalarText) != nil
	return nil
}

// part returns the child with a name, if it is a leaf with a conversion.
func (n *node) part(name string, of scalar) *node {
	for _, c := range n.children {
		if c.name == name && c.shape == shapeLeaf && c.leaf.scalar == of {
			return c
		}
	}
	return nil
}

// list makes the elements of a list, whose only child is repeated. By the format's rules for older writers that child
// is the element if it is a leaf, a list, a struct of several fields, or named array or NAME_tuple; otherwise its only
// child is the element.
func (b *builder) list(n *node, e element, path string, def, rep, depth int) error {
	r, err := b.next()
	if err == nil && (e.children != 1 || r.repetition != repeated) {
		err = b.bad("the list %q has %d children, or one that is not repeated", path, e.children)
	}
	if err != nil {
		return err
	}
	n.elementDef, n.elementRep = def+1, rep+1
	path = join(path, r.name)
	var c *node
	if r.physical >= 0 || r.children != 1 || r.is(logicalList, convertedList) || r.is(logicalMap, convertedMap) || r.name == "array" || r.name == e.name+"_tuple" {
		c, err = b.value(r, path, def+1, rep+1, depth+1)
	} else {
		c, err = b.child(path, def+1, rep+1, depth+1)
	}
	n.children = []*node{c}
	return err
}

// mapping makes the keys and values of a map.
func (b *builder) mapping(n *node, e element, path string, def, rep, depth int) error {
	r, err := b.next()
	if err == nil && (e.children != 1 || r.repetition != repeated || r.physical >= 0 || r.children < 1 || r.children > 2) {
		err = b.bad("the map %q is not of repeated keys and values", path)
	}
	if err != nil {
		return err
	}
	n.elementDef, n.elementRep = def+1, rep+1
	path = join(path, r.name)
	for i := range r.children {
		c, err := b.child(path, def+1, rep+1, depth+1)
		if err != nil {
			return err
		}
		if i == 0 && (c.shape != shapeLeaf || c.leaf.scalar == scalarBytes) {
			return fmt.Errorf("%w: the map %q has keys that are neither text nor numbers", converters.ErrUnsupported, path)
		}
		n.children = append(n.children, c)
	}
	return nil
}

// newLeaf makes a leaf.
func (b *builder) newLeaf(n *node, e element, path string, def, rep int) error {
	l := &leaf{path: path, physical: e.physical, length: int(e.length), def: def, rep: rep}
	if def > 1<<8-1 || rep > 1<<8-1 {
		return fmt.Errorf("%w: column %q nests too deep", converters.ErrLimit, path)
	}
	if l.physical == typeFixed && l.length < 0 {
		return b.bad("column %q has values of %d bytes", path, l.length)
	}
	if err := l.setScalar(e); err != nil {
		return err
	}
	if l.scalar == scalarInt96 && b.spark {
		l.scalar, l.dtype = scalarSparkTime, "datetime64[us]"
	}
	n.leaf = l
	b.leaves = append(b.leaves, l)
	return nil
}

func newColumn(n *node) *column {
	c := &column{node: n}
	if n.media {
		c.bytes, c.path = n.part("bytes", scalarBytes), n.part("path", scalarText)
	}
	return c
}

// pathField is the name of the field with the path of a media column.
func (c *column) pathField() string { return c.name + ".path" }

// needed returns a function that reports whether a field is needed: see [columns.Needed].
func (t *table) needed(lists [][]string) func(field string) bool {
	var names []string
	for _, c := range t.columns {
		names = append(names, c.name)
		if c.media {
			names = append(names, c.pathField())
		}
	}
	return columns.Needed(lists, names)
}

// names checks the names of the fields, and the type of the key.
func (t *table) names() error {
	seen := make(map[string]bool)
	for _, c := range t.columns {
		all := []string{c.name}
		if c.media {
			all = append(all, c.pathField())
		}
		for _, name := range all {
			if seen[name] {
				return fmt.Errorf("%w field %q", converters.ErrDuplicate, name)
			}
			seen[name] = true
		}
		if c.name == converters.KeyField && (c.shape != shapeLeaf || c.leaf.scalar != scalarText) {
			return fmt.Errorf("%w: the column %q, the key, is not text", converters.ErrUnsupported, converters.KeyField)
		}
		if strings.Contains(c.name, "\x00") {
			return fmt.Errorf("%w: the name of column %q", converters.ErrMalformed, c.name)
		}
	}
	return nil
}
