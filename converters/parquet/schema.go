package parquet

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
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
	length   int  // of typeFixed, bytes
	numeric  bool // the values are numbers, else byte strings
	def, rep int  // maximum levels
	scalar   scalar
	scale    int32
	dtype    string
}

// A column is a child of the root: one field, or two if it is media.
type column struct {
	*node
	bytes, path *node // of media
}

// A level is where an element is in the tree.
type level struct {
	path            string // of the element, or of the one around it; names with dots between
	def, rep, depth int
}

// in returns the level with a name appended to its path.
func (l level) in(name string) level {
	if l.path != "" {
		name = l.path + "." + name
	}
	l.path = name
	return l
}

// A builder makes nodes of the elements of a schema.
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
		if n, err = b.child(level{depth: 1}); err == nil {
			c := &column{node: n}
			if n.media {
				c.bytes, c.path = n.part("bytes", scalarBytes), n.part("path", scalarText)
			}
			t.columns = append(t.columns, c)
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

// child makes the node of the next element, below a level.
func (b *builder) child(at level) (*node, error) {
	e, err := b.next()
	if err != nil {
		return nil, err
	}
	if at.depth > schemaDepth {
		return nil, fmt.Errorf("%w: its schema nests deeper than %d", converters.ErrLimit, schemaDepth)
	}
	if e.repetition != repeated {
		if e.repetition == optional {
			at.def++
		}
		return b.value(e, at.in(e.name))
	}
	// A repeated element that is not of a list or a map is a list itself.
	n := &node{name: e.name, shape: shapeList, def: at.def, elementDef: at.def + 1, elementRep: at.rep + 1, first: len(b.leaves)}
	at.def, at.rep = n.elementDef, n.elementRep
	element, err := b.value(e, at.in(e.name))
	n.children, n.end = []*node{element}, len(b.leaves)
	return n, err
}

// value makes the node of an element, its repetition aside.
func (b *builder) value(e element, at level) (n *node, err error) {
	n = &node{name: e.name, optional: e.repetition == optional, def: at.def, first: len(b.leaves)}
	switch {
	case e.physical >= 0:
		err = b.newLeaf(n, e, at)
	case e.children == 0:
		err = fmt.Errorf("%w: column %q is a struct without fields", converters.ErrUnsupported, at.path)
	case e.is(logicalList, convertedList):
		n.shape = shapeList
		err = b.list(n, e, at)
	case e.is(logicalMap, convertedMap) || e.logical.kind == 0 && e.converted == convertedMapKeyValue:
		n.shape = shapeMap
		err = b.mapping(n, e, at)
	default:
		n.shape = shapeStruct
		err = b.fields(n, e, at)
	}
	n.end = len(b.leaves)
	return n, err
}

// fields makes the children of a struct.
func (b *builder) fields(n *node, e element, at level) error {
	at.depth++
	names := make(map[string]bool, e.children)
	for range e.children {
		c, err := b.child(at)
		if err != nil {
			return err
		}
		if names[c.name] {
			return fmt.Errorf("%w column %q", converters.ErrDuplicate, at.in(c.name).path)
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

// list makes the elements of a list. Its only child is repeated. By the format's rules for older writers that
// child is the element itself if it is a leaf, a list, a struct of several fields, or named array or NAME_tuple; else the
// child's only child is.
func (b *builder) list(n *node, e element, at level) error {
	r, err := b.next()
	if err == nil && (e.children != 1 || r.repetition != repeated) {
		err = b.bad("the list %q has %d children, or one that is not repeated", at.path, e.children)
	}
	if err != nil {
		return err
	}
	at = n.repeat(r, at)
	var c *node
	if r.physical >= 0 || r.children != 1 || r.is(logicalList, convertedList) || r.is(logicalMap, convertedMap) || r.name == "array" || r.name == e.name+"_tuple" {
		c, err = b.value(r, at)
	} else {
		c, err = b.child(at)
	}
	n.children = []*node{c}
	return err
}

// repeat sets the levels of the elements of n, a list or a map, to those of its child r, and returns the level of r.
func (n *node) repeat(r element, at level) level {
	n.elementDef, n.elementRep = at.def+1, at.rep+1
	return level{at.in(r.name).path, n.elementDef, n.elementRep, at.depth + 1}
}

// mapping makes the keys and values of a map.
func (b *builder) mapping(n *node, e element, at level) error {
	r, err := b.next()
	if err == nil && (e.children != 1 || r.repetition != repeated || r.physical >= 0 || r.children < 1 || r.children > 2) {
		err = b.bad("the map %q is not of repeated keys and values", at.path)
	}
	if err != nil {
		return err
	}
	at = n.repeat(r, at)
	for i := range r.children {
		c, err := b.child(at)
		if err != nil {
			return err
		}
		if i == 0 && (c.shape != shapeLeaf || c.leaf.scalar == scalarBytes) {
			return fmt.Errorf("%w: the map %q has keys that are neither text nor numbers", converters.ErrUnsupported, at.path)
		}
		n.children = append(n.children, c)
	}
	return nil
}

func (b *builder) newLeaf(n *node, e element, at level) error {
	l := &leaf{path: at.path, physical: e.physical, length: int(e.length), def: at.def, rep: at.rep}
	l.numeric = l.physical != typeInt96 && l.physical != typeBytes && l.physical != typeFixed
	if at.def > 1<<8-1 || at.rep > 1<<8-1 {
		return fmt.Errorf("%w: column %q nests too deep", converters.ErrLimit, at.path)
	}
	if l.physical == typeFixed && l.length < 0 {
		return b.bad("column %q has values of %d bytes", at.path, l.length)
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
