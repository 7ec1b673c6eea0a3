// package findings writes reports on defects of data in the formats that people and continuous
// integration read: lines of text, JSON, JUnit XML, SARIF, workflow commands of GitHub, and Markdown.
//
//	r := findings.Report{Tool: "ffconvert", Version: version, Rules: rules}
//	r.Add(findings.Finding{Rule: "truncated", Place: findings.Place{File: "a.tar", Offset: 512}, Text: "…"})
//	err := findings.Write(os.Stdout, findings.JSON, &r)
//
// The package does not read data; the caller adds the findings.
//
//	┌────────┬───────────────────────────────────────────────────────────────────────┐
//	│ text   │ error: a.tar: offset 512: "000001.jpg": text (hint) [rule]             │
//	│        │ … one line per finding, then a line of totals                         │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ json   │ {"sound", "tool", "version", "counts", "files", "findings": […], …}   │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ junit  │ <testsuites> ── <testsuite> ── one <testcase> per file                │
//	│        │                                  ├─ <failure>     its errors          │
//	│        │                                  └─ <system-out>  warnings and notes  │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ sarif  │ runs[0] ── tool.driver.rules[]     one per rule                       │
//	│ 2.1.0  │         ├─ artifacts[]             one per examined file              │
//	│        │         └─ results[]               one per finding                    │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ github │ ::error file=a.tar,line=1,title=truncated::…   10 per level at most    │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ mark-  │ a heading, a table of totals, 100 findings per level at most; names   │
//	│ down   │ and messages are code spans                                           │
//	└────────┴───────────────────────────────────────────────────────────────────────┘
//
// Names come from data and may be hostile. In text, Markdown, and the messages of the others, a
// character that is not printable is escaped as in a Go string: \n, \x1b, \u202e. JSON keeps names
// exactly, but bytes that are not UTF-8 become the four characters \xff.
package findings

import (
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/internal/text"
)

// A Level is the severity of a finding.
type Level string

// The levels, as SARIF names them.
const (
	Error   Level = "error"   // the data is damaged or will be refused
	Warning Level = "warning" // the data will be accepted, but may be a mistake
	Note    Level = "note"    // skipped on purpose
)

// A Rule is one kind of finding.
type Rule struct {
	ID    string // stable, lower case with hyphens: "truncated"
	Level Level
	Short string // meaning, one line
	Help  string // what to do, one or two sentences
}

// A Place is where a finding was made.
type Place struct {
	File   string `json:"file"`            // as the user named it; "" means all files
	Offset int64  `json:"offset"`          // byte offset in the file; -1 means none
	Entry  string `json:"entry,omitempty"` // member, sample, row or item; "" means none
}

// A Finding is one defect or observation, or several that are equal.
type Finding struct {
	Rule  string `json:"rule"` // ID of a rule of the report; the level of an unknown ID is Error
	Place        // of the first, if Count is more than 1
	Text  string `json:"text"`           // one line, without place, count and hint
	Hint  string `json:"hint,omitempty"` // what to do about this finding; may be empty
	Count int64  `json:"count"`          // number of equal findings; 0 means 1
}

// A File is a file, or another input, that was examined.
type File struct {
	Name    string `json:"name"`    // as the user named it
	Samples int64  `json:"samples"` // samples found
	Bytes   int64  `json:"bytes"`   // bytes examined
}

// A Fact is a setting or a circumstance of the examination. JSON has it as a member, JUnit and
// SARIF as a property; text omits it.
type Fact struct {
	Name  string // lower case with underscores: "queue_depth"
	Value any    // a string, a bool or a number; JSON and SARIF keep its type
}

// value returns the value of a fact; a string is made valid UTF-8.
func (f Fact) value() any {
	if s, ok := f.Value.(string); ok {
		return text.Valid(s)
	}
	return f.Value
}

// A Report lists findings and the files that were examined. It must not be used concurrently.
type Report struct {
	Tool    string // name of the program
	Version string // of the program
	Rules   []Rule // of all findings, in the order in which documents list them
	Facts   []Fact
	Seconds float64   // duration of the examination; 0 means unknown
	Files   []File    // in the order examined
	Verdict string    // summary if there are no errors; "" means sound
	Scope   string    // one line: what the command has read and compared; "" is not printed
	Unit    string    // singular name of an element of Files in the line of totals; "" means file
	Found   []Finding // listed findings
	More    int64     // findings that are counted but not in Found

	kept     map[Level]int64  // number of findings in Found, by level, since the first Add
	beyond   map[Level]int64  // number of findings in More, by level
	unlisted map[string]int64 // number of errors in More, by file; JUnit fails these files too
}

// maxKept is the number of findings per level that [Report.Add] keeps, so that a dataset in which
// every sample is damaged does not fill the memory. The limit is per level, so that notes do not
// displace errors. Three levels stay below 25,000 results, the most that GitHub accepts in a document.
const maxKept = 8000

// Add appends a finding. Beyond maxKept findings of its level it only counts the finding, and, if
// it is an error, its file.
func (r *Report) Add(f Finding) {
	if r.kept == nil {
		r.kept, r.beyond, r.unlisted = make(map[Level]int64), make(map[Level]int64), make(map[string]int64)
		for i := range r.Found {
			r.kept[r.rule(&r.Found[i]).Level]++
		}
	}
	level := r.rule(&f).Level
	if r.kept[level] < maxKept {
		r.kept[level]++
		r.Found = append(r.Found, f)
		return
	}
	r.More++
	r.beyond[level]++
	if level == Error {
		r.unlisted[f.File]++
	}
}

// rule returns the rule of a finding. A rule that the report lacks is an error, described by its ID.
func (r *Report) rule(f *Finding) *Rule {
	for i := range r.Rules {
		if r.Rules[i].ID == f.Rule {
			return &r.Rules[i]
		}
	}
	return &Rule{Level: Error}
}

// Count returns the number of findings of a level, including findings that were not kept. A
// finding counts once, whatever its Count.
func (r *Report) Count(l Level) int64 {
	n := r.beyond[l]
	for i := range r.Found {
		if r.rule(&r.Found[i]).Level == l {
			n++
		}
	}
	return n
}

// levels are the levels, most severe first, with the GitHub workflow command for each.
var levels = []struct {
	Level
	command string
}{{Error, "error"}, {Warning, "warning"}, {Note, "notice"}}

// list calls write for the findings of a level, limit at most, and returns the number of the others.
func (r *Report) list(level Level, limit int64, write func(*Finding)) (more int64) {
	more = r.Count(level)
	for i := range r.Found {
		if f := &r.Found[i]; limit > 0 && r.rule(f).Level == level {
			write(f)
			limit--
			more--
		}
	}
	return more
}

// Formats that other packages name.
const (
	Text = "text"
	JSON = "json"
)

var formats = []struct {
	name  string
	write func(io.Writer, *Report) error
}{{Text, writeText}, {JSON, writeJSON}, {"junit", writeJUnit}, {"sarif", writeSARIF}, {"github", writeGitHub}, {"markdown", writeMarkdown}}

// Formats returns the names of all formats.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Write writes a report to w. The same report always gives the same bytes.
func Write(w io.Writer, format string, r *Report) error {
	for _, f := range formats {
		if f.name == format {
			return f.write(w, r)
		}
	}
	return fmt.Errorf("write report: unknown format %q", format)
}
