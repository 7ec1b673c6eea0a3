// Package findings is what was found wrong with data, in the forms that people and
// continuous integration read: lines of text, JSON, JUnit XML and SARIF.
//
//	r := findings.Report{Tool: "ffconvert", Version: version, Rules: rules}
//	r.Add(findings.Finding{Rule: "truncated", Place: findings.Place{File: "a.tar", Offset: 512}, Text: "…"})
//	err := findings.Write(os.Stdout, findings.SARIF, &r)
//
// It knows neither sources nor shards: whoever looks at data hands in what was found.
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
	File   string // as the user named it
	Offset int64  // byte of the file, -1: no one place
	Entry  string // member, sample, row or item; "": none
}

// A Finding is one thing that was found.
type Finding struct {
	Rule  string // ID of a rule of the report
	Place Place
	Text  string // one line, without place and hint
	Hint  string // what to do about this one; may be empty
	Count int64  // how many times, where they are told of together; 0 means once
}

// A File is one thing that was looked at.
type File struct {
	Name    string // as the user named it
	Samples int64  // found in it
	Bytes   int64  // of it, as far as it was looked at
}

// A Report is all that was found, and where was looked.
type Report struct {
	Tool    string
	Version string
	Rules   []Rule // of all findings; the order is that of the documents
	Files   []File // in the order they were looked at
	Found   []Finding
	More    int64 // findings beyond those kept
}
