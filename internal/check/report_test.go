package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
)

// Errors of a source by their kind; those of the operating system as they are.
func TestRefusal(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		err  error
		want string
	}{
		{converters.ErrTruncated, Truncated},
		{fmt.Errorf("%w: %w", converters.ErrMalformed, io.ErrUnexpectedEOF), Malformed},
		{converters.ErrUnsupported, Unsupported},
		{converters.ErrDuplicate, Duplicate},
		{converters.ErrChanged, changed},
		{converters.ErrLimit, Limit},
		{fs.ErrNotExist, Missing},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, Unreadable},
		{syscall.EIO, Unreadable},
	} {
		f := Refusal(&converters.Error{Where: "a", Off: 5, Entry: "e", Err: row.err, Hint: "h"}, "b")
		if f.Rule != row.want || f.Place != (findings.Place{File: "a", Offset: 5, Entry: "e"}) || f.Hint != "h" || f.Text != row.err.Error() {
			t.Errorf("%v: %+v, want the rule %s", row.err, f, row.want)
		}
		if f := Refusal(row.err, "b"); f.Rule != row.want || f.Place != (findings.Place{File: "b", Offset: -1}) {
			t.Errorf("%v without a place: %+v", row.err, f)
		}
	}
}

// A source's words for what it passes over and waives are known here: see the rows above for
// most of them. What is not known is a note, or refused.
func TestUnknownWords(t *testing.T) {
	t.Parallel()
	src := made{func(yield func(*converters.Span, error) bool) {
		_ = yield(&converters.Span{Entries: 1, Skip: "a new reason", Name: "e"}, nil) &&
			yield(&converters.Span{Accepted: true, Skip: "a new waiver"}, nil) &&
			yield(&converters.Span{Off: 9, Entries: 1, Skip: "fifo", Name: "f"}, nil) &&
			yield(nil, &converters.Error{Where: "part-0", Off: 10, Err: syscall.EIO})
	}}
	compare(t, check(t, src, Options{}), []string{
		`error: part-0: offset 0: a new waiver [unsupported]`,
		`error: part-0: offset 10: input/output error [unreadable]`,
		`warning: part-0: offset 9: "f": skipped: fifo [skipped-link]`,
		`note: part-0: offset 0: "e": skipped: a new reason [skipped]`,
	})
}

// What was refused before there was a source comes first, each a file.
func TestRefusedInputs(t *testing.T) {
	t.Parallel()
	refused := []findings.Finding{
		Refusal(fs.ErrNotExist, "gone.tar"),
		Refusal(fmt.Errorf("%w: cut", converters.ErrTruncated), "a.tar.gz"),
	}
	for _, row := range []struct {
		name string
		src  converters.Source
		want []findings.File
	}{
		{"no source", nil, []findings.File{{Name: "gone.tar"}, {Name: "a.tar.gz"}}},
		{"a source", made{samples(sample("k", field("x", "y")))}, []findings.File{{Name: "gone.tar"}, {Name: "a.tar.gz"}, {Name: "part-0", Samples: 1}}},
	} {
		report, err := Source(t.Context(), row.src, Options{Refused: refused})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(report.Files, row.want) {
			t.Errorf("%s: files %+v, want %+v", row.name, report.Files, row.want)
		}
		compare(t, lines(t, report), []string{`error: gone.tar: file does not exist [missing]`, `error: a.tar.gz: truncated: cut [truncated]`})
	}
}

// The same findings in the same order, whatever the number of workers.
func TestWorkers(t *testing.T) {
	t.Parallel()
	var files []file
	for i := range 40 {
		members := []string{fmt.Sprintf("%d/a.jpg=", i), "K.jpg=x", fmt.Sprintf("%d/b.jpg=x", i), "k.jpg=x", "README=x"}
		f := tarOf(fmt.Sprintf("%d.tar", i), members[:1+i%5]...)
		if i%7 == 3 {
			f = f.cut(600 + i)
		}
		files = append(files, f)
	}
	parts := partsOf(t, files...)
	one := check(t, tar.Open(parts, waived), Options{Workers: 1, Deep: true})
	if len(one) < 50 {
		t.Fatalf("%d findings", len(one))
	}
	for _, n := range []int{2, 3, 16} {
		compare(t, check(t, tar.Open(parts, waived), Options{Workers: n, Deep: true}), one)
	}
}

// Findings of one kind are listed up to a number, and counted beyond.
func TestMany(t *testing.T) {
	t.Parallel()
	const n = 3 * maxEach
	src := made{func(yield func(*converters.Span, error) bool) {
		for i := range n {
			s := sample(fmt.Sprint(i), field(fmt.Sprintf("f%d", i), ""))
			if !yield(&converters.Span{Off: int64(i), Skip: "key that came back", Name: s.Key, Accepted: true}, nil) || !yield(&converters.Span{Off: int64(i), Shape: &s}, nil) {
				return
			}
		}
	}}
	report, err := Source(t.Context(), src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int64{}
	listed := map[string]int{}
	for _, f := range report.Found {
		count[f.Rule] += max(1, f.Count)
		listed[f.Rule]++
	}
	if count[DuplicateKey] != n || listed[DuplicateKey] != maxEach+1 || count[ruleEmptyField] != n || count[ruleOddFields] != n-1 {
		t.Errorf("counted %v, listed %v", count, listed)
	}
}

// A check that is cancelled gives the error, not a report of half the dataset.
func TestCancel(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 5, 10, 15} { // of ten samples in two walks
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		part := func(name string) iter.Seq2[*converters.Span, error] {
			return func(yield func(*converters.Span, error) bool) {
				for i := range 5 {
					if seen++; seen > after {
						cancel()
					}
					s := sample(name, field("x", "y"))
					if err := ctx.Err(); err != nil {
						yield(nil, err)
						return
					}
					if !yield(&converters.Span{Off: int64(i), Shape: &s}, nil) {
						return
					}
				}
			}
		}
		report, err := Source(ctx, made{part("k"), part("K")}, Options{Workers: 1})
		if !errors.Is(err, context.Canceled) || report != nil {
			t.Errorf("cancelled after %d samples: report %v, error %v", after, report, err)
		}
		cancel()
	}
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	if _, err := Source(t.Context(), made{}, Options{Encode: encode.Options{Encoding: "nosuch"}}); err == nil {
		t.Error("an unknown encoding was accepted")
	}
}

// Every rule is documented, and has an ID of its own.
func TestRules(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] || r.Short == "" || r.Help == "" || r.Level == "" || r.ID != strings.ToLower(r.ID) || strings.HasSuffix(r.Short, ".") || !strings.ContainsAny(r.Help[len(r.Help)-1:], ".?") {
			t.Errorf("%+v", r)
		}
		if strings.Contains(r.Help, " --") && r.ID != ruleSkippedLink { // a flag of tar
			t.Errorf("%s: the help names a flag, not an option: %s", r.ID, r.Help)
		}
		seen[r.ID] = true
	}
	for _, rule := range skipRules {
		if !seen[rule] {
			t.Errorf("%s is not a rule", rule)
		}
	}
}
