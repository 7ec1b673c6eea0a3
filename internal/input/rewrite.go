package input

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/replace"
)

// A rewriteRule changes the start of a name, as WebDataset's GOPEN_REWRITE does.
type rewriteRule struct{ *replace.Rule }

// rewriteRules parses the given rules, one each, then GOPEN_REWRITE and then WDS_REWRITE:
// regex=replacement;…
func rewriteRules(given []string, lookup func(string) (string, bool)) ([]rewriteRule, error) {
	var rules []rewriteRule
	for _, text := range given {
		rule, err := parseRewrite(text)
		if err != nil {
			return nil, place.Refuse(shownRule(text), ErrPattern, "a rule of option rewrite is regex=replacement", "%s", Shown(err.Error()))
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
	rule, err := replace.Parse(`^(?:`+expr+`)`, template)
	return rewriteRule{rule}, err
}

// rewrite applies the first rule that changes the name.
func rewrite(name string, rules []rewriteRule) string {
	for _, r := range rules {
		if changed := r.First(name); changed != name {
			return changed
		}
	}
	return name
}
