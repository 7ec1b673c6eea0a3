package chromium

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/chromedp/chromedp"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A violation is one of axe-core's: https://dequeuniversity.com/rules/axe/ has them by ID.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

// Accessible fails the test for what axe-core finds on the page of serious or critical impact: contrast, labels, names,
// roles, order of headings. It looks at the colours and the width that Look has set.
func (tab *Tab) Accessible() {
	tab.t.Helper()
	for _, v := range tab.violations() {
		for _, n := range v.Nodes {
			tab.t.Errorf("%s: %s: %s (%s)\n%s\n%s", tab.Location(), v.Impact, v.Help, v.ID, n.HTML, n.FailureSummary)
		}
	}
}

func (tab *Tab) violations() (bad []violation) {
	tab.t.Helper()
	if !Eval[bool](tab, `typeof axe == "object"`) {
		script, err := os.ReadFile(filepath.Join(need.Node(tab.t, "axe-core"), "axe.min.js"))
		if err != nil {
			tab.t.Fatal(err)
		}
		// By the protocol: the page's policy forbids scripts that it does not name.
		tab.Do(chromedp.Evaluate[chromedp.Void](string(script)))
	}
	for _, v := range Eval[[]violation](tab, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({
		ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.slice(0, 3).map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`) {
		if v.Impact == "serious" || v.Impact == "critical" {
			bad = append(bad, v)
		}
	}
	return bad
}

func (v violation) String() string {
	var where []string
	for _, n := range v.Nodes {
		where = append(where, n.HTML)
	}
	return fmt.Sprintf("%s (%s): %s", v.ID, v.Impact, strings.Join(where, " "))
}
