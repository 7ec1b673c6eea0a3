package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// A plan file consists of lines, each a CRC-32 in hexadecimal, a space, and the text that the CRC covers:
//
//	head              JSON
//	part 0 …          JSON, a line a part
//	shard 0 …         JSON, a line a shard
//	table             one row a part, then one row a shard, see planRow
//	foot              JSON: the offset of the table, and the SHA-256 of everything before the foot
//
// A task finds the lines of its shards and parts by the table. The line of a shard and the lines of its parts are
// enough to write that shard. A plan contains no time and no name of a machine, so the same input and options give the
// same file anywhere.

// FormatVersion is the least version of a plan file. Others are 3, with Columns.Alike, which programs that know only
// version 2 refuse, and 4, with a choice, records that are already encoded, added fields, or a filter.
const (
	FormatVersion = 2
	alikeVersion  = 3
	choiceVersion = 4
)

var (
	// ErrDamaged reports a plan file that is damaged or was not written by this program.
	ErrDamaged = place.New(place.Corrupt, "plan file is damaged")
	// ErrVersion reports a plan of another format version.
	ErrVersion = place.New(place.Refused, "plan of another version")
)

// A planHead is the first line of a plan file.
type planHead struct {
	Version int `json:"ffconvert_plan"`
	Plan
	Parts  int `json:"parts"`
	Shards int `json:"shards"`
}

// A planShard is the line of a shard: its parts if the plan is part-aligned, else its runs of samples.
type planShard struct {
	Name    string   `json:"name"`
	Samples int64    `json:"samples,omitempty"`
	Bytes   int64    `json:"bytes,omitempty"`
	Runs    planRuns `json:"runs,omitempty"`
	First   *int     `json:"first,omitempty"` // part, of a part-aligned plan
	Parts   int      `json:"parts,omitempty"`
}

func (l *planShard) shard() Shard {
	s := Shard{Name: l.Name, Samples: l.Samples, Bytes: l.Bytes, Runs: l.Runs, Parts: l.Parts}
	if l.First != nil {
		s.First = *l.First
	}
	return s
}

type planFoot struct {
	Table  int64  `json:"table"` // offset
	Digest string `json:"sha256"`
}

// Write writes the plan file and returns its digest.
func (p *Plan) Write(w io.Writer) (digest string, err error) {
	out := newPlanWriter(w)
	out.json(planHead{p.version(), *p, len(p.Parts), len(p.Shards)})
	for i := range p.Parts {
		out.row(i == 0, p.Parts[i].Size)
		out.json(&p.Parts[i])
	}
	for i := range p.Shards {
		s := &p.Shards[i]
		out.row(i == 0, p.Weight(i))
		line := planShard{Name: s.Name, Samples: s.Samples, Bytes: s.Bytes, Runs: s.Runs, Parts: s.Parts}
		if p.Whole {
			line.First = &s.First
		}
		out.json(line)
	}
	return out.finish()
}

func (p *Plan) version() int {
	if p.Choice != nil || p.copies() || p.Dataset.Added != nil || p.Source.Filter != "" {
		return choiceVersion
	}
	if p.Columns.Alike {
		return alikeVersion
	}
	return FormatVersion
}

// copies reports whether some records are already encoded and are copied: see encode.Options.
func (p *Plan) copies() bool {
	return p.Encode.Encoded || slices.ContainsFunc(p.Encodes, func(o encode.Options) bool { return o.Encoded })
}

// Digest returns the digest of the plan file.
func (p *Plan) Digest() (string, error) { return p.Write(io.Discard) }

// Plan reads all of a plan file. The returned plan is consistent: shards have their numbered names, runs
// lie inside their parts, and the digest matches. Writing it again gives the same bytes.
func (f *File) Plan() (*Plan, error) {
	s, err := f.Slice(Task{}, true)
	if err == nil {
		err = f.checkWhole(s.Plan)
	}
	if err != nil {
		return nil, err
	}
	return s.Plan, nil
}

// Read is OpenFile and Plan. Its error is ErrVersion, ErrUnreadable or ErrDamaged.
func Read(r io.ReaderAt, size int64) (*Plan, error) {
	f, err := OpenFile(r, size)
	if err == nil {
		var p *Plan
		if p, err = f.Plan(); err == nil {
			return p, nil
		}
	}
	if errors.Is(err, ErrVersion) || errors.Is(err, ErrUnreadable) {
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
}

// checkWhole checks the whole file from which p was read.
func (f *File) checkWhole(p *Plan) error {
	if f.foot.Table+int64(len(p.Parts)+len(p.Shards))*planRowSize != f.footAt {
		return errors.New("its end is damaged")
	}
	if p.Whole {
		next := 0
		for i := range p.Shards {
			if p.Shards[i].First != next {
				return fmt.Errorf("shard %d: it begins with part %d, not %d", i, p.Shards[i].First, next)
			}
			next += p.Shards[i].Parts
		}
		if next != len(p.Parts) || p.Shuffle != nil || p.Choice != nil {
			return fmt.Errorf("its shards have %d of %d parts", next, len(p.Parts))
		}
	} else if err := p.checkAlike(); err != nil {
		return err
	}
	written, err := p.Digest()
	if err == nil && written != f.foot.Digest {
		err = errors.New("its digest is wrong")
	}
	return cmp.Or(err, f.Check())
}

// Check returns an error if the fields of a part contradict each other.
func (p *Part) Check() error {
	a := &p.Account
	if p.Size < 0 || a.Samples < 0 || a.SamplesLeftOut < 0 || a.SamplesLeftOut > a.Samples || a.Samples > maxSamples {
		return fmt.Errorf("part %q has %d samples in %d bytes", p.Name, a.Samples, p.Size)
	}
	return nil
}

// readable returns the number of bytes that contain the samples.
func (p *Part) readable() int64 {
	if p.Filtered != nil {
		return p.Filtered.Bytes
	}
	return p.Size
}

// maxSamples bounds the samples of a part: planning more would need over 8 PiB of memory.
const maxSamples = 1 << 49

// checkShard returns an error if a shard contradicts its parts.
func (p *Plan) checkShard(s *Shard, name string) error {
	if s.Name != name {
		return fmt.Errorf("it is named %q, not %q", s.Name, name)
	}
	found := int64(0)
	for _, r := range s.Runs {
		if r.Part < 0 || r.Part >= len(p.Parts) {
			return fmt.Errorf("part %d does not exist", r.Part)
		}
		part := &p.Parts[r.Part]
		if r.Count < 1 || r.First < 0 || r.First > part.Account.Samples-r.Count || r.Off < 0 || r.Off > part.readable() {
			return fmt.Errorf("run %v lies outside part %q", r, part.Name)
		}
		if found += r.Count; found > maxSamples {
			return fmt.Errorf("its runs have more than %d samples", int64(maxSamples))
		}
	}
	if s.Samples < 1 || s.Samples > found || s.Samples > record.MaxSamples || s.Bytes < record.FileSize(s.Samples, 0) {
		return fmt.Errorf("%d samples of %d bytes do not come of runs of %d samples", s.Samples, s.Bytes, found)
	}
	return nil
}
