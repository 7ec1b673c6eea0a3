// Package replace replaces what a regular expression matches by a template, as Python's re.sub does.
//
//	rule, err := replace.ParseRule(`^train/(.*)`, `\1`)
//	rule.All(nil, "train/0001") // 0001
package text

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A Rule is an expression and what replaces its matches. It may be used concurrently.
type Rule struct {
	match *regexp.Regexp
	parts []piece
}

// A piece is a text, or, when group is not negative, what a group matched.
type piece struct {
	text  string
	group int
}

// ParseRule parses an expression of package regexp and a template. In a template \1 to \99, \g<1> and \g<name> are
// what a group matched, and \\ is a backslash.
func ParseRule(expr, template string) (*Rule, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	parts, err := parseTemplate(template, re)
	return &Rule{re, parts}, err
}

// Of returns what replaces s, which must match as a whole.
func (r *Rule) Of(s string) (string, bool) {
	m := r.match.FindStringSubmatchIndex(s)
	if m == nil || m[0] > 0 || m[1] < len(s) {
		return "", false
	}
	return string(r.expand(nil, s, m)), true
}

// Results returns an expression for all that the template can make, and more: a group may be any text in it.
func (r *Rule) Results() *regexp.Regexp {
	var expr strings.Builder
	expr.WriteString("^")
	for _, p := range r.parts {
		if p.group < 0 {
			expr.WriteString(regexp.QuoteMeta(p.text))
		} else {
			expr.WriteString("(?s:.*)")
		}
	}
	expr.WriteString("$")
	return regexp.MustCompile(expr.String())
}

// First replaces the first match in s. If there is none it returns s.
func (r *Rule) First(s string) string {
	m := r.match.FindStringSubmatchIndex(s)
	if m == nil {
		return s
	}
	return string(append(r.expand([]byte(s[:m[0]]), s, m), s[m[1]:]...))
}

// All appends s to dst, with all matches replaced that do not overlap.
func (r *Rule) All(dst []byte, s string) []byte {
	from := 0
	for _, m := range r.match.FindAllStringSubmatchIndex(s, -1) {
		dst = append(dst, s[from:m[0]]...)
		dst = r.expand(dst, s, m)
		from = m[1]
	}
	return append(dst, s[from:]...)
}

// expand appends the template for one match.
func (r *Rule) expand(dst []byte, s string, m []int) []byte {
	for _, p := range r.parts {
		switch {
		case p.group < 0:
			dst = append(dst, p.text...)
		case m[2*p.group] >= 0:
			dst = append(dst, s[m[2*p.group]:m[2*p.group+1]]...)
		}
	}
	return dst
}

// parseTemplate reads a replacement as Python's re.sub does: \1 to \99, \g<1>,
// \g<name> and \\; a backslash before any character but a letter or digit stays.
func parseTemplate(s string, re *regexp.Regexp) ([]piece, error) {
	var parts []piece
	var text strings.Builder
	group := func(ref string) error {
		n, err := strconv.Atoi(ref)
		if err != nil {
			n = re.SubexpIndex(ref)
		}
		if n < 0 || n > re.NumSubexp() {
			return fmt.Errorf("the replacement refers to group %q, which the expression does not have", ref)
		}
		parts = append(parts, piece{text: text.String(), group: -1}, piece{group: n})
		text.Reset()
		return nil
	}
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			text.WriteByte(s[i])
			continue
		}
		i++
		switch c := s[i]; {
		case c == '\\':
			text.WriteByte('\\')
		case c >= '1' && c <= '9':
			end := i + 1
			if end < len(s) && s[end] >= '0' && s[end] <= '9' {
				end++
			}
			if err := group(s[i:end]); err != nil {
				return nil, err
			}
			i = end - 1
		case strings.HasPrefix(s[i:], "g<") && strings.Contains(s[i:], ">"):
			end := i + strings.IndexByte(s[i:], '>')
			if err := group(s[i+2 : end]); err != nil {
				return nil, err
			}
			i = end
		case c == '0', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			return nil, fmt.Errorf(`the replacement's \%c is not supported`, c)
		default:
			text.WriteByte('\\')
			text.WriteByte(c)
		}
	}
	return append(parts, piece{text: text.String(), group: -1}), nil
}
