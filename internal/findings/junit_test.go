package findings

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A testcase is a file, whether it was looked at to its end or not; only errors fail it.
func TestJUnit(t *testing.T) {
	t.Parallel()
	var doc junit.Testsuites
	if err := xml.Unmarshal(write(t, "junit", example()), &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, tc := range doc.Suites[0].Testcases {
		state := "passes"
		if tc.Failure != nil {
			state = "fails: " + tc.Failure.Message
		}
		if tc.SystemOut != nil {
			state += "; says: " + tc.SystemOut.Data
		}
		got[tc.Name] = state
	}
	want := map[string]string{
		"data/a.tar": "fails: " + rulesOfTest[0].Short + ", and 1 more" +
			`; says: warning: offset 0: "000000": cls is empty; 17 times [empty-field]`,
		"data/sound.tar":       "passes",
		"/data/with space.tar": `passes; says: note: "._x": AppleDouble [skipped]`,
		"all files":            "passes; says: note: of all together [skipped]",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if doc.Tests != 4 || doc.Failures != 1 || doc.Errors != 0 {
		t.Errorf("%d tests, %d failures, %d errors", doc.Tests, doc.Failures, doc.Errors)
	}
}

// A file whose errors are not listed, because others had so many, does not pass.
func TestJUnitOfMany(t *testing.T) {
	t.Parallel()
	r := &Report{Rules: rulesOfTest, Files: []File{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	for range maxKept {
		r.Add(Finding{Rule: "truncated", Place: Place{File: "a"}})
	}
	for _, f := range []string{"a", "b", "b", "d"} {
		r.Add(Finding{Rule: "truncated", Place: Place{File: f}})
	}
	r.Add(Finding{Rule: "skipped", Place: Place{File: "c"}})
	var doc junit.Testsuites
	if err := xml.Unmarshal(write(t, "junit", r), &doc); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, tc := range doc.Suites[0].Testcases {
		message := "passes"
		if tc.Failure != nil {
			message = tc.Failure.Message
		}
		got = append(got, tc.Name+": "+message)
	}
	want := []string{"a: " + rulesOfTest[0].Short + ", and 8000 more", "b: 2 errors, not listed", "c: passes", "d: 1 error, not listed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Readers of JUnit take two tests of one name for one: names stay different.
func TestNamesStayDifferent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range nasty {
		for _, n := range []string{s, text.Line(s), name(s), strconv.Quote(s), name(name(s))} {
			if other, ok := seen[name(n)]; ok && other != n {
				t.Errorf("%q and %q are both %s", n, other, name(n))
			}
			seen[name(n)] = n
		}
	}
}

// What reads JUnit gives up at a text of 10 MB. A testcase stays far below.
func TestJUnitIsBounded(t *testing.T) {
	t.Parallel()
	r := &Report{Rules: rulesOfTest}
	for range maxCaseLines * 2 {
		r.Add(Finding{Rule: "truncated", Place: Place{"a.tar", 1, strings.Repeat("\xff", 2<<10)}, Text: "cut"})
	}
	size := len(write(t, "junit", r))
	if size > (maxCaseLines+2)*(maxMessage+100) || size < maxCaseLines*maxMessage {
		t.Errorf("%d bytes", size)
	}
}

// Python's junitparser, which we have not written, reads the same from the documents.
func TestJUnitInPython(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import junitparser
def reply(request):
    suites = junitparser.JUnitXml.fromstring(request)
    return [[s.name, s.tests, s.failures, s.time, [[c.name, c.classname, [type(r).__name__ for r in c.result],
        [r.message for r in c.result], c.system_out] for c in s]] for s in suites]
`, "junitparser")
	for name, r := range map[string]*Report{"example": example(), "hostile": hostile(), "nothing": {Tool: "x"}} {
		var suites [][]any
		py.Ask(write(t, "junit", r), &suites)
		var doc junit.Testsuites
		if err := xml.Unmarshal(write(t, "junit", r), &doc); err != nil {
			t.Fatal(err)
		}
		want := [][]any{}
		for _, s := range doc.Suites {
			seconds, _ := strconv.ParseFloat(s.Time, 64)
			cases := []any{}
			for _, c := range s.Testcases {
				kinds, messages := []any{}, []any{}
				if c.Failure != nil {
					kinds, messages = append(kinds, "Failure"), append(messages, c.Failure.Message)
				}
				var out any
				if c.SystemOut != nil {
					out = c.SystemOut.Data
				}
				cases = append(cases, []any{c.Name, c.Classname, kinds, messages, out})
			}
			want = append(want, []any{s.Name, float64(s.Tests), float64(s.Failures), seconds, cases})
		}
		if fmt.Sprintf("%q", suites) != fmt.Sprintf("%q", want) {
			t.Errorf("%s: Python reads\n%q\nwant\n%q", name, suites, want)
		}
	}
}
