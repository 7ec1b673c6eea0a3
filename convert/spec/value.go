package spec

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A pair is an entry of a mapping.
type pair struct {
	key   string
	at    *token.Token // the key
	value ast.Node
}

// valueToken is where the value of a pair stands; a mapping stands behind its key.
func valueToken(p pair) *token.Token {
	if isMapping(p.value) || p.value == nil {
		return p.at
	}
	return p.value.GetToken()
}

func isMapping(n ast.Node) bool {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// mapping returns the entries of a mapping, one at least, no two with one key. Where keys are
// given there are no others.
func (f yamlFile) mapping(n ast.Node, hint string, keys ...string) ([]pair, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	}
	if len(values) == 0 {
		return nil, f.fail(tokenOf(n), hint, "not a list of keys and values")
	}
	var pairs []pair
	seen := make(map[string]bool)
	for _, v := range values {
		at := v.Key.GetToken()
		key, ok := v.Key.(*ast.StringNode)
		switch {
		case !ok || keys != nil && !slices.Contains(keys, key.Value):
			return nil, f.fail(at, "there are "+strings.Join(slices.DeleteFunc(slices.Clone(keys), drawsAnew), ", "), "unknown key %q", at.Value)
		case seen[key.Value]:
			return nil, f.fail(at, "keep one of them", "the key %q stands there twice", key.Value)
		}
		seen[key.Value] = true
		if _, empty := v.Value.(*ast.NullNode); empty || v.Value == nil {
			return nil, f.fail(at, "leave the key out", "%s: has no value", key.Value)
		}
		pairs = append(pairs, pair{key.Value, at, v.Value})
	}
	return pairs, nil
}

func tokenOf(n ast.Node) *token.Token {
	if n == nil {
		return nil
	}
	return n.GetToken()
}

// text takes text that is not empty. 007 would be a number to one reader and text to another.
func (f yamlFile) text(n ast.Node) (string, error) {
	text := ""
	switch n := n.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	default:
		return "", f.fail(tokenOf(n), "numbers, true and false that are meant as text stand in quotes", "want text")
	}
	if text == "" {
		return "", f.fail(tokenOf(n), "leave the key out", "the text is empty")
	}
	return text, nil
}

// texts takes text, or a list of them.
func (f yamlFile) texts(n ast.Node) ([]string, error) {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		text, err := f.text(n)
		return []string{text}, err
	}
	if len(list.Values) == 0 {
		return nil, f.fail(tokenOf(n), "leave the key out", "the list is empty")
	}
	var texts []string
	for _, v := range list.Values {
		text, err := f.text(v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// scalar takes text, which may be empty, a number, true or false as it is written.
func (f yamlFile) scalar(n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, nil
	case *ast.StringNode:
		return n.Value, nil
	}
	return f.text(n)
}

func (f yamlFile) number(n ast.Node) (float64, error) {
	switch n := n.(type) {
	case *ast.FloatNode:
		return n.Value, nil
	case *ast.IntegerNode:
		switch i := n.Value.(type) {
		case int64:
			return float64(i), nil
		case uint64:
			return float64(i), nil
		}
	}
	return 0, f.fail(tokenOf(n), "as 0.25 or 2", "want a number")
}

func (f yamlFile) seed(n ast.Node) (uint64, error) {
	if n, ok := n.(*ast.IntegerNode); ok {
		switch i := n.Value.(type) {
		case int64:
			if i >= 0 {
				return uint64(i), nil
			}
		case uint64:
			return i, nil
		}
	}
	return 0, f.fail(tokenOf(n), "", "want a whole number from 0 to 18446744073709551615")
}

func (f yamlFile) boolean(n ast.Node) (bool, error) {
	if n, ok := n.(*ast.BoolNode); ok {
		return n.Value, nil
	}
	return false, f.fail(tokenOf(n), "", "want true or false")
}
