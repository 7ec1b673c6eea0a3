package input

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// A sequence is a parsed pattern: the product of its items.
type sequence []item

// An item is one factor of a product. Exactly one field is used.
type item struct {
	literal string     // if the other fields are empty
	choices []sequence // {a,b}, or {a..e}
	ints    *intRange  // {0..9}
}

type intRange struct {
	start int64
	step  int64 // signed; sums with it wrap modulo 2⁶⁴
	n     int64 // values, at least 1
	width int   // results are zero padded to this width, sign included
}

var (
	errUnbalanced = errors.New("unbalanced braces")
	errNesting    = fmt.Errorf("braces nested more than %d deep", maxNesting)

	rangeText   = `(?:(-?[0-9]+)\.\.(-?[0-9]+)|([A-Za-z])\.\.([A-Za-z]))(?:\.\.-?([0-9]+))?`
	braceRange  = text.Pattern(`^` + rangeText + `$`)
	angledRange = text.Pattern(`^<` + rangeText + `>`)
)

// parsePattern parses a product of literals and expressions.
func parsePattern(s string, nesting int) (sequence, error) {
	if nesting > maxNesting {
		return nil, errNesting
	}
	var seq sequence
	start := 0 // of the literal, or of the open expression
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			if depth == 0 {
				seq = seq.literal(s[start:i])
				start = i
			}
			depth++
		case '}':
			depth--
			if depth < 0 {
				return nil, errUnbalanced
			}
			if depth == 0 {
				var err error
				if seq, err = seq.expression(s[start+1:i], nesting); err != nil {
					return nil, err
				}
				start = i + 1
			}
		case '<':
			if depth > 0 {
				break // parsed by the outer expression
			}
			m := angledRange().FindStringSubmatch(s[i:])
			if m == nil {
				break
			}
			it, err := parseRange(m)
			if err != nil {
				return nil, err
			}
			seq = append(seq.literal(s[start:i]), it)
			i += len(m[0]) - 1
			start = i + 1
		}
	}
	if depth != 0 {
		return nil, errUnbalanced
	}
	return seq.literal(s[start:]), nil
}

// literal appends literal text and resolves its backslash escapes.
func (seq sequence) literal(s string) sequence {
	if s == "" {
		return seq
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		// As in braceexpand, a last backslash, or one before a newline, stays.
		if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\n' {
			i++
		}
		b.WriteByte(s[i])
	}
	return append(seq, item{literal: b.String()})
}

// expression appends the text between two braces: a range, a list, or else that text literally with its braces.
func (seq sequence) expression(s string, nesting int) (sequence, error) {
	if m := braceRange().FindStringSubmatch(s); m != nil {
		it, err := parseRange(m)
		return append(seq, it), err
	}
	alternatives := splitList(s)
	if len(alternatives) == 1 {
		inner, err := parsePattern(s, nesting+1)
		if err != nil {
			return nil, err
		}
		seq = append(seq, item{literal: "{"})
		return append(append(seq, inner...), item{literal: "}"}), nil
	}
	it := item{choices: make([]sequence, 0, len(alternatives))}
	for _, a := range alternatives {
		inner, err := parsePattern(a, nesting+1)
		if err != nil {
			return nil, err
		}
		it.choices = append(it.choices, inner)
	}
	return append(seq, it), nil
}

// splitList cuts s at the commas that are not within braces.
func splitList(s string) []string {
	var list []string
	start, depth := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, s[start:i])
				start = i + 1
			}
		}
	}
	return append(list, s[start:])
}

// parseRange returns the item for a match of rangeText.
func parseRange(m []string) (item, error) {
	step, beyond := uint64(1), false // beyond: the step exceeds 64 bits, so the range has its first value only
	if m[5] != "" {
		n, err := strconv.ParseUint(m[5], 10, 64)
		step, beyond = max(n, 1), err != nil
	}
	if m[3] != "" {
		return item{choices: letterRange(m[3], m[4], step)}, nil
	}
	start, err1 := strconv.ParseInt(m[1], 10, 64)
	end, err2 := strconv.ParseInt(m[2], 10, 64)
	if err1 != nil || err2 != nil {
		return item{}, errors.New("a number of a range needs more than 64 bits")
	}
	distance := uint64(end) - uint64(start)
	if end < start {
		distance = -distance
	}
	r := &intRange{start: start, step: int64(step), n: math.MaxInt64}
	if n := distance / step; beyond {
		r.n = 1
	} else if n < math.MaxInt64 {
		r.n = int64(n) + 1
	}
	if end < start {
		r.step = -r.step
	}
	if padded(m[1]) || padded(m[2]) {
		r.width = max(len(m[1]), len(m[2]))
	}
	return item{ints: r}, nil
}

func padded(bound string) bool {
	return bound != "0" && bound != "-0" && strings.HasPrefix(strings.TrimPrefix(bound, "-"), "0")
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func letterRange(from, to string, step uint64) (letters []sequence) {
	i, end := strings.Index(alphabet, from), strings.Index(alphabet, to)
	by := int(min(step, uint64(len(alphabet))))
	if i > end {
		by = -by
	}
	for n := (end - i) / by; n >= 0; n-- {
		letters = append(letters, sequence{{literal: alphabet[i : i+1]}})
		i += by
	}
	return letters
}
