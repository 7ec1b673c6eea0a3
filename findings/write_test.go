package findings

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ffconvert/ffconvert/internal/python"
)

var update = flag.Bool("update", false, "write the documents of testdata anew")

// example is a report with what a report can have.
func example() *Report {
	r := &Report{
		Tool: "ffconvert", Version: "1.2.3", Rules: rulesOfTest, Seconds: 1.5,
		Facts: []Fact{{"backend", "aio"}, {"page_cache", "false"}},
		Files: []File{{"data/a.tar", 10, 10240}, {"data/sound.tar", 12, 12288}},
	}
	r.Add(Finding{Rule: "truncated", Place: Place{"data/a.tar", 512, "000001.jpg"}, Text: "800 bytes are missing", Hint: "--on-truncated skip"})
	r.Add(Finding{Rule: "truncated", Place: Place{"data/a.tar", 9728, ""}, Text: "no end"})
	r.Add(Finding{Rule: "empty-field", Place: Place{"data/a.tar", 0, "000000"}, Text: "cls is empty", Count: 17})
	r.Add(Finding{Rule: "skipped", Place: Place{"/data/with space.tar", -1, "._x"}, Text: "AppleDouble"})
	r.Add(Finding{Rule: "skipped", Place: Place{"", -1, ""}, Text: "of all together"})
	return r
}

// nasty are strings that no document may be harmed by.
var nasty = []string{
	"two\nlines", "\x1b[31mred\x1b[0m", "\x9b31m", "\u009b31m", "nul\x00", "bad \xff\xfe utf-8", "\xed\xa0\x80",
	"\u202egnp.exe", "\u2028", "\U000e0001", "\ufffe\uffff", "]]>", "<failure/>", `"quoted" & 'so'`, "[x](https://example.com)",
	"a: b", " space ", "{0}", "%41", "a:b/c", "//host/x", "?q#f", "../up", "-", strings.Repeat("long", 1000), "日本語 🦆",
}

// hostile is a report that has them everywhere.
func hostile() *Report {
	r := &Report{Tool: "ffconvert", Version: "1.2.3", Rules: rulesOfTest}
	for i, s := range nasty {
		r.Files = append(r.Files, File{Name: s})
		r.Facts = append(r.Facts, Fact{fmt.Sprint("fact", i), s})
		for _, rule := range rulesOfTest {
			r.Add(Finding{Rule: rule.ID, Place: Place{s, int64(i), s}, Text: s, Hint: s})
		}
	}
	return r
}

func write(t testing.TB, f Format, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The documents are those of testdata, to be read and compared.
func TestDocuments(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		t.Run(f, func(t *testing.T) {
			t.Parallel()
			got, name := write(t, Format(f), example()), filepath.Join("testdata", "example."+f)
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v: it differs from %s:\n%s", err, name, got)
			}
		})
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if err := Write(&bytes.Buffer{}, "yaml", example()); err == nil {
		t.Error("no error")
	}
}

// An error of the writer is returned, wherever it happens.
func TestWriteErrors(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		size := len(write(t, Format(f), example()))
		for room := 0; room < size; room += 1 + size/50 {
			if err := Write(&limited{room}, Format(f), example()); !errors.Is(err, errFull) {
				t.Errorf("%s with room for %d of %d bytes: %v", f, room, size, err)
			}
		}
	}
}

var errFull = errors.New("full")

type limited struct{ room int }

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.room {
		return l.room, errFull
	}
	l.room -= len(p)
	return len(p), nil
}

// However hostile the names are, nothing reaches a terminal that is not printable, and a
// finding of the text is a line.
func TestDocumentsArePrintable(t *testing.T) {
	t.Parallel()
	checkPrintable(t, hostile())
}

func checkPrintable(t *testing.T, r *Report) {
	t.Helper()
	for _, f := range Formats() {
		document := string(write(t, Format(f), r))
		if !utf8.ValidString(document) || strings.ContainsFunc(document, func(c rune) bool {
			return !strconv.IsPrint(c) && c != '\n' && (c != '\t' || f != string(JUnit))
		}) {
			t.Errorf("not printable: %q", document)
		}
		if n := strings.Count(document, "\n"); f == string(Text) && n != len(r.Found)+1 {
			t.Errorf("%d lines for %d findings", n, len(r.Found))
		}
	}
}

// JSON gives names back as they are, if they are UTF-8.
func TestJSONIsFaithful(t *testing.T) {
	t.Parallel()
	var doc document
	if err := json.Unmarshal(write(t, JSON, hostile()), &doc); err != nil {
		t.Fatal(err)
	}
	for i, s := range nasty {
		want := s
		if !utf8.ValidString(s) {
			want = valid(s)
		}
		f := doc.Findings[i*len(rulesOfTest)]
		if doc.Files[i].Name != want || f.File != want || f.Entry != want || f.Text != want || f.Hint != want {
			t.Errorf("%q: file %q, finding %+v", s, doc.Files[i].Name, f)
		}
	}
	if doc.Sound || doc.Counts != (counts{26, 26, 26}) {
		t.Errorf("sound %v, counts %+v", doc.Sound, doc.Counts)
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "", "a\x00b": "a\x00b", "\xff": `\xff`, "é\xed\xa0\x80é": `é\xed\xa0\x80é`, "\ufffd": "\ufffd", "a\x80": `a\x80`} {
		if got := valid(s); got != want {
			t.Errorf("%q gives %q, want %q", s, got, want)
		}
	}
	if got := printable("a\n\x1b\u202e\xff\\\"é"); got != `a\n\x1b\u202e\xff\"é` {
		t.Errorf("%q", got)
	}
}

// A testcase is a file, whether it was looked at to its end or not; only errors fail it.
func TestJUnit(t *testing.T) {
	t.Parallel()
	var doc junit.Testsuites
	if err := xml.Unmarshal(write(t, JUnit, example()), &doc); err != nil {
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
		"data/a.tar": `fails: offset 512: "000001.jpg": 800 bytes are missing (--on-truncated skip) [truncated], and 1 more` +
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
	for range MaxKept {
		r.Add(Finding{Rule: "truncated", Place: Place{File: "a"}})
	}
	for _, f := range []string{"a", "b", "b", "d"} {
		r.Add(Finding{Rule: "truncated", Place: Place{File: f}})
	}
	r.Add(Finding{Rule: "skipped", Place: Place{File: "c"}})
	var doc junit.Testsuites
	if err := xml.Unmarshal(write(t, JUnit, r), &doc); err != nil {
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
	want := []string{"a: offset 0:  [truncated], and 8000 more", "b: 2 errors, not listed", "c: passes", "d: 1 error, not listed"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// Readers of JUnit take two tests of one name for one: names stay different.
func TestNamesStayDifferent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, s := range nasty {
		for _, n := range []string{s, printable(s), name(s), strconv.Quote(s), name(name(s))} {
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
	size := len(write(t, JUnit, r))
	if size > (maxCaseLines+2)*(maxMessage+100) || size < maxCaseLines*maxMessage {
		t.Errorf("%d bytes", size)
	}
}

// The largest SARIF, of which this is a tenth, is one that GitHub takes: 10 MB, compressed.
func TestSARIFIsBounded(t *testing.T) {
	t.Parallel()
	r := &Report{Rules: rulesOfTest}
	for i := range int64(3 * MaxKept / 10) {
		r.Add(Finding{Rule: rulesOfTest[i%3].ID, Place: Place{"shards/a.tar", 512 * i, fmt.Sprintf("n%08d.jpg", i)}, Text: "800 bytes are missing"})
	}
	document := write(t, SARIF, r)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(document)
	z.Close()
	if packed.Len()*10 > 10_000_000/4 {
		t.Errorf("%d bytes", packed.Len())
	}
	t.Logf("%d results: %d bytes, %d compressed", len(r.Found), len(document), packed.Len())
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
		py.Ask(write(t, JUnit, r), &suites)
		var doc junit.Testsuites
		if err := xml.Unmarshal(write(t, JUnit, r), &doc); err != nil {
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

// The documents are valid by the schema of OASIS, which the library carries.
func TestSARIFIsValid(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{"example": example(), "hostile": hostile(), "nothing": {Tool: "x"}} {
		if err := readSARIF(t, write(t, SARIF, r)).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The validator can say no.
	bad := bytes.Replace(write(t, SARIF, example()), []byte(`"level": "warning"`), []byte(`"level": "awful"`), 1)
	if doc, err := sarif.FromBytes(bad, sarif.WithStrictValidation()); err != nil || doc.Validate() == nil {
		t.Error("a level that SARIF does not know passes")
	}
}

// readSARIF decodes a document, and sees to it that what it returns is the document: it
// comes out as it went in.
func readSARIF(t *testing.T, document []byte) *sarif.Report {
	t.Helper()
	doc, err := sarif.FromBytes(document, sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := doc.PrettyWrite(terminalSafe{&again}); err != nil || again.String()+"\n" != string(document) {
		t.Errorf("%v: it is read as another document:\n%s", err, document)
	}
	return doc
}

// A result's address leads back to the file, and no message holds a link.
func TestSARIFPlaces(t *testing.T) {
	t.Parallel()
	doc := readSARIF(t, write(t, SARIF, hostile()))
	for i, result := range doc.Runs[0].Results {
		s, place := nasty[i/len(rulesOfTest)], result.Locations[0]
		u, err := url.Parse(*place.PhysicalLocation.ArtifactLocation.URI)
		if err != nil || path.Clean(u.Path) != path.Clean(s) || u.Host != "" {
			t.Errorf("%q: address %q: %v", s, *place.PhysicalLocation.ArtifactLocation.URI, err)
		}
		if *place.PhysicalLocation.Region.StartLine != 1 || place.PhysicalLocation.Region.ByteOffset != i/len(rulesOfTest) {
			t.Errorf("%q: region %+v", s, place.PhysicalLocation.Region)
		}
		if *place.LogicalLocations[0].Name != clip(valid(s)) || strings.Contains(*result.Message.Text, "](") {
			t.Errorf("%q: entry %q, message %q", s, *place.LogicalLocations[0].Name, *result.Message.Text)
		}
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.tar":               "a.tar",
		"./out/x.ffr":         "out/x.ffr",
		"out//x.ffr":          "out/x.ffr",
		"/abs/with space.tar": "file:///abs/with%20space.tar",
		"//abs":               "file:///abs",
		"a:b.tar":             "./a:b.tar",
		"é%.tar":              "%C3%A9%25.tar",
		"\xff":                "%FF",
		"a?b#c":               "a%3Fb%23c",
		"../x":                "../x",
		"-":                   "-",
	} {
		if got := uri(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The same thing found again is the same alert; another thing is another.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	base := Finding{Rule: "truncated", Place: Place{"a.tar", 512, "1.jpg"}, Text: "crc 1234"}
	change := func(f func(*Finding)) Finding { g := base; f(&g); return g }
	for _, row := range []struct {
		name  string
		other Finding
		same  bool
	}{
		{"itself", base, true},
		{"other words", change(func(f *Finding) { f.Text, f.Hint, f.Count = "crc 5678", "x", 2 }), true},
		{"the entry moved", change(func(f *Finding) { f.Place.Offset = 1024 }), true},
		{"named otherwise", change(func(f *Finding) { f.Place.File = "./a.tar" }), true},
		{"another rule", change(func(f *Finding) { f.Rule = "empty-field" }), false},
		{"another file", change(func(f *Finding) { f.Place.File = "b.tar" }), false},
		{"another entry", change(func(f *Finding) { f.Place.Entry = "2.jpg" }), false},
		{"no entry", change(func(f *Finding) { f.Place.Entry = "" }), false},
	} {
		if (identity(&base) == identity(&row.other)) != row.same {
			t.Errorf("%s: same %v", row.name, !row.same)
		}
	}
	// Two that are alike in one document are still two.
	doc := readSARIF(t, write(t, SARIF, &Report{Found: []Finding{base, base}}))
	first, second := doc.Runs[0].Results[0].PartialFingerprints, doc.Runs[0].Results[1].PartialFingerprints
	if fmt.Sprint(first) == fmt.Sprint(second) || !strings.HasSuffix(fmt.Sprint(second), ":2]") {
		t.Errorf("%v, %v", first, second)
	}
}

// Any string may stand anywhere.
func FuzzWrite(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, s, "text", int64(1))
	}
	f.Fuzz(func(t *testing.T, file, entry, text string, off int64) {
		r := &Report{Tool: text, Rules: rulesOfTest, Facts: []Fact{{entry, text}}, Files: []File{{Name: file}}}
		r.Add(Finding{Rule: "skipped", Place: Place{file, off, entry}, Text: text, Hint: text, Count: off})
		r.Add(Finding{Rule: entry, Place: Place{entry, off, file}, Text: text})
		checkPrintable(t, r)
		var doc document
		if err := json.Unmarshal(write(t, JSON, r), &doc); err != nil || len(doc.Findings) != 2 {
			t.Errorf("JSON: %v", err)
		}
		var suites junit.Testsuites
		if err := xml.Unmarshal(write(t, JUnit, r), &suites); err != nil || suites.Failures != 1 {
			t.Errorf("JUnit: %v", err)
		}
		readSARIF(t, write(t, SARIF, r))
	})
}

func ExampleWrite() {
	r := Report{
		Tool:  "ffconvert",
		Rules: []Rule{{ID: "truncated", Level: Error, Short: "The file ends too early", Help: "Fetch it again."}},
		Files: []File{{Name: "a.tar", Samples: 9}},
	}
	r.Add(Finding{Rule: "truncated", Place: Place{File: "a.tar", Offset: 512, Entry: "1.jpg"}, Text: "800 bytes are missing"})
	if err := Write(os.Stdout, Text, &r); err != nil {
		panic(err)
	}
	// Output:
	// error: a.tar: offset 512: "1.jpg": 800 bytes are missing [truncated]
	// 1 file, 9 samples: 1 error, 0 warnings, 0 notes
}
