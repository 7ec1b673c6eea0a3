package plan

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/record"
)

// Columns are the optional columns of the indexes. All indexes of a dataset have the same columns,
// so that they can be read as one table.
type Columns struct {
	Keys   bool `json:"keys,omitempty"`   // samples have keys
	Labels bool `json:"labels,omitempty"` // samples may have classes

	// Alike means that a rule in the index replaces the columns of places: all records have one length, no sample
	// has a key or is left out, and samples keep their order. In a part-aligned plan the first part decides;
	// the index of a shard whose records have other lengths has the columns.
	Alike bool `json:"alike,omitempty"`
}

// alike reports whether a rule can replace the columns of places for these parts.
func alike(parts []PartIndex) bool {
	var cost, samples, largest int64
	for i := range parts {
		if parts[i].Account.Keys > 0 {
			return false
		}
		cost += parts[i].Cost
		samples += int64(parts[i].N)
		largest = max(largest, parts[i].Largest)
	}
	return samples > 0 && cost == samples*largest // a sample that is left out costs nothing
}

// RecordSize returns the size in bytes of each record of a shard of equal records.
func (s *Shard) RecordSize() int64 { return (s.Bytes - record.FileSize(s.Samples, 0)) / s.Samples }

// checkAlike returns an error if Columns.Alike cannot be true of the plan. A plan that was read from a file has
// the sizes of shards, but not of records.
func (p *Plan) checkAlike() error {
	c := p.columns()
	if c.Alike = p.Columns.Alike; p.Columns != c {
		return errors.New("its indexes have other columns than its parts")
	}
	for i := range p.Shards {
		s := &p.Shards[i]
		if c.Alike && (c.Keys || !p.InOrder() || s.RecordSize() != p.Shards[0].RecordSize() || s.Bytes != record.FileSize(s.Samples, s.Samples*s.RecordSize())) {
			return fmt.Errorf("shard %d: it cannot be of equal records", i)
		}
	}
	return nil
}

// columns returns the columns that the parts of the plan need.
func (p *Plan) columns() Columns {
	a := p.Account()
	c := Columns{Keys: a.Keys > 0}
	for _, name := range append([]string{otherNames}, LabelFields...) {
		_, found := a.Seen.find(name)
		c.Labels = c.Labels || found
	}
	return c
}

// LabelFields are the fields in which WebDataset keeps the class of a sample.
var LabelFields = []string{"cls", "index"}
