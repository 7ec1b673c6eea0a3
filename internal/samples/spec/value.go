package spec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/ffconvert/ffconvert/internal/option"
)

// A reader converts the nodes of one file to values. It keeps the first error; values that are read after it are
// not used.
type reader struct {
	name    string
	err     error
	ignored []ignored
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) fail(at *token.Token, hint, format string, args ...any) {
	r.keep(fail(r.name, at, hint, format, args...))
}

// A pair is an entry of a mapping.
type pair struct {
	key   string
	at    *token.Token // position of the key
	value ast.Node
}

// valueAt returns the position of the value. A mapping begins at its key.
func (p pair) valueAt() *token.Token {
	if isMapping(p.value) {
		return p.at
	}
	return p.value.GetToken()
}

func isMapping(n ast.Node) bool {
	_, ok := n.(ast.MapNode)
	return ok
}

// mapping returns the entries of a mapping. It refuses an empty mapping, a repeated key and, if keys
// are given, any other key.
func (r *reader) mapping(n ast.Node, hint string, keys ...string) []pair {
	var pairs []pair
	seen := make(map[string]bool)
	if m, ok := n.(ast.MapNode); ok {
		for i := m.MapRange(); i.Next() && r.err == nil; {
			at, value := i.Key().GetToken(), i.Value()
			key, text := i.Key().(*ast.StringNode)
			_, null := value.(*ast.NullNode)
			switch {
			case !text || keys != nil && !slices.Contains(keys, key.Value) && !r.silent(key.Value):
				r.fail(at, "there are "+strings.Join(keys, ", "), "unknown key %q", at.Value)
			case seen[key.Value]:
				r.fail(at, "keep one of them", "the key %q appears twice", key.Value)
			case null || value == nil:
				r.fail(at, "leave the key out", "%s: has no value", key.Value)
			default:
				seen[key.Value] = true
				pairs = append(pairs, pair{key.Value, at, value})
			}
		}
	}
	if len(pairs) == 0 {
		r.fail(tokenOf(n), hint, "not a list of keys and values")
	}
	if r.err != nil {
		return nil
	}
	return pairs
}

// silent reports whether a key is allowed but not suggested for a mistyped key: see ignores.
func (r *reader) silent(key string) bool {
	_, anywhere := ignoredKeys[key]
	_, known := ignoredOfCollections[key]
	return anywhere || known
}

func tokenOf(n ast.Node) *token.Token {
	if n == nil {
		return nil
	}
	return n.GetToken()
}

// text returns a nonempty text. It refuses numbers: a name like 007 would lose its zeros.
func (r *reader) text(n ast.Node) string {
	text := ""
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	default:
		r.fail(tokenOf(n), "numbers, true and false that are meant as text stand in quotes", "want text")
	}
	if text == "" {
		r.fail(tokenOf(n), "leave the key out", "the text is empty")
	}
	return text
}

// texts returns a list of texts; a single text counts as a list of one.
func (r *reader) texts(n ast.Node) []string { return r.list(n, r.text) }

// list returns the values of a list; a single value counts as a list of one.
func (r *reader) list(n ast.Node, value func(ast.Node) string) []string {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return []string{value(n)}
	}
	var all []string
	for _, v := range list.Values {
		all = append(all, value(v))
	}
	if len(all) == 0 {
		r.fail(tokenOf(n), "leave the key out", "the list is empty")
	}
	return all
}

// scalar returns a text, which may be empty, or the source text of a number or boolean.
func (r *reader) scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	case *ast.StringNode:
		return n.Value
	}
	return r.text(n)
}

// scalars returns a scalar, or a list of scalars joined as in the value of a flag.
func (r *reader) scalars(n ast.Node) string {
	values := r.list(n, r.scalar)
	if _, list := n.(*ast.SequenceNode); !list {
		return values[0]
	}
	if slices.Contains(values, "") {
		r.fail(tokenOf(n), "leave the key out", "the list has an empty value")
	}
	return option.Join(values)
}

func (r *reader) number(n ast.Node) float64 {
	switch n.(type) {
	case *ast.FloatNode, *ast.IntegerNode:
		if x, err := strconv.ParseFloat(n.GetToken().Value, 64); err == nil {
			return x
		}
	}
	r.fail(tokenOf(n), "as 0.25 or 2", "want a number")
	return 0
}

// seed returns a seed; "" for -1, which means no seed in OneFlow.
func (r *reader) seed(n ast.Node) string {
	if _, ok := n.(*ast.IntegerNode); ok {
		if i, err := strconv.ParseUint(n.GetToken().Value, 0, 64); err == nil {
			return strconv.FormatUint(i, 10)
		}
	}
	if n.GetToken().Value != "-1" {
		r.fail(tokenOf(n), "", "want a whole number from 0 to 18446744073709551615, or -1 for none")
	}
	return ""
}

// boolean returns "true" or "false".
func (r *reader) boolean(n ast.Node) string {
	b, ok := n.(*ast.BoolNode)
	if !ok {
		r.fail(tokenOf(n), "", "want true or false")
		return ""
	}
	return strconv.FormatBool(b.Value)
}
