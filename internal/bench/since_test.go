package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A change to the program that moves figures of the page. Whoever makes one adds it; the page of an
// older tree lists it, and the next run of make bench leaves it out.
type change struct {
	commit string
	landed time.Time // when the commit was made
	what   string    // and what it costs or brings, as measured

	verified float64 // seconds of processor time that a conversion that verifies takes more a GB
}

var changes = []change{
	{
		commit: "e0e1fc82db68", landed: time.Date(2026, 11, 23, 18, 38, 49, 0, time.UTC),
		what: "Conversions that verify compute the SHA-256 of each shard while they read it again. That takes 0.55 s of processor time a GB ([016](decisions/016-proof.md)), " +
			"some 45 % of what such a conversion of tars takes: for 1 GiB of samples of 100 KB 1.42 s in place of 0.61 s, and 1.72 s of wall time in place of 1.40 s, on an idle machine; " +
			"1.01 s in place of 0.52 s (1.95 times, 1.79–2.11 in five pairs) and 1.14 (1.02–1.28) times the wall time on a busy one. So S2, C2, S12 and conversions \"with verification\" are slower now than these figures say. " +
			"With `--no-verify`, and in `verify`, nothing is hashed",
		verified: 0.55,
	},
}

// changesSince returns the lines of the page about changes that a tree of that time does not have.
func changesSince(tree time.Time) (lines []string) {
	for _, c := range changes {
		if c.landed.After(tree) {
			lines = append(lines, item(fmt.Sprintf("Since `%s`, %s: %s.", c.commit, c.landed.Format(time.DateOnly), c.what)))
		}
	}
	return lines
}

const changed = "What has changed since, and is not in the figures:\n\n"

// A page lists the changes that came after its tree, and no others.
func TestChangesSince(t *testing.T) {
	t.Parallel()
	r := whole()
	r.tree = changes[0].landed.Add(-time.Second)
	if text := r.page(); !strings.Contains(text, changed+changesSince(r.tree)[0]+"\n- a CPU\n") {
		t.Errorf("the page of an older tree:\n%s", text)
	}
	r.tree = changes[0].landed
	if text := r.page(); strings.Contains(text, changed) || strings.Contains(text, changes[0].commit) {
		t.Errorf("the page of a tree with the change:\n%s", text)
	}
}

var measuredTree = regexp.MustCompile("They are of ffconvert \\S+, commit `[0-9a-f]{12}` of (\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d) UTC")

// docs/performance.md says of which tree it is, and what has changed since.
func TestPageNamesItsTree(t *testing.T) {
	t.Parallel()
	page := docsPage(t, "performance.md")
	m := measuredTree.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no match of %s", measuredTree)
	}
	tree, err := time.Parse("2006-01-02 15:04", m[1])
	if err != nil {
		t.Fatal(err)
	}
	want := changesSince(tree)
	_, section, _ := strings.Cut(page, changed)
	section, _, _ = strings.Cut(section, "\n\n")
	if got := strings.TrimSuffix(strings.Join(want, ""), "\n"); section != got {
		t.Errorf("the page lists\n%s\nwant\n%s", section, got)
	}
}

// docsPage returns a page of docs/.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
