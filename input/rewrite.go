package input

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// A rewriteRule changes the start of a name, as WebDataset's GOPEN_REWRITE does.
type rewriteRule struct {
	match *regexp.Regexp // anchored at the start
	parts []rewritePart  // what replaces the match
}

// A rewritePart is a text, or, when group is not negative, what a group matched.
type rewritePart struct {
	text  string
	group int
}

// rewriteRules parses the given rules, one each, then GOPEN_REWRITE and then WDS_REWRITE:
// regex=replacement;…
func rewriteRules(given []string, lookup func(string) (string, bool)) ([]rewriteRule, error) {
	var rules []rewriteRule
	for _, text := range given {
		rule, err := parseRewrite(text)
		if err != nil {
			return nil, place.Refuse(shownRule(text), ErrPattern, "a rule of Options.Rewrite is regex=replacement", "%s", Shown(err.Error()))
		}
		rules = append(rules, rule)
	}
	for _, key := range []string{"GOPEN_REWRITE", "WDS_REWRITE"} {
		value, _ := lookup(key)
		for text := range strings.SplitSeq(value, ";") {
			if text == "" {
				continue
			}
			rule, err := parseRewrite(text)
			if err != nil {
				return nil, place.Refuse(key, ErrPattern, "rules are regex=replacement, with ; between them", "%q: %s", shownRule(text), Shown(err.Error()))
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// shownRule is a rule as errors may show it: a mirror's URL may hold a password.
func shownRule(text string) string {
	expr, template, ok := strings.Cut(text, "=")
	if !ok {
		return Shown(text)
	}
	return Shown(expr) + "=" + Shown(template)
}

func parseRewrite(text string) (rewriteRule, error) {
	expr, template, ok := strings.Cut(text, "=")
	if !ok {
		return rewriteRule{}, fmt.Errorf("no equals sign")
	}
	re, err := regexp.Compile(`^(?:` + expr + `)`)
	if err != nil {
		return rewriteRule{}, err
	}
	parts, err := parseTemplate(template, re)
	return rewriteRule{re, parts}, err
}

// parseTemplate reads a replacement as Python's re.sub does: \1 to \99, \g<1>,
// \g<name> and \\; a backslash before any character but a letter or digit stays.
func parseTemplate(s string, re *regexp.Regexp) ([]rewritePart, error) {
	var parts []rewritePart
	var text strings.Builder
	group := func(ref string) error {
		n, err := strconv.Atoi(ref)
		if err != nil {
			n = re.SubexpIndex(ref)
		}
		if n < 0 || n > re.NumSubexp() {
			return fmt.Errorf("the replacement refers to group %q, which the expression does not have", ref)
		}
		parts = append(parts, rewritePart{text: text.String(), group: -1}, rewritePart{group: n})
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
	return append(parts, rewritePart{text: text.String(), group: -1}), nil
}

// rewrite applies the first rule that changes the name.
func rewrite(name string, rules []rewriteRule) string {
	for _, r := range rules {
		m := r.match.FindStringSubmatchIndex(name)
		if m == nil {
			continue
		}
		var b strings.Builder
		for _, p := range r.parts {
			switch {
			case p.group < 0:
				b.WriteString(p.text)
			case m[2*p.group] >= 0:
				b.WriteString(name[m[2*p.group]:m[2*p.group+1]])
			}
		}
		b.WriteString(name[m[1]:])
		if changed := b.String(); changed != name {
			return changed
		}
	}
	return name
}
