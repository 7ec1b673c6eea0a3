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
	"github.com/ffconvert/ffconvert/internal/input"
)

// Limits of a YAML file, checked before it is parsed: the parser recurses for each level, and its time
// grows with the square of the tokens in one mapping.
const (
	MaxSize   = 1 << 20 // bytes
	MaxTokens = 1 << 16 // some seconds of parsing at the worst
	maxDepth  = 8       // nested brackets; a specification needs four
)

// fail returns an error at a token; nil: at the start of the file. It prints on one line.
func fail(name string, at *token.Token, hint, format string, args ...any) error {
	line, column, text := 1, 1, input.Shown(fmt.Sprintf(format, args...)) // the message may quote a signed URL
	if at != nil && at.Position != nil {
		line, column = max(1, at.Position.Line), max(1, at.Position.Column)
	}
	if hint != "" {
		text += " (" + hint + ")"
	}
	return fmt.Errorf("%s:%d:%d: %s", name, line, column, text)
}

// parse returns the single document of a file; nil if it is empty.
func parse(name string, data []byte) (body ast.Node, err error) {
	if len(data) > MaxSize {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it has more than %d bytes", converters.ErrLimit, MaxSize), Hint: hintPatterns}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i, line := range bytes.Split(data, []byte("\n")) {
		if bad := bytes.IndexFunc(line, func(r rune) bool { return r == utf8.RuneError || r == 0 }); bad >= 0 {
			at := &token.Token{Position: &token.Position{Line: i + 1, Column: utf8.RuneCount(line[:bad]) + 1}}
			return nil, fail(name, at, "save the file as UTF-8", "not text in UTF-8")
		}
	}
	all, err := tokens(name, string(data))
	if err != nil {
		return nil, err
	}
	defer func() {
		if r := recover(); r != nil { // the library panics on some malformed files
			body, err = nil, fail(name, nil, "", "not YAML that can be read: %s", oneLine(fmt.Sprint(r)))
		}
	}()
	file, err := parser.Parse(all, 0, parser.AllowDuplicateMapKey()) // r.mapping finds repeated keys faster
	if err != nil {
		return nil, syntax(name, err)
	}
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			return nil, fail(name, doc.Body.GetToken(), "one file is one dataset", "a second document begins here")
		}
		body = doc.Body
	}
	return body, nil
}

// tokens splits a file into tokens. It refuses tokens that a specification does not need and that the parser would
// expand or convert.
func tokens(name, text string) (token.Tokens, error) {
	var s scanner.Scanner
	s.Init(text)
	var all token.Tokens
	depth, listed := 0, 0
	for {
		some, err := s.Scan()
		for _, t := range some {
			switch t.Type {
			case token.InvalidType:
				return nil, fail(name, t, hintQuote, "%s", oneLine(t.Error))
			case token.AnchorType, token.AliasType, token.MergeKeyType:
				return nil, fail(name, t, "write out what it stands for; a * or & of a name stands in quotes", "anchors and aliases are not taken")
			case token.TagType, token.DirectiveType, token.MappingKeyType:
				return nil, fail(name, t, hintQuote, "%q: tags, directives and complex keys are not taken", t.Value)
			case token.SequenceEntryType:
				if listed == t.Position.Line {
					return nil, fail(name, t, "", "a list in a list")
				}
				listed = t.Position.Line
			case token.SequenceStartType, token.MappingStartType:
				if depth++; depth > maxDepth {
					return nil, fail(name, t, "", "more than %d brackets in one another", maxDepth)
				}
			case token.SequenceEndType, token.MappingEndType:
				depth--
			}
		}
		if all.Add(some...); len(all) > MaxTokens {
			return nil, fail(name, all[MaxTokens], hintPatterns, "the file has more than %d words", MaxTokens)
		}
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, syntax(name, err)
		}
	}
}

const (
	hintPatterns = "name shards by patterns: {000..009}"
	hintQuote    = "text with any of { [ : # & * ! in it stands in quotes"
)

// syntax returns the library's error, which has several lines, as an Error on one line.
func syntax(name string, err error) error {
	var placed interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &placed) {
		return fail(name, placed.GetToken(), hintQuote, "%s", oneLine(placed.GetMessage()))
	}
	return fail(name, nil, hintQuote, "%s", oneLine(err.Error()))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
