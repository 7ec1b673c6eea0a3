package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
)

// A Slice is the part of a plan that one task needs: its shards, and the parts that contain their samples.
type Slice struct {
	Task   Task  // whose slice it is
	Plan   *Plan // only of the slice: Plan.Shards are its shards, and their runs count parts from 0 in Plan.Parts
	First  int   // number in the dataset of the first of Plan.Parts
	Lead   Part  // first part of the dataset with samples; some formats inspect it before they read any part
	LeadAt int   // number in the dataset of Lead
	// OpenedBy is the current state of Lead, if Lead is in another slice and the source was opened with it, else nil.
	OpenedBy *converters.Part
	From     int    // number in the dataset of the first of Plan.Shards
	Shards   int    // number of shards in the dataset
	Parts    int    // number of parts in the dataset
	Digest   string // of the whole plan
}

// All returns the slice of the whole plan.
func All(p *Plan) *Slice {
	return &Slice{Plan: p, Shards: len(p.Shards), Parts: len(p.Parts)}
}

// ErrUnreadable reports a plan file that could not be read; it may be sound.
var ErrUnreadable = errors.New("read plan")

// first returns the number of the first shard of the k-th of n slices.
func (f *File) first(k, n int) (int, error) {
	if k == n {
		return f.Head.Shards, nil
	}
	last, err := f.row(f.Head.Parts + f.Head.Shards - 1)
	if err != nil {
		return 0, err
	}
	i := sort.Search(f.Head.Shards, func(i int) bool {
		row, before, failed := f.shardRow(i)
		if failed != nil {
			err = failed
			return true
		}
		return (Task{N: n}).at(before, row.sum, last.sum) >= k
	})
	return i, err
}

// Slice reads the slice of a task.
func (f *File) Slice(t Task, all bool) (*Slice, error) {
	from, err := f.first(t.K, max(t.N, 1))
	if err != nil {
		return nil, err
	}
	to, err := f.first(t.K+1, max(t.N, 1))
	if err != nil {
		return nil, err
	}
	s := &Slice{Task: t, Plan: f.plan(), From: from, Shards: f.Head.Shards, Parts: f.Head.Parts, Digest: f.foot.Digest}
	if err := f.shards(s.Plan, from, to); err != nil {
		return nil, err
	}
	first, last := s.Plan.partRange()
	if all {
		first, last = 0, f.Head.Parts
	}
	if first < 0 || last > f.Head.Parts {
		return nil, fmt.Errorf("a shard has parts %d to %d of %d", first, last, f.Head.Parts)
	}
	if s.Plan.Parts, err = f.parts(first, last); err != nil {
		return nil, err
	}
	if s.Lead, s.LeadAt, err = f.lead(); err != nil {
		return nil, err
	}
	s.First = first
	s.Plan.renumber(first)
	return s, s.check()
}

// check returns an error if a slice contradicts itself. The CRCs of its lines detect accidental damage;
// a hostile plan has valid CRCs.
func (s *Slice) check() error {
	p := s.Plan
	for i := range p.Parts {
		if err := errors.Join(p.Parts[i].Check(), p.CheckEncode(&p.Parts[i])); err != nil {
			return err
		}
	}
	for i := range p.Shards {
		h := &p.Shards[i]
		name := record.Name(s.From+i, s.Shards)
		switch {
		case p.Whole != (h.Parts > 0) || p.Whole && (h.Samples != 0 || h.Bytes != 0 || h.Runs != nil):
			return fmt.Errorf("shard %d: it has parts and samples, or neither", s.From+i)
		case !p.Whole:
			if err := p.checkShard(h, name); err != nil {
				return fmt.Errorf("shard %d: %w", s.From+i, err)
			}
		case h.Name != name || h.First < 0 || h.Parts < 1 || h.Parts > len(p.Parts)-h.First:
			return fmt.Errorf("shard %d: %q cannot have %d parts from part %d on", s.From+i, h.Name, h.Parts, s.First+h.First)
		}
	}
	return nil
}

// partRange returns the range of parts that the shards read: first … last-1.
func (p *Plan) partRange() (first, last int) {
	first = math.MaxInt
	for i := range p.Shards {
		from, to := p.Shards[i].PartRange()
		first, last = min(first, from), max(last, to)
	}
	return min(first, last), last
}

// PartRange returns the range of parts that the shard reads: first … last-1.
func (s *Shard) PartRange() (first, last int) {
	if s.Parts > 0 {
		return s.First, s.First + s.Parts
	}
	first = math.MaxInt
	for _, r := range s.Runs {
		first, last = min(first, r.Part), max(last, r.Part+1)
	}
	return min(first, last), last
}

// renumber subtracts first from the part numbers of all shards.
func (p *Plan) renumber(first int) {
	for i := range p.Shards {
		s := &p.Shards[i]
		if s.Parts > 0 {
			s.First -= first
		}
		for j := range s.Runs {
			s.Runs[j].Part -= first
		}
	}
}

// Only returns a plan of shard i alone, with its parts first … first+n-1.
func (p *Plan) Only(i, first, n int) *Plan {
	one := *p
	one.Parts = p.Parts[first : first+n]
	one.Shards = []Shard{p.Shards[i]}
	one.Shards[0].Runs = slices.Clone(p.Shards[i].Runs)
	one.renumber(first)
	return &one
}
