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
}

var changes []change

// changesSince returns the lines of the page about those of all changes that a tree of that time does not have.
func changesSince(tree time.Time, all []change) (lines []string) {
	for _, c := range all {
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
	r.changes = []change{{"abc", time.Date(2036, 1, 2, 0, 0, 0, 0, time.UTC), "It is faster"}}
	r.tree = r.changes[0].landed.Add(-time.Second)
	if text := r.page(); !strings.Contains(text, changed+"- Since `abc`, 2036-01-02: It is faster.\n\n- a CPU\n") {
		t.Errorf("the page of an older tree:\n%s", text)
	}
	r.tree = r.changes[0].landed
	if text := r.page(); strings.Contains(text, changed) {
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
	want := changesSince(tree, changes)
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
