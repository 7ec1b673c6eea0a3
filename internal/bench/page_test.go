package bench

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A result is all that one run has measured, and where.
type result struct {
	commit  string
	version string    // of the program
	tree    time.Time // of the commit
	date    string
	volume  string   // size of the main set
	machine []string // a line each
	took    string
	whole   map[string]string // the rows that came to their end, and how long each took
	figures []figure
	changes []change // since some tree

	coldness string // whose page cache was dropped
}

// missing lists the rows that did not come to their end.
func (r *result) missing() (ids []string) {
	for _, row := range rows {
		if r.whole[row.id] == "" {
			ids = append(ids, row.id)
		}
	}
	return ids
}

// page is the whole page. The same result gives the same page.
func (r *result) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Performance

<!-- written by make bench: do not edit -->

All figures are of one run of %s, on %s.
They are of ffconvert %s, commit %s of %s UTC, and of no other tree.
The main set has %s.
What is compared was run in turn on one machine, another one first each round; a figure is the median of the rounds'
ratios, or of the rounds, with the least and the greatest in brackets. How each is measured is in
[benchmarks.md](benchmarks.md). "Cold" is with the page cache emptied right before: %s.
A limit is what fio takes to read the sources and write the output at the same time, or to write it where the sources
are in the page cache, in the same rounds.

`, r.took, r.date, r.version, r.commit, r.tree.UTC().Format("2006-01-02 15:04"), r.volume, r.coldness)
	if lines := changesSince(r.tree, r.changes); len(lines) > 0 {
		b.WriteString(changed + strings.Join(lines, "") + "\n")
	}
	for _, line := range r.machine {
		b.WriteString(item(line))
	}
	b.WriteString("\n## The table\n\n" + r.table(false))
	b.WriteString("\n## To repeat a row\n\n| row | command | takes | what it does |\n| --- | --- | --- | --- |\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | `make bench ROW=%s` | %s | %s |\n", row.id, row.id, orDash(r.whole[row.id]), row.does)
	}
	b.WriteString("\n## Further figures\n\n" + r.table(true))
	return b.String()
}

// item returns an item of a list, in lines of at most 120 characters.
func item(text string) string {
	line, lines := "-", ""
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > 120 {
			lines += line + "\n"
			line = " "
		}
		line += " " + word
	}
	return lines + line + "\n"
}

// table is the figures that have targets, or the further ones, in the order of their rows.
func (r *result) table(further bool) string {
	var b strings.Builder
	b.WriteString("| row | work | against | target | median (least–greatest) | ffconvert | the other | limit | |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	sorted := slices.Clone(r.figures)
	slices.SortStableFunc(sorted, func(f, g figure) int { return cmp.Compare(place(f.row), place(g.row)) })
	for _, f := range sorted {
		if (rows[place(f.row)].further || f.target.none()) == further {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f.row, f.work,
				orDash(f.against), orDash(f.wanted()), orDash(f.measured()), orDash(f.ours), orDash(f.theirs), orDash(f.limit), f.verdict())
		}
	}
	return b.String()
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// whole is a result of every row.
func whole() *result {
	r := &result{commit: "`abc`", version: "v1", tree: time.Date(2036, 1, 2, 3, 4, 5, 0, time.UTC), date: "2036-01-02", volume: "2 GiB", machine: []string{"a CPU", "a disk"}, took: "1m0s", whole: make(map[string]string), coldness: "of all"}
	for _, row := range slices.Backward(rows) {
		r.whole[row.id] = "5s"
		r.figures = append(r.figures, figure{row: row.id, work: "work of " + row.id, against: "cp", value: series{1, 2, 3}, unit: ratio, target: atMost(1), ours: "x", limit: "0.9 of fio"},
			figure{row: row.id, work: "more of " + row.id, value: series{1}, unit: seconds})
	}
	return r
}

func TestPage(t *testing.T) {
	t.Parallel()
	text := whole().page()
	if text != whole().page() {
		t.Error("the same result gives another page")
	}
	first, further, _ := strings.Cut(text, "## Further figures")
	for _, want := range []string{
		"All figures are of one run of 1m0s, on 2036-01-02.\nThey are of ffconvert v1, commit `abc` of 2036-01-02 03:04 UTC, and of no other tree.\nThe main set has 2 GiB.\n", "- a CPU\n- a disk\n", "[benchmarks.md](benchmarks.md)",
		"| S1 | work of S1 | cp | ≤ 1.00 | 2.00 (1.00–3.00) | x | – | 0.9 of fio | MISSED |\n| S2 | work of S2 |",
		"| T8 | work of T8 | cp | ≤ 1.00 | 2.00 (1.00–3.00) | x | – | 0.9 of fio | MISSED |\n\n",
		"| S5 | `make bench ROW=S5` | 5s | CSV", "emptied right before: of all.\nA limit",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	for _, want := range []string{
		"| S1 | more of S1 | – | – | 1.00 s | – | – | – |  |\n| S2 | more of S2 |",
		"| Index | work of Index | cp | ≤ 1.00 | 2.00 (1.00–3.00) | x | – | 0.9 of fio | MISSED |\n| Index | more",
	} {
		if !strings.Contains(further, want) {
			t.Errorf("the further figures lack %q:\n%s", want, text)
		}
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	r := whole()
	if got := r.missing(); len(got) > 0 {
		t.Errorf("%v are missing of all", got)
	}
	delete(r.whole, "S3")
	delete(r.whole, "Index")
	if got := r.missing(); !slices.Equal(got, []string{"S3", "Index"}) {
		t.Errorf("%v are missing", got)
	}
}
