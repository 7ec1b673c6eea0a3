package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// addShard adds a written shard.
func (t *totals) addShard(s *ManifestShard) {
	t.Shards++
	t.Bytes += s.Bytes
	t.SamplesWritten += s.Samples
	t.FieldsWritten += s.Fields
	t.NotWhole += s.NotWhole
}

// setFound enters the account of all sources.
func (t *totals) setFound(a plan.Account) {
	t.EntriesRead, t.EntriesSkipped, t.Skipped, t.Accepted = a.Entries, a.EntriesSkipped(), a.Skipped, a.Accepted
	t.SamplesFound, t.SamplesLeftOut = a.Samples, a.SamplesLeftOut
	t.FieldsFound, t.FieldsLeftOut = a.Fields, a.FieldsLeftOut
	t.FilterRead, t.FilterDropped, t.FilterAdded = a.FilterRead, a.FilterDropped, a.FilterAdded
	t.LeftOutBy, t.SourcesUnread, t.SourcesPartly = a.LeftOutBy, a.Unread, a.Partly
}

// balance returns an error if the counts of indexing and of writing differ.
func (t *totals) balance() error {
	if t.SamplesFound != t.SamplesWritten+t.SamplesLeftOut {
		return fmt.Errorf("%w: %d samples found, %d written, %d left out", errUnbalanced, t.SamplesFound, t.SamplesWritten, t.SamplesLeftOut)
	}
	if t.FieldsFound != t.FieldsWritten+t.FieldsLeftOut {
		return fmt.Errorf("%w: %d fields found, %d written, %d left out", errUnbalanced, t.FieldsFound, t.FieldsWritten, t.FieldsLeftOut)
	}
	return nil
}

// check returns an error if a manifest contradicts itself: its totals must be the sums of its shards and sources.
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
	if err := m.checkRoot(); err != nil {
		return err
	}
	if !reflect.DeepEqual(m.Totals, sums) {
		return errors.New("its totals are not the sums of its shards and sources")
	}
	return m.Totals.balance()
}

// sums adds up what the shards and the sources have.
func (m *Manifest) sums() (t totals, err error) {
	if t, err = m.sumShards(); err != nil {
		return t, err
	}
	var a plan.Account
	plan := plan.Plan{Recipe: plan.Recipe{Encodes: m.Encodes}}
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
	t.setFound(a)
	return t, nil
}

// sumShards checks the shards and adds them up.
func (m *Manifest) sumShards() (t totals, err error) {
	if len(m.Shards) == 0 {
		return t, errors.New("it has no shards")
	}
	for i, s := range m.Shards {
		if want := record.Name(i, len(m.Shards)); s.Name != want {
			return t, fmt.Errorf("shard %d is named %q, not %q", i, s.Name, want)
		}
		if s.Samples < 1 || s.Samples > record.MaxSamples || s.Fields < 0 || s.Bytes < record.FileSize(s.Samples, 0) || s.Index.Bytes < 1 {
			return t, fmt.Errorf("shard %q has %d samples and %d fields in %d bytes, and an index of %d", s.Name, s.Samples, s.Fields, s.Bytes, s.Index.Bytes)
		}
		if s.NotWhole < 0 || s.NotWhole > s.Bytes || !s.FirstNot.check(s.NotWhole) { // a record that is copied is one field, and may have many inside
			return t, fmt.Errorf("shard %q has %d fields that are not whole, in %d bytes, and describes %d of them", s.Name, s.NotWhole, s.Bytes, len(s.FirstNot.List()))
		}
		t.addShard(&s)
		if min(t.Bytes, t.SamplesWritten, t.FieldsWritten) < 0 {
			return t, errors.New("its shards have more than 8 EiB")
		}
	}
	return t, nil
}

// errUnbalanced says that the written and the found samples differ. It is an internal
// error: nothing of the input may be lost without one of the others.
var errUnbalanced = errors.New("written and found samples differ")

// notWholeNames describe the first fields of a shard that are not whole: "a/b: field "jpg": cut: it has no end (FF D9)". "" is
// none. In JSON they are a list without these.
type notWholeNames [3]string

// List returns those that there are.
func (n notWholeNames) List() []string {
	list := n[:]
	if end := slices.Index(list, ""); end >= 0 {
		list = list[:end]
	}
	return list
}

// MarshalJSON returns a list of texts.
func (n notWholeNames) MarshalJSON() ([]byte, error) { return json.Marshal(n.List()) }

// UnmarshalJSON reads a list of texts.
func (n *notWholeNames) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	if len(list) > len(n) || slices.Contains(list, "") {
		return errors.New("a list of fields that are not whole is too long, or has an empty text")
	}
	copy(n[:], list)
	return nil
}

// check reports whether as many are described as there are, or as can be.
func (n notWholeNames) check(count int64) bool {
	return int64(len(n.List())) == min(count, int64(len(n)))
}
