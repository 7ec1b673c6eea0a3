package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/ffconvert/ffconvert/internal/text"
)

var update = flag.Bool("update", false, "write the documents of testdata anew")

// example is a report with what a report can have.
func example() *Report {
	r := &Report{
		Tool: "ffconvert", Version: "1.2.3", Rules: rulesOfTest, Seconds: 1.5,
		Facts: []Fact{{"backend", "aio"}, {"queue_depth", 32}, {"cross_checked", false}},
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

func write(t testing.TB, f string, r *Report) []byte {
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
			got, name := write(t, f, example()), filepath.Join("testdata", "example."+f)
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
		size := len(write(t, f, example()))
		for room := 0; room < size; room += 1 + size/50 {
			if err := Write(&limited{room}, f, example()); !errors.Is(err, errFull) {
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
		document := string(write(t, f, r))
		if !utf8.ValidString(document) || strings.ContainsFunc(document, func(c rune) bool {
			return !strconv.IsPrint(c) && c != '\n' && (c != '\t' || f != "junit")
		}) {
			t.Errorf("not printable: %q", document)
		}
		if n := strings.Count(document, "\n"); f == Text && n != len(r.Found)+1 {
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
			want = text.Valid(s)
		}
		f := doc.Findings[i*len(rulesOfTest)]
		if doc.Files[i].Name != want || f.File != want || f.Entry != want || f.Text != want || f.Hint != want {
			t.Errorf("%q: file %q, finding %+v", s, doc.Files[i].Name, f)
		}
	}
	if doc.Sound || doc.Counts.Error != 26 || doc.Counts.Warning != 26 || doc.Counts.Note != 26 {
		t.Errorf("sound %v, counts %+v", doc.Sound, doc.Counts)
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"": "", "a\x00b": "a\x00b", "\xff": `\xff`, "é\xed\xa0\x80é": `é\xed\xa0\x80é`, "\ufffd": "\ufffd", "a\x80": `a\x80`} {
		if got := text.Valid(s); got != want {
			t.Errorf("%q gives %q, want %q", s, got, want)
		}
	}
	if got := text.Line("a\n\x1b\u202e\xff\\\"é"); got != `a\n\x1b\u202e\xff\"é` {
		t.Errorf("%q", got)
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
		if err := xml.Unmarshal(write(t, "junit", r), &suites); err != nil || suites.Failures != 1 {
			t.Errorf("JUnit: %v", err)
		}
		readSARIF(t, write(t, "sarif", r))
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
