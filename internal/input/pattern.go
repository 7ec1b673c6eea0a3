package input

import (
	"iter"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Limits of a pattern.
const (
	// MaxNames is the default cap on the names of one command. Ten million
	// shards of 256 MiB are 2.5 exabytes; a pattern that means more is a typo,
	// and it is refused before the first name is made.
	MaxNames = 10_000_000
	// maxPattern limits one pattern after substitution of its variables, in bytes. Linux passes at most 128 KiB as
	// one argument.
	maxPattern = 1 << 20
	// maxNesting limits nested braces, and thereby the parser's recursion.
	maxNesting = 64
)

// Expand yields the names that a pattern stands for, in order, one at a time. The rules are the
// rules of Python's braceexpand, which WebDataset uses, and three more:
//
//	{0..9} {000..010} {9..0} {0..10..2}   numbers; padded to the wider bound when one starts with 0
//	{a..e} {E..A} {a..g..2}               letters, A to Z before a to z
//	{a,b,} {x{1..3},y}                    lists, nesting
//	{a}{b} {}                             literal: neither a list nor a range
//	\{ \, \\                              a backslash makes the next character literal
//	<000..009>                            the same as {000..009}; other <…> are literal
//	a::b                                  a, then b
//	${NAME}                               the environment variable WDS_NAME, itself a pattern
//
// Of opts, only MaxNames and LookupEnv are used. The last factor of a product varies fastest. An error is the last
// pair, a [*place.Error] that wraps [errPattern]. Too many names are refused before the first is made.
func Expand(pattern string, opts Options) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		parsed, err := parsePatterns(pattern, opts)
		if err != nil {
			yield("", err)
			return
		}
		for _, seq := range parsed {
			if !seq.expand(nil, func(name []byte) bool { return yield(string(name), nil) }) {
				return
			}
		}
	}
}

// parsePatterns substitutes the environment, splits at "::" and parses each piece.
func parsePatterns(pattern string, opts Options) ([]sequence, error) {
	bad := func(hint, format string, args ...any) error {
		shown := Shown(pattern)
		if len(shown) > 200 {
			shown = shown[:200] + "…"
		}
		return place.Refuse(shown, errPattern, hint, format, args...)
	}
	text, err := substitute(pattern, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	if len(text) > maxPattern {
		return nil, bad("give several arguments", "%d bytes, more than %d", len(text), maxPattern)
	}
	limit := opts.maxNames()
	var parsed []sequence
	var total int64
	for _, piece := range splitJoined(text) {
		seq, err := parsePattern(piece, 0)
		if err != nil {
			return nil, bad(`a backslash before { or } takes it literally`, "%w", err)
		}
		if total = addSat(total, seq.count()); total > limit {
			return nil, bad("use a narrower one, or raise option max-names", "more than %d names", limit)
		}
		parsed = append(parsed, seq)
	}
	return parsed, nil
}

var envName = text.Pattern(`^\$\{([0-9A-Za-z_]+)\}`)

// substitute replaces each ${NAME} by the value of WDS_NAME, once: values are not substituted again.
func substitute(s string, lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			b.WriteString(s[i : i+2])
			i += 2
			continue
		case s[i] == '$':
			m := envName().FindStringSubmatch(s[i:])
			if m == nil {
				break
			}
			value, ok := lookup("WDS_" + m[1])
			if !ok {
				return "", place.Refuse("${"+m[1]+"}", errPattern, "set it, or write \\$ for a dollar sign",
					"the environment variable WDS_%s is not set", m[1])
			}
			if b.Len()+len(value) > maxPattern {
				return "", place.Refuse("${"+m[1]+"}", errPattern, "", "the pattern grows beyond %d bytes", maxPattern)
			}
			b.WriteString(value)
			i += len(m[0])
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String(), nil
}

// splitJoined cuts at every "::" that is not escaped.
func splitJoined(s string) []string {
	var pieces []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], "::"):
			pieces = append(pieces, s[start:i])
			i++
			start = i + 1
		}
	}
	return append(pieces, s[start:])
}
