package findings

import (
	"testing"
)

// rulesOfTest has a rule of each level.
var rulesOfTest = []Rule{
	{ID: "truncated", Level: Error, Short: "The file ends too early", Help: "Fetch it again."},
	{ID: "empty-field", Level: Warning, Short: "A field has no bytes"},
	{ID: "skipped", Level: Note, Short: "An entry is passed over", Help: "Nothing, if that was meant."},
}

func TestCount(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name                 string
		rules                []string
		errors, warns, notes int64
	}{
		{"nothing", nil, 0, 0, 0},
		{"a note", []string{"skipped"}, 0, 0, 1},
		{"a note before a warning", []string{"skipped", "empty-field"}, 0, 1, 1},
		{"all", []string{"skipped", "truncated", "empty-field", "skipped"}, 1, 1, 2},
		{"a rule that the report lacks is an error", []string{"skipped", "unheard-of"}, 1, 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := Report{Rules: rulesOfTest}
			for _, id := range row.rules {
				r.Add(Finding{Rule: id, Count: 5}) // told of together, it is one finding
			}
			if e, w, n := r.Count(Error), r.Count(Warning), r.Count(Note); e != row.errors || w != row.warns || n != row.notes {
				t.Errorf("%d errors, %d warnings, %d notes", e, w, n)
			}
			if len(r.Found) != len(row.rules) || r.More != 0 {
				t.Errorf("kept %d, and %d more", len(r.Found), r.More)
			}
		})
	}
}

// A flood of notes is counted, and an error after it is kept.
func TestAddIsBounded(t *testing.T) {
	t.Parallel()
	const flood = 1_000_000
	r := Report{Rules: rulesOfTest, Found: []Finding{{Rule: "skipped"}}}
	for range flood {
		r.Add(Finding{Rule: "skipped"})
	}
	r.Add(Finding{Rule: "truncated"})
	if len(r.Found) != maxKept+1 || r.More != flood+1-maxKept {
		t.Errorf("kept %d, and %d more", len(r.Found), r.More)
	}
	if r.Count(Error) != 1 || r.Count(Note) != flood+1 {
		t.Errorf("%d errors, %d notes", r.Count(Error), r.Count(Note))
	}
	if maxKept*3 >= 25_000 {
		t.Error("GitHub refuses a document of 25,000 results")
	}
}
