package verify

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrCorrupt reports that a shard is damaged, missing or unexpected, or differs from the expected one.
var ErrCorrupt = place.New(place.Corrupt, "corruption found")

// A Kind classifies a Problem.
type Kind string

// The kinds of a Problem.
const (
	Missing    Kind = "missing"    // an expected file does not exist
	Extra      Kind = "extra"      // readers take the file for a shard, but the dataset does not list it
	Resized    Kind = "resized"    // the file's size differs from the expected size
	Swapped    Kind = "swapped"    // the file is sound, but has the content of another shard of the dataset
	Changed    Kind = "changed"    // the file's content differs from the expected content
	Header     Kind = "header"     // the header is damaged, truncated or unfinished
	Checksum   Kind = "checksum"   // a sample's bytes do not match its CRC
	Unreadable Kind = "unreadable" // an I/O error; the file may be sound
	Limit      Kind = "limit"      // the shard has more samples than Options.Record allows; it may be sound
)

// A Problem describes one defect of one shard, or of another file of a dataset.
type Problem struct {
	Shard     string `json:"shard"` // file name without directory; a Sum's name as it was given
	Kind      Kind   `json:"kind"`
	Sample    int64  `json:"sample"`    // index of the damaged sample; -1 if it is not about one sample
	Offset    int64  `json:"offset"`    // byte offset in the file; -1 if there is none
	Transient bool   `json:"transient"` // a second read of the file found no problem
	Text      string `json:"problem"`   // one line, without shard, sample and offset
	Path      string `json:"-"`         // path of the file, relative to the same directory as the caller's

	err error // the cause, for Unreadable and Limit
}

// NewProblem returns a Problem that concerns a whole file. Its text is the message of err.
func NewProblem(path, name string, kind Kind, err error) Problem {
	return Problem{Shard: name, Path: path, Kind: kind, Sample: -1, Offset: -1, Text: err.Error(), err: err}
}

// String returns the problem on one line: shard, sample, offset, text.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Shard)
	if p.Sample >= 0 {
		fmt.Fprintf(&b, ": sample %d", p.Sample)
	}
	if p.Offset >= 0 {
		fmt.Fprintf(&b, ": offset %d", p.Offset)
	}
	fmt.Fprintf(&b, ": %s", p.Text)
	if p.Transient {
		b.WriteString(" (transient: sound when read again; suspect the device or the memory)")
	}
	return b.String()
}

func (p Problem) same(q Problem) bool {
	return p.Kind == q.Kind && p.Sample == q.Sample && p.Offset == q.Offset && p.Text == q.Text
}
