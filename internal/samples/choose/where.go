package choose

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// A condition is one comparison of an expression.
type condition struct {
	subject
	op   string
	text string         // the right operand
	num  number         // text as a number, if it is one
	re   *regexp.Regexp // for operator ~

	prefix string // literal, if re is ^ and a literal: faster than re; else ""
}

// operators, those of two characters first.
var operators = []string{"!=", "<=", ">=", "=", "<", ">", "~"}

// CheckWhere returns an error, with the column of the mistake, unless text is an expression for Options.Where:
// comparisons joined by "and", all of which must hold.
//
//	NAME OPERATOR VALUE [and NAME OPERATOR VALUE …]
//
// NAME is key, label (the number of the class), class (its name), size (bytes of all fields), FIELD.size, or FIELD, the
// value of a field; in quotes a NAME is a field, whatever it is called. OPERATOR is one of = != < <= > >= and ~, which
// takes a Go regular expression. VALUE ends at a space, unless it is in quotes. A size may have a unit, as in 1MiB. A
// value that is a number, without quotes, is compared as a number with numbers, and all else as text, byte by byte. A
// sample without the field fails each comparison.
func CheckWhere(text string) error {
	_, err := parseWhere(text)
	return err
}

func parseWhere(text string) ([]condition, error) {
	if text == "" {
		return nil, nil
	}
	p := &parser{text: text}
	var all []condition
	for {
		c, err := p.condition()
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		if p.space(); p.at == len(p.text) {
			return all, nil
		}
		at := p.at
		if word := p.until(unicode.IsSpace); word != "and" {
			return nil, p.fail(at, "want \"and\" and another comparison, not %q; a value with spaces stands in quotes", word)
		}
	}
}

type parser struct {
	text string
	at   int // offset in bytes
}

// fail returns an error with the column of the first wrong character, counted from 1.
func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("column %d: %s", utf8.RuneCountInString(p.text[:at])+1, fmt.Sprintf(format, args...))
}

func (p *parser) space() {
	rest := strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace)
	p.at = len(p.text) - len(rest)
}

// until consumes the text before the first character for which end is true.
func (p *parser) until(end func(rune) bool) string {
	rest := p.text[p.at:]
	n := strings.IndexFunc(rest, end)
	if n < 0 {
		n = len(rest)
	}
	p.at += n
	return rest[:n]
}

// word consumes a quoted text, or the text before the first character for which end is true.
func (p *parser) word(end func(rune) bool) (word string, quoted bool, err error) {
	if p.at == len(p.text) || p.text[p.at] != '\'' && p.text[p.at] != '"' {
		return p.until(end), false, nil
	}
	from, quote := p.at, rune(p.text[p.at])
	p.at++
	word = p.until(func(r rune) bool { return r == quote })
	if p.at == len(p.text) {
		return "", true, p.fail(from, "the quote is not closed")
	}
	p.at++
	return word, true, nil
}

func (p *parser) condition() (condition, error) {
	p.space()
	from := p.at
	name, quoted, err := p.word(func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("=!<>~", r) })
	if err != nil {
		return condition{}, err
	}
	if name == "" {
		return condition{}, p.fail(from, "want a name: key, label, class, size, a field or FIELD.size")
	}
	c := condition{subject: subject{of: theField, field: name}}
	if !quoted {
		c.subject = subjectOf(name)
	}
	p.space()
	for _, op := range operators {
		if strings.HasPrefix(p.text[p.at:], op) {
			c.op = op
			break
		}
	}
	if c.op == "" {
		return c, p.fail(p.at, "want one of = != < <= > >= ~ after %q", name)
	}
	p.at += len(c.op)
	p.space()
	at := p.at
	if c.text, quoted, err = p.word(unicode.IsSpace); err != nil {
		return c, err
	}
	if !quoted && (c.text == "" || strings.ContainsRune("=<>~", rune(c.text[0]))) {
		return c, p.fail(at, "want a value after %s", c.op)
	}
	return c, p.value(&c, quoted, at)
}

// value parses the right operand of a condition according to its subject.
func (p *parser) value(c *condition, quoted bool, at int) (err error) {
	sized := c.of == theSize || c.of == theFieldSize
	switch {
	case c.op == "~" && (sized || c.of == theLabel):
		return p.fail(at, "%s is a number, which ~ does not take", c.subject)
	case c.op == "~":
		if c.re, err = regexp.Compile(c.text); err != nil {
			return p.fail(at, "%v", err)
		}
		if prefix, ok := strings.CutPrefix(c.text, "^"); ok && regexp.QuoteMeta(prefix) == prefix && !strings.ContainsRune(prefix, utf8.RuneError) {
			c.prefix = prefix
		}
	case sized:
		n, err := humanize.ParseBytes(c.text)
		if err != nil || n > math.MaxInt64 {
			return p.fail(at, "%q is not a number of bytes, as in 4096 or 1MiB", c.text)
		}
		c.num = number{ok: true, whole: true, i: int64(n), f: float64(n)}
	case c.of == theLabel:
		i, err := strconv.ParseInt(c.text, 10, 64)
		if err != nil {
			return p.fail(at, "%q is not a whole number, as labels are; class has their names", c.text)
		}
		c.num = number{ok: true, whole: true, i: i, f: float64(i)}
	case c.of == theField && !quoted:
		c.num = parseNumber(c.text)
	}
	return nil
}

// A number is an integer or a float. ok is false for anything else.
type number struct {
	ok, whole bool
	i         int64
	f         float64
}

func parseNumber(text string) number {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number{true, true, i, float64(i)}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || strings.ContainsAny(text, "_xXpPnN") {
		return number{}
	}
	return number{ok: true, f: f}
}
