// Package findings is what was found wrong with data, in the forms that people and
// continuous integration read: lines of text, JSON, JUnit XML and SARIF.
//
//	r := findings.Report{Tool: "ffconvert", Version: version, Rules: rules}
//	r.Add(findings.Finding{Rule: "truncated", Place: findings.Place{File: "a.tar", Offset: 512}, Text: "…"})
//	err := findings.Write(os.Stdout, findings.SARIF, &r)
//
// It knows neither sources nor shards: whoever looks at data hands in what was found.
//
//	┌────────┬───────────────────────────────────────────────────────────────────────┐
//	│ text   │ error: a.tar: offset 512: "000001.jpg": what is wrong (hint) [rule]    │
//	│        │ … a line a finding, then one of totals                                │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ json   │ {"sound", "tool", "version", "counts", "files", "findings": […], …}   │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ junit  │ <testsuites> ── <testsuite> ── a <testcase> a file                    │
//	│        │                                  ├─ <failure>     its errors          │
//	│        │                                  └─ <system-out>  warnings and notes  │
//	├────────┼───────────────────────────────────────────────────────────────────────┤
//	│ sarif  │ runs[0] ── tool.driver.rules[]     a rule a kind of finding           │
//	│ 2.1.0  │         ├─ artifacts[]             a file looked at                   │
//	│        │         └─ results[]               a result a finding                 │
//	└────────┴───────────────────────────────────────────────────────────────────────┘
//
// Names come from data and are hostile: none can harm a terminal or a document. Where
// people read them (text, and the messages of JUnit and SARIF) a character that is not
// printable is written as Go writes it in a string: \n, \x1b, \u202e. JSON gives names back
// as they are, but for bytes that are no UTF-8: they become \xff there, too.
package findings

// A Level says how much a finding matters.
type Level string

// The levels, as SARIF names them.
const (
	Error   Level = "error"   // the data is refused, or was found damaged
	Warning Level = "warning" // suspicious: it will be accepted, and may not be what was meant
	Note    Level = "note"    // passed over on purpose, and counted
)

// A Rule is one kind of finding.
type Rule struct {
	ID    string // stable, lower case with hyphens: "truncated"
	Level Level
	Short string // one line: what it means
	Help  string // one or two sentences: what to do about it
}

// A Place says where something was found.
type Place struct {
	File   string // as the user named it; "": all files
	Offset int64  // byte of the file, -1: no one place
	Entry  string // member, sample, row or item; "": none
}

// A Finding is one thing that was found.
type Finding struct {
	Rule  string // ID of a rule of the report; one that it does not have is an error
	Place Place
	Text  string // one line, without place, count and hint
	Hint  string // what to do about this one; may be empty
	Count int64  // how many times, where they are told of together; 0 means once
}

// A File is one thing that was looked at.
type File struct {
	Name    string // as the user named it
	Samples int64  // found in it
	Bytes   int64  // of it, as far as it was looked at
}

// A Fact says how the data was looked at: what was read, with which settings. It is a
// property in JUnit and SARIF; text leaves it out.
type Fact struct {
	Name  string // lower case with underscores: "queue_depth"
	Value any    // a string, a bool or a number, which JSON and SARIF have as what it is
}

// value is a fact's value, valid where it is text.
func (f Fact) value() any {
	if text, ok := f.Value.(string); ok {
		return valid(text)
	}
	return f.Value
}

// A Report is all that was found, and where was looked.
type Report struct {
	Tool    string
	Version string
	Rules   []Rule // of all findings; the order is that of the documents
	Facts   []Fact
	Seconds float64 // that it took; 0: not told
	Files   []File  // in the order they were looked at
	Unit    string  // what Files are, in the line of totals; "" means file
	Found   []Finding
	More    int64 // findings beyond those kept

	kept     map[Level]int64  // of Found
	tallied  int              // findings of Found that are in kept
	beyond   map[Level]int64  // of More
	unlisted map[string]int64 // errors of More, by file: it must not look sound
}

// MaxKept is how many findings of one level [Report.Add] keeps, so that a dataset of
// which every sample is wrong does not fill the memory. It is a limit a level because
// notes must not crowd out errors. The three levels together stay under the 25,000
// results beyond which GitHub refuses a document.
const MaxKept = 8000

// Add appends a finding. Of those beyond [MaxKept] it keeps the number alone, and of errors
// the file, too.
func (r *Report) Add(f Finding) {
	if r.kept == nil {
		r.kept, r.beyond, r.unlisted = make(map[Level]int64), make(map[Level]int64), make(map[string]int64)
	}
	for ; r.tallied < len(r.Found); r.tallied++ {
		r.kept[r.level(r.Found[r.tallied].Rule)]++
	}
	level := r.level(f.Rule)
	if r.kept[level] < MaxKept {
		r.Found = append(r.Found, f)
		return
	}
	r.More++
	r.beyond[level]++
	if level == Error {
		r.unlisted[f.Place.File]++
	}
}

// level returns the level of a rule.
func (r *Report) level(id string) Level {
	for i := range r.Rules {
		if r.Rules[i].ID == id {
			return r.Rules[i].Level
		}
	}
	return Error
}

// short returns what a rule means, "" of one that the report does not have.
func (r *Report) short(id string) string {
	for i := range r.Rules {
		if r.Rules[i].ID == id {
			return r.Rules[i].Short
		}
	}
	return ""
}

// Count returns the number of findings of a level, those that were not kept among them.
func (r *Report) Count(l Level) int64 {
	n := r.beyond[l]
	for i := range r.Found {
		if r.level(r.Found[i].Rule) == l {
			n++
		}
	}
	return n
}

// Worst returns the highest level of which there is a finding, and false where there is
// no finding at all.
func (r *Report) Worst() (Level, bool) {
	for _, l := range []Level{Error, Warning, Note} {
		if r.Count(l) > 0 {
			return l, true
		}
	}
	return "", false
}
