package plan

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/crcline"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/record"
)

// A plan file is lines, each a CRC-32 in hexadecimal, a space, and the text that it is of:
//
//	head              JSON
//	part 0 …          JSON, a line a part
//	shard 0 …         JSON, a line a shard
//	table             a row a part, then a row a shard, see planRow
//	foot              JSON: where the table begins, and the SHA-256 of all before the foot
//
// A task finds its own lines by the table. The line of a shard and the lines of its parts
// are enough to write that shard. A plan names no time and no machine, so that the same input
// and options give the same file anywhere.

// FormatVersion is the version of a plan file, and alikeVersion the one of a plan with Columns.Alike,
// which programs that read version 2 alone refuse. choiceVersion is the one of a plan with a choice, with records
// that are encoded already, with added fields, or with a filter.
const (
	FormatVersion = 2
	alikeVersion  = 3
	choiceVersion = 4
)

var (
	// ErrDamaged says that a plan file is damaged or not one of ours.
	ErrDamaged = place.New(place.Corrupt, "plan file is damaged")
	// ErrVersion says that a plan was made by another version of the program.
	ErrVersion = place.New(place.Refused, "plan of another version")
)

type Head struct {
	Version int                    `json:"ffconvert_plan"`
	Source  SourceSpec             `json:"source"`
	Encode  encode.Options         `json:"encode"`
	Encodes []encode.Options       `json:"encodes,omitempty"`
	Dataset converters.Description `json:"dataset,omitzero"`
	Shuffle *Shuffle               `json:"shuffle,omitempty"`
	Choice  *choose.Options        `json:"choice,omitempty"`
	Whole   bool                   `json:"whole_parts,omitempty"`
	Columns Columns                `json:"index"`
	Parts   int                    `json:"parts"`
	Shards  int                    `json:"shards"`
}

// A shardLine is a *planShard or, of a part-aligned plan, a *planWhole.
type shardLine interface{ shard() Shard }

type planShard struct {
	Name    string   `json:"name"`
	Samples int64    `json:"samples"`
	Bytes   int64    `json:"bytes"`
	Runs    planRuns `json:"runs"`
}

func (l *planShard) shard() Shard {
	return Shard{Name: l.Name, Samples: l.Samples, Bytes: l.Bytes, Runs: l.Runs}
}

// A planWhole is the line of a part-aligned shard.
type planWhole struct {
	Name  string `json:"name"`
	First int    `json:"first"` // part
	Parts int    `json:"parts"`
}

func (l *planWhole) shard() Shard { return Shard{Name: l.Name, First: l.First, Parts: l.Parts} }

type planFoot struct {
	Table  int64  `json:"table"` // offset
	Digest string `json:"sha256"`
}

// Write writes the plan file and returns its digest.
func (p *Plan) Write(w io.Writer) (digest string, err error) {
	out := newPlanWriter(w)
	out.json(Head{p.version(), p.Source, p.Encode, p.Encodes, p.Dataset, p.Shuffle, p.Choice, p.Whole, p.Columns, len(p.Parts), len(p.Shards)})
	for i := range p.Parts {
		out.row(i == 0, p.Parts[i].Size)
		out.json(&p.Parts[i])
	}
	for i := range p.Shards {
		s := &p.Shards[i]
		out.row(i == 0, p.Weight(i))
		if p.Whole {
			out.json(planWhole{s.Name, s.First, s.Parts})
			continue
		}
		out.json(planShard{s.Name, s.Samples, s.Bytes, s.Runs})
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

// copies reports whether records of some part are encoded already: see encode.Options.
func (p *Plan) copies() bool {
	return p.Encode.Encoded || slices.ContainsFunc(p.Encodes, func(o encode.Options) bool { return o.Encoded })
}

// Digest returns the digest of the plan's file.
func (p *Plan) Digest() (string, error) { return p.Write(io.Discard) }

// Read reads a plan file. The returned plan is consistent: names are the ones that
// shards have, runs lie inside their parts, and the digest is right.
func Read(r io.Reader) (*Plan, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, crcline.Max)
	off := int64(0)
	text := func() ([]byte, error) {
		if !in.Scan() {
			return nil, cmp.Or(in.Err(), io.ErrUnexpectedEOF)
		}
		off += int64(len(in.Bytes())) + 1
		return planText(in.Bytes())
	}
	line := func(v any) error {
		text, err := text()
		if err != nil {
			return err
		}
		return decodePlan(text, v)
	}
	p, err := readPlan(line)
	table := off
	for n := 0; err == nil && n < len(p.Parts)+len(p.Shards); n++ {
		_, err = text() // rows, which follow from the rest
	}
	var foot planFoot
	if err == nil {
		err = line(&foot)
	}
	if err == nil {
		err = p.checkFoot(foot, table, in.Scan())
	}
	switch unread := in.Err(); {
	case unread != nil && !errors.Is(unread, bufio.ErrTooLong):
		return nil, fmt.Errorf("read plan: %w", unread)
	case errors.Is(err, ErrVersion):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return p, nil
}

// plan is what the head says of it.
func (h *Head) plan() *Plan {
	return &Plan{Source: h.Source, Encode: h.Encode, Encodes: h.Encodes, Dataset: h.Dataset, Shuffle: h.Shuffle, Choice: h.Choice, Whole: h.Whole, Columns: h.Columns}
}

func readPlan(line func(any) error) (*Plan, error) {
	var head Head
	if err := line(&head); err != nil {
		return nil, err
	}
	p := head.plan()
	for range head.Parts {
		var part Part
		if err := line(&part); err != nil {
			return nil, err
		}
		if err := cmp.Or(part.Check(), p.CheckEncode(&part)); err != nil {
			return nil, err
		}
		p.Parts = append(p.Parts, part)
	}
	if p.Whole {
		return p, p.readWhole(line, head.Shards)
	}
	for i := range head.Shards {
		var l planShard
		if err := line(&l); err != nil {
			return nil, err
		}
		s := l.shard()
		if err := p.checkShard(&s, record.Name(i, head.Shards)); err != nil {
			return nil, fmt.Errorf("shard %d: %w", i, err)
		}
		p.Shards = append(p.Shards, s)
	}
	return p, nil
}

// readWhole reads the shards of a part-aligned plan, which must have all parts in order.
func (p *Plan) readWhole(line func(any) error, shards int) error {
	next := 0
	for i := range shards {
		var l planWhole
		if err := line(&l); err != nil {
			return err
		}
		if l.Name != record.Name(i, shards) || l.First != next || l.Parts < 1 || l.Parts > len(p.Parts)-next {
			return fmt.Errorf("shard %d: %q cannot have %d parts from part %d on", i, l.Name, l.Parts, l.First)
		}
		p.Shards = append(p.Shards, l.shard())
		next += l.Parts
	}
	if next != len(p.Parts) || p.Shuffle != nil || p.Choice != nil {
		return fmt.Errorf("its shards have %d of %d parts", next, len(p.Parts))
	}
	return nil
}

// checkFoot checks a plan file as a whole. Writing the plan again must give the same bytes: there is
// one way to write a plan.
func (p *Plan) checkFoot(foot planFoot, table int64, more bool) error {
	if more || foot.Table != table {
		return errors.New("its end is damaged")
	}
	if !p.Whole {
		if err := p.checkAlike(); err != nil {
			return err
		}
	}
	written, err := p.Digest()
	if err == nil && written != foot.Digest {
		err = errors.New("its digest is wrong")
	}
	return err
}

// Check returns an error if a part that was read contradicts itself.
func (p *Part) Check() error {
	a := &p.Account
	if p.Size < 0 || a.Samples < 0 || a.SamplesLeftOut < 0 || a.SamplesLeftOut > a.Samples || a.Samples > maxSamples {
		return fmt.Errorf("part %q has %d samples in %d bytes", p.Name, a.Samples, p.Size)
	}
	return nil
}

// readable returns the number of bytes that samples are read from.
func (p *Part) readable() int64 {
	if p.Filtered != nil {
		return p.Filtered.Bytes
	}
	return p.Size
}

// maxSamples bounds the samples of a part: 8 PiB of memory could not plan more.
const maxSamples = 1 << 49

// checkShard returns an error if a shard that was read contradicts its parts.
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
