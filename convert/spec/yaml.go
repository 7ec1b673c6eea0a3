package spec

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input"
)

// What is read of a YAML file is bounded before it is parsed: the parser takes stack for each
// level, and time by the square of the tokens in one place.
const (
	MaxSize   = 1 << 20 // bytes
	MaxTokens = 1 << 16 // a second of parsing at the worst
	maxDepth  = 8       // of brackets; a specification needs four
)

// An Error places a mistake in a YAML file. It prints on one line.
type Error struct {
	File         string
	Line, Column int // from 1 on
	What, Hint   string
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// A yamlFile is a file that is parsed. Its nodes are walked as they stand there, and no value
// is made of them by the library: nothing is resolved, and nothing expands.
type yamlFile struct{ name string }

func (f yamlFile) fail(at *token.Token, hint, format string, args ...any) error {
	e := &Error{f.name, 1, 1, input.Shown(fmt.Sprintf(format, args...)), hint} // what it quotes may be a signed URL
	if at != nil && at.Position != nil {
		e.Line, e.Column = max(1, at.Position.Line), max(1, at.Position.Column)
	}
	return e
}

// parse returns the only document of a file; nil where it is empty.
func (f yamlFile) parse(data []byte) (body ast.Node, err error) {
	if len(data) > MaxSize {
		return nil, &converters.Error{Where: f.name, Off: -1, Err: fmt.Errorf("%w: it has more than %d bytes", converters.ErrLimit, MaxSize), Hint: "name shards by patterns: {000..009}"}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		if bad := bytes.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError || r == 0 }); bad >= 0 {
			return nil, &Error{f.name, i + 1, utf8.RuneCount(line[:bad]) + 1, "not text in UTF-8", "save the file as UTF-8"}
		}
	}
	tokens, err := f.tokens(string(data))
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil { // of the library; what it could not read is no specification
			body, err = nil, f.fail(nil, "", "not YAML that can be read: %s", oneLine(fmt.Sprint(r)))
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // found by us, in less time
	if err != nil {
		return nil, f.syntax(err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, f.fail(doc.Body.GetToken(), "one file is one dataset", "a second document begins here")
		}
		body = doc.Body
	}
	return body, nil
}

// tokens cuts a file into tokens, and refuses those that no specification needs and that
// stand for more than they are.
func (f yamlFile) tokens(text string) (token.Tokens, error) {
	var s scanner.Scanner
	s.Init(text)
	var all token.Tokens
	depth, listed := 0, 0
	for {
		some, err := s.Scan()
		for _, t := range some {
			switch t.Type {
			case token.InvalidType:
				return nil, f.fail(t, hintQuote, "%s", oneLine(t.Error))
			case token.AnchorType, token.AliasType, token.MergeKeyType:
				return nil, f.fail(t, "write out what it stands for; a * or & of a name stands in quotes", "anchors and aliases are not taken")
			case token.TagType, token.DirectiveType, token.MappingKeyType:
				return nil, f.fail(t, hintQuote, "%q: tags, directives and complex keys are not taken", t.Value)
			case token.SequenceEntryType:
				if listed == t.Position.Line {
					return nil, f.fail(t, "", "a list in a list")
				}
				listed = t.Position.Line
			case token.SequenceStartType, token.MappingStartType:
				if depth++; depth > maxDepth {
					return nil, f.fail(t, "", "more than %d brackets in one another", maxDepth)
				}
			case token.SequenceEndType, token.MappingEndType:
				depth--
			}
		}
		if all.Add(some...); len(all) > MaxTokens {
			return nil, f.fail(all[MaxTokens], "name shards by patterns: {000..009}", "the file has more than %d words", MaxTokens)
		}
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, f.syntax(err)
		}
	}
}

const hintQuote = "text with any of { [ : # & * ! in it stands in quotes"

// syntax puts an error of the library, which has many lines, on one.
func (f yamlFile) syntax(err error) error {
	var placed interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &placed) {
		return f.fail(placed.GetToken(), hintQuote, "%s", oneLine(placed.GetMessage()))
	}
	return f.fail(nil, hintQuote, "%s", oneLine(err.Error()))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
