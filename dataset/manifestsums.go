package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// balance returns an error if the counts of indexing and of writing differ.
func (t *Totals) balance() error {
	if t.SamplesFound != t.SamplesWritten+t.SamplesLeftOut {
		return fmt.Errorf("%w: %d samples found, %d written, %d left out", ErrUnbalanced, t.SamplesFound, t.SamplesWritten, t.SamplesLeftOut)
	}
	if t.FieldsFound != t.FieldsWritten+t.FieldsLeftOut {
		return fmt.Errorf("%w: %d fields found, %d written, %d left out", ErrUnbalanced, t.FieldsFound, t.FieldsWritten, t.FieldsLeftOut)
	}
	return nil
}

// check says in what a manifest contradicts itself: each number in it that is the sum of others
// must be that.
func (m *Manifest) check() error {
	switch year := m.Created.Year(); {
	case len(m.PlanDigest) != 64:
		return errors.New("its plan_sha256 is not a SHA-256")
	case year < 1970 || year > 9999 || m.Created.Location() != time.UTC:
		return fmt.Errorf("it was created at %v", m.Created)
	case !m.Verified && m.VerifiedFrom != "":
		return errors.New("its shards were not verified, and it says where from")
	case m.Meta.Bytes < 1:
		return errors.New("it has no checksum of meta.json")
	}
	sums, err := m.sums()
	if err != nil {
		return err
	}
	for _, t := range []struct {
		name      string
		says, sum int64
	}{
		{"shards", int64(m.Totals.Shards), int64(sums.Shards)},
		{"bytes", m.Totals.Bytes, sums.Bytes},
		{"entries_read", m.Totals.EntriesRead, sums.EntriesRead},
		{"entries_skipped", m.Totals.EntriesSkipped, sums.EntriesSkipped},
		{"samples_found", m.Totals.SamplesFound, sums.SamplesFound},
		{"samples_written", m.Totals.SamplesWritten, sums.SamplesWritten},
		{"samples_left_out", m.Totals.SamplesLeftOut, sums.SamplesLeftOut},
		{"fields_found", m.Totals.FieldsFound, sums.FieldsFound},
		{"fields_written", m.Totals.FieldsWritten, sums.FieldsWritten},
		{"fields_left_out", m.Totals.FieldsLeftOut, sums.FieldsLeftOut},
	} {
		if t.says != t.sum {
			return fmt.Errorf("its totals have %d %s, its shards and sources %d", t.says, t.name, t.sum)
		}
	}
	if !maps.Equal(m.Totals.Skipped, sums.Skipped) || !maps.Equal(m.Totals.Accepted, sums.Accepted) {
		return errors.New("its totals have other entries skipped than its sources")
	}
	return m.Totals.balance()
}

// sums adds up what the shards and the sources have.
func (m *Manifest) sums() (t Totals, err error) {
	if t.Shards = len(m.Shards); t.Shards == 0 {
		return t, errors.New("it has no shards")
	}
	for i, s := range m.Shards {
		if want := record.Name(i, t.Shards); s.Name != want {
			return t, fmt.Errorf("shard %d is named %q, not %q", i, s.Name, want)
		}
		if s.Samples < 1 || s.Samples > record.MaxSamples || s.Fields < 0 || s.Bytes < record.FileSize(s.Samples, 0) || s.Index.Bytes < 1 {
			return t, fmt.Errorf("shard %q has %d samples and %d fields in %d bytes, and an index of %d", s.Name, s.Samples, s.Fields, s.Bytes, s.Index.Bytes)
		}
		t.Bytes += s.Bytes
		t.SamplesWritten += s.Samples
		t.FieldsWritten += s.Fields
		if min(t.Bytes, t.SamplesWritten, t.FieldsWritten) < 0 {
			return t, errors.New("its shards have more than 8 EiB")
		}
	}
	var a plan.Account
	plan := plan.Plan{Encodes: m.Encodes}
	for i := range m.Sources {
		p := &m.Sources[i]
		if err := p.Check(); err != nil || p.Name == "" {
			return t, cmp.Or(err, errors.New("a source has no name"))
		}
		if err := plan.CheckEncode(p); err != nil {
			return t, err
		}
		if err := p.Account.Check(); err != nil {
			return t, fmt.Errorf("source %q: %w", p.Name, err)
		}
		if a.Merge(&p.Account); a.Check() != nil {
			return t, errors.New("its sources have more than 2⁶³ entries")
		}
	}
	t.EntriesRead, t.EntriesSkipped, t.Skipped, t.Accepted = a.Entries, a.EntriesSkipped(), a.Skipped, a.Accepted
	t.SamplesFound, t.SamplesLeftOut = a.Samples, a.SamplesLeftOut
	t.FieldsFound, t.FieldsLeftOut = a.Fields, a.FieldsLeftOut
	return t, nil
}

// ErrUnbalanced says that the written and the found samples differ. It is an internal
// error: nothing of the input may be lost without one of the others.
var ErrUnbalanced = errors.New("written and found samples differ")
