package input

import (
	"errors"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// rewriteRules parses the given rules, then those of WebDataset's GOPEN_REWRITE and WDS_REWRITE:
// regex=replacement;… A regex matches at the start of a name.
func rewriteRules(given []string, lookup func(string) (string, bool)) (rules []*text.Rule, err error) {
	for _, text := range given {
		rule, err := parseRewrite(text)
		if err != nil {
			return nil, place.Refuse(shownRule(text), errPattern, "a rule of option rewrite is regex=replacement", "%s", Shown(err.Error()))
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
				return nil, place.Refuse(key, errPattern, "rules are regex=replacement, with ; between them", "%q: %s", shownRule(text), Shown(err.Error()))
			}
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// shownRule redacts a rule for errors: a mirror's URL may hold a password.
func shownRule(text string) string {
	expr, template, ok := strings.Cut(text, "=")
	if !ok {
		return Shown(text)
	}
	return Shown(expr) + "=" + Shown(template)
}

func parseRewrite(rule string) (*text.Rule, error) {
	expr, template, ok := strings.Cut(rule, "=")
	if !ok {
		return nil, errors.New("no equals sign")
	}
	return text.ParseRule(`^(?:`+expr+`)`, template)
}

// rewrite applies the first rule that changes the name.
func rewrite(name string, rules []*text.Rule) string {
	for _, r := range rules {
		if changed := r.First(name); changed != name {
			return changed
		}
	}
	return name
}
