package verify

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// ErrCorrupt says that shards are not what they should be.
var ErrCorrupt = errors.New("corruption found")

// Kind says what is wrong.
type Kind string

// The kinds of a Problem.
const (
	Missing    Kind = "missing"    // a shard of the dataset is not there
	Extra      Kind = "extra"      // a file that readers take for a shard is no part of the dataset
	Resized    Kind = "resized"    // another size than the dataset's shard
	Swapped    Kind = "swapped"    // sound, but it is another shard of the dataset
	Changed    Kind = "changed"    // another content than the dataset's shard
	Header     Kind = "header"     // the header is damaged, cut, or not finished
	Checksum   Kind = "checksum"   // a sample's bytes differ from its checksum
	Unreadable Kind = "unreadable" // an I/O error: nothing is known of the bytes
	Limit      Kind = "limit"      // more samples than are allowed: it may be sound
)

// A Problem is one thing that is wrong with one shard.
type Problem struct {
	Shard     string `json:"shard"`
	Kind      Kind   `json:"kind"`
	Sample    int64  `json:"sample"` // -1: not of one sample
	Offset    int64  `json:"offset"` // byte of the file, -1: no one place
	Transient bool   `json:"transient"`
	Text      string `json:"problem"`
	Path      string `json:"-"` // of the file, as the caller named it or its directory

	err error // of what is unreadable or over a limit
}

// NewProblem is a problem of a whole file, which a caller has found.
func NewProblem(path, name string, kind Kind, err error) Problem {
	return Problem{Shard: name, Path: path, Kind: kind, Sample: -1, Offset: -1, Text: err.Error(), err: err}
}

// String is one line: shard, sample, place, what is wrong.
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

// maxProblems bounds the problems that are kept of one shard, so that a shard of ten
// million damaged samples does not fill the memory. Those beyond are counted.
const maxProblems = 10_000

// A Result is what was found in one shard.
type Result struct {
	Shard    string         // name of the file, no directory
	Path     string         // as in its Target
	Summary  record.Summary // zero where the header is unusable
	Bytes    int64          // read and checked
	From     aio.Origin     // of these bytes
	Problems []Problem
	more     int64 // problems beyond maxProblems
}

func (res *Result) problem(p Problem) {
	if len(res.Problems) == maxProblems {
		res.more++
		return
	}
	p.Shard, p.Path = res.Shard, res.Path
	res.Problems = append(res.Problems, p)
}

// format enters what the scanner found.
func (res *Result) format(e *record.FormatError) {
	p := Problem{Kind: Header, Sample: e.Sample, Offset: e.Off, Text: e.Err.Error()}
	switch {
	case e.Sample >= 0:
		p.Kind = Checksum
	case errors.Is(e.Err, record.ErrTooLarge):
		p.Kind, p.err = Limit, e.Err
	}
	res.problem(p)
}

// Err returns the problems as one error, nil where there are none.
func (res *Result) Err() error {
	r := Report{}
	r.add(res)
	return r.Err()
}

// A Looked is one shard that was looked at.
type Looked struct {
	Path    string
	Samples int64 // 0 where the header is unusable
	Bytes   int64 // read and checked
}

// A Report is what was found in all shards, and how.
type Report struct {
	Shards       int        `json:"shards"` // looked at
	Samples      int64      `json:"samples"`
	Bytes        int64      `json:"bytes"` // read and checked
	Seconds      float64    `json:"seconds"`
	Backend      string     `json:"backend"` // aio or pread
	QueueDepth   int        `json:"queue_depth"`
	From         aio.Origin `json:"read_from"`          // the device where that is proven of all of them
	Fallback     string     `json:"fallback,omitempty"` // why not Linux AIO
	CrossChecked bool       `json:"cross_checked"`      // against the list of a dataset's shards
	Problems     []Problem  `json:"problems"`
	More         int64      `json:"more_problems,omitempty"` // beyond those listed
	Looked       []Looked   `json:"-"`                       // at each shard, sound or not, in the order of targets
}

func (r *Report) add(res *Result) {
	r.Samples += res.Summary.Samples
	r.Bytes += res.Bytes
	r.From = r.From.And(res.From)
	r.Problems = append(r.Problems, res.Problems...)
	r.More += res.more
	r.Looked = append(r.Looked, Looked{res.Path, res.Summary.Samples, res.Bytes})
}

// backend enters how one worker has read.
func (r *Report) backend(s aio.Stats) {
	if r.Backend == "" || s.Backend == aio.Pread {
		r.Backend = s.Backend.String()
	}
	r.Fallback = cmp.Or(r.Fallback, s.Fallback)
}

// swaps recognises shards that hold what another of their directory should hold. Of several with
// equal bytes the first is named; a shard that is what its own name asks for is not swapped.
func (r *Report) swaps(targets []Target, results []Result) {
	type content struct {
		dir string
		record.Summary
	}
	owner := make(map[content]string)
	for _, t := range targets {
		if t.Want != nil {
			c := content{filepath.Dir(t.path()), t.Want.summary()}
			owner[c] = cmp.Or(owner[c], t.Want.Name)
		}
	}
	for i, t := range targets {
		if t.Want == nil || results[i].Summary == t.Want.summary() {
			continue
		}
		if name, ok := owner[content{filepath.Dir(t.path()), results[i].Summary}]; ok {
			r.Problems = append(r.Problems, Problem{Shard: results[i].Shard, Path: t.path(), Kind: Swapped, Sample: -1, Offset: -1, Text: "it is the dataset's shard " + name})
		}
	}
}

// MBPerSecond is the rate of verification in 10⁶ bytes a second.
func (r *Report) MBPerSecond() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) / 1e6 / r.Seconds
}

// Err returns nil where there is no problem. Otherwise it is [ErrCorrupt], or, where all
// that is wrong is that files could not be read or are over a limit, the first of those
// errors.
func (r *Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	var refused error
	for _, p := range r.Problems {
		if p.Kind != Unreadable && p.Kind != Limit {
			return fmt.Errorf("%w: %s", ErrCorrupt, r.summary())
		}
		refused = cmp.Or(refused, p.err)
	}
	return &refusal{r.summary(), cmp.Or(refused, fs.ErrInvalid)}
}

// A refusal is a summary that has the words of err already.
type refusal struct {
	summary string
	err     error
}

func (e *refusal) Error() string { return e.summary }
func (e *refusal) Unwrap() error { return e.err }

// summary is the first problem and the number of the others.
func (r *Report) summary() string {
	first := r.Problems[0].String()
	if n := int64(len(r.Problems)) - 1 + r.More; n > 0 {
		return fmt.Sprintf("%s, and %d more", first, n)
	}
	return first
}

// Merge adds another report to r, which may be nil, and returns the sum.
func (r *Report) Merge(o *Report) *Report {
	if r == nil || o == nil {
		return cmp.Or(r, o)
	}
	r.Shards += o.Shards
	r.Samples += o.Samples
	r.Bytes += o.Bytes
	r.Seconds += o.Seconds
	r.QueueDepth = max(r.QueueDepth, o.QueueDepth)
	r.From = r.From.And(o.From)
	r.CrossChecked = r.CrossChecked && o.CrossChecked
	r.Problems = append(r.Problems, o.Problems...)
	r.More += o.More
	r.Looked = append(r.Looked, o.Looked...)
	if o.Backend == aio.Pread.String() {
		r.Backend = o.Backend
	}
	r.Fallback = cmp.Or(r.Fallback, o.Fallback)
	return r
}
