package view

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/text"
)

// maxDepth limits the levels of a nested value that are shown.
const maxDepth = 32

// A node is a value in a tree.
type node struct {
	Key      string // key in a map, or index in a list
	Type     string // "map", "list", "text", "bytes", "int", "float", "bool", "null"
	Text     string // for a value other than a map or a list
	Count    int    // number of values in a map or list
	Children []*node
	More     int // number of values in it that are not shown
}

// nested shows numbers as a table and other values as a tree.
func (v *viewer) nested(f *Field, x any) {
	switch x := x.(type) {
	case nil, bool, int64, uint64, float64:
		n := v.node(x, 0)
		f.Kind, f.Type, f.Text = kindValue, n.Type, n.Text
		return
	case string:
		f.Type, f.Size = "UTF-8 text", int64(len(x))
		v.text(f, []byte(x[:min(len(x), v.limits.Text+1)]))
		return
	case []byte:
		f.Type, f.Size = "bytes", int64(len(x))
		v.data(f, x)
		return
	case []any:
		if v.numbers(f, x) {
			return
		}
	case converters.Column:
		f.Type = x.Type
		if v.numbers(f, x.Values) {
			return
		}
	}
	f.Kind, f.Tree = kindTree, v.node(x, 0)
	f.Type = cmp.Or(f.Type, f.Tree.Type)
	f.Cut = f.Tree.cut()
}

// cut reports whether any value below a node is not shown.
func (n *node) cut() bool {
	for _, c := range n.Children {
		if c.cut() {
			return true
		}
	}
	return n.More > 0
}

// node returns the node of a value. It charges a node for each value and the bytes of its text to the budget.
func (v *viewer) node(x any, depth int) *node {
	v.nodes--
	n := new(node)
	switch x := x.(type) {
	case nil:
		n.Type, n.Text = "null", "null"
	case bool:
		n.Type, n.Text = "bool", strconv.FormatBool(x)
	case int64:
		n.Type, n.Text = "int", strconv.FormatInt(x, 10)
	case uint64:
		n.Type, n.Text = "int", strconv.FormatUint(x, 10)
	case float64:
		n.Type, n.Text = "float", string(jsonvalue.AppendFloat(nil, x))
	case string:
		n.Type, n.Text = "text", v.leaf(x)
	case []byte:
		n.Type, n.Text = "bytes", fmt.Sprintf("%s: % x", text.Count(int64(len(x)), "byte"), x[:min(len(x), 16)])
	case []any:
		n.Type = "list"
		v.list(n, x, depth)
	case converters.Column:
		n.Type = "list"
		v.list(n, x.Values, depth)
	case converters.Map:
		n.Type, n.Count = "map", len(x)
		for i := 0; i < len(x) && v.room(depth); i++ {
			child := v.node(x[i].Value, depth+1)
			child.Key = v.key(x[i].Key)
			n.Children = append(n.Children, child)
		}
		n.More = n.Count - len(n.Children)
	default:
		n.Type, n.Text = "unknown", fmt.Sprintf("a value of the Go type %T", x)
	}
	return n
}

func (v *viewer) list(n *node, list []any, depth int) {
	n.Count = len(list)
	for i := 0; i < len(list) && v.room(depth); i++ {
		child := v.node(list[i], depth+1)
		child.Key = strconv.Itoa(i)
		n.Children = append(n.Children, child)
	}
	n.More = n.Count - len(n.Children)
}

func (v *viewer) room(depth int) bool { return depth < maxDepth && v.nodes > 0 && v.bytes > 0 }

func (v *viewer) key(key any) string {
	if s, ok := key.(string); ok {
		shown := shownName(s)
		v.bytes -= min(v.bytes, len(shown))
		return shown
	}
	switch key := key.(type) {
	case float64:
		return string(jsonvalue.AppendFloat(nil, key))
	default:
		return fmt.Sprint(key) // int64, uint64, bool, nil
	}
}

// leaf returns the text of a leaf, within the budget.
func (v *viewer) leaf(s string) string {
	begin, cut := prefix([]byte(s[:min(len(s), maxLeaf+1)]), maxLeaf)
	shown := text.Lines(string(begin))
	if cut {
		shown += "…"
	}
	v.bytes -= min(v.bytes, len(shown))
	return shown
}
