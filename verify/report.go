package verify

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// maxProblems bounds the problems kept for one shard, so that a shard of ten million damaged
// samples does not fill the memory. Further problems are only counted.
const maxProblems = 10_000

// A Result describes one verified file.
type Result struct {
	Shard     string          // file name without directory; for other files than shards the name in the Sum
	Path      string          // path of the file, joined with the name of Target.Root
	Summary   record.FileInfo // of a shard; zero if the header is unusable
	Bytes     int64           // bytes read and checked
	From      aio.Origin      // where these bytes were read from
	SHA256    string          // of a file without problems, hexadecimal, if Options.SHA256 is set
	Refetched bool            // sound after it was fetched again
	Problems  []Problem       // at most 10,000
	more      int64           // problems beyond these
}

// fault adds the problem of the whole file.
func (res *Result) fault(kind Kind, err error) { res.problem(NewProblem("", "", kind, err)) }

func (res *Result) problem(p Problem) {
	if len(res.Problems) == maxProblems {
		res.more++
		return
	}
	p.Shard, p.Path = res.Shard, res.Path
	res.Problems = append(res.Problems, p)
}

// sum sets the SHA-256 of a file that was read whole and has no problem, if Options.SHA256 is set. One other than want is a problem.
func (res *Result) sum(opts Options, h hash.Hash, want string) {
	if !opts.SHA256 || len(res.Problems) > 0 {
		return
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if want != "" && sum != want {
		res.fault(Changed, fmt.Errorf("its SHA-256 is %s, the dataset's file has %s", sum, want))
		return
	}
	res.SHA256 = sum
}

// format adds the problem that a record.Scanner reports.
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

// Err returns nil if Problems is empty, else the error that [Report.Err] would return.
func (res *Result) Err() error {
	r := Report{}
	r.add(res)
	return r.Err()
}

// A Proof describes what was compared in addition to the checksums of a dataset. The caller that read the manifest sets
// it.
type Proof struct {
	SHA256   bool    `json:"sha256"`                // of each file that was read, with the manifest
	SignedBy string  `json:"signed_by,omitempty"`   // ID of the key that signed the manifest
	Root     string  `json:"root_sha256,omitempty"` // of the manifest; "": it has none, or there are several datasets
	Read     int     `json:"shards_read"`           // from their first byte to their last
	Of       int     `json:"shards_of"`             // shards of the manifest
	Seed     *uint64 `json:"seed,omitempty"`        // random seed that selected the shards to read; nil: all were read
}

// merge returns the proof of two datasets together, nil if one of them has none.
func (p *Proof) merge(o *Proof) *Proof {
	if p == nil || o == nil {
		return nil
	}
	both := *p
	both.Root, both.Read, both.Of = "", p.Read+o.Read, p.Of+o.Of
	return &both
}

// A Report describes all verified shards and how they were read.
type Report struct {
	Shards       int        `json:"shards"`                  // shards read
	Samples      int64      `json:"samples"`                 // samples of all shards with a usable header
	Bytes        int64      `json:"bytes"`                   // bytes read and checked
	Seconds      float64    `json:"seconds"`                 // wall time
	Backend      string     `json:"backend"`                 // aio or pread
	QueueDepth   int        `json:"queue_depth"`             // reads in flight, all workers together
	From         aio.Origin `json:"read_from"`               // aio.Device only if that is proven for every shard
	Fallback     string     `json:"fallback,omitempty"`      // why Linux AIO was not used
	CrossChecked bool       `json:"cross_checked"`           // the shards were compared with a dataset's list
	Refetched    int        `json:"refetched,omitempty"`     // files that were fetched again, and were sound then
	Proof        *Proof     `json:"proof,omitempty"`         // nil: only checksums were compared
	Problems     []Problem  `json:"problems"`                // in the order of targets
	More         int64      `json:"more_problems,omitempty"` // problems that are counted but not in Problems
	Results      []Result   `json:"-"`                       // of each shard, in the order of targets, without its problems
}

func (r *Report) add(res *Result) {
	r.Samples += res.Summary.Samples
	r.Bytes += res.Bytes
	r.addOther(res)
}

// addOther adds the result of a file that is not a shard. Its bytes are not counted.
func (r *Report) addOther(res *Result) {
	r.From = r.From.And(res.From)
	r.Problems = append(r.Problems, res.Problems...)
	r.More += res.more
	if res.Refetched {
		r.Refetched++
	}
}

// backend merges the statistics of one worker. One worker that fell back to pread makes it pread; one that read too little
// for a queue of Linux AIO does not.
func (r *Report) backend(s aio.Stats) {
	if s.Fallback != "" || r.Fallback == "" && r.Backend != aio.AIO.String() {
		r.Backend = s.Backend.String()
	}
	r.Fallback = cmp.Or(r.Fallback, s.Fallback)
}

// swaps adds a problem for each shard that has the content expected of another shard in its
// directory. If several shards should have that content, the problem names the first. A shard
// with the content expected of it is never swapped.
func (r *Report) swaps(targets []Target, results []Result) {
	type content struct {
		dir string
		record.FileInfo
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
			r.Problems = append(r.Problems, NewProblem(t.path(), results[i].Shard, Swapped, errors.New("it is the dataset's shard "+name)))
		}
	}
}

// MBPerSecond returns the rate of verification in 10⁶ bytes per second, 0 if Seconds is 0.
func (r *Report) MBPerSecond() float64 {
	if r.Seconds <= 0 {
		return 0
	}
	return float64(r.Bytes) / 1e6 / r.Seconds
}

// Err returns nil if Problems is empty. If all problems are Unreadable or Limit, the error wraps
// the cause of the first one; otherwise it wraps [ErrCorrupt].
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

// A refusal wraps err under a message that already contains the message of err.
type refusal struct {
	summary string
	err     error
}

func (e *refusal) Error() string { return e.summary }
func (e *refusal) Unwrap() error { return e.err }

// Count returns the number of problems, including those not in Problems.
func (r *Report) Count() int64 { return int64(len(r.Problems)) + r.More }

// summary returns the first problem and the number of the others.
func (r *Report) summary() string {
	first := r.Problems[0].String()
	if n := r.Count() - 1; n > 0 {
		return fmt.Sprintf("%s, and %d more", first, n)
	}
	return first
}

// Merge adds o to r and returns r. If one of the two is nil it returns the other.
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
	r.Refetched += o.Refetched
	r.CrossChecked = r.CrossChecked && o.CrossChecked
	r.Proof = r.Proof.merge(o.Proof)
	r.Problems = append(r.Problems, o.Problems...)
	r.More += o.More
	r.Results = append(r.Results, o.Results...)
	if o.Backend == aio.Pread.String() {
		r.Backend = o.Backend
	}
	r.Fallback = cmp.Or(r.Fallback, o.Fallback)
	return r
}
