package plan

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// An Account counts what happened to every entry of the input. It balances when
//
//	Entries = entries in samples + the sum of Skipped
//	Samples = samples written + SamplesLeftOut
//	SamplesLeftOut = samples that lack a field + the sum of LeftOutBy
//	Fields  = fields written + FieldsLeftOut
//	Samples = FilterRead - FilterDropped + FilterAdded, if there is a filter and all parts are read to their ends
type Account struct {
	Entries        int64            `json:"entries"`                    // tar members, files, rows, items
	Samples        int64            `json:"samples"`                    // found
	Keys           int64            `json:"keys,omitempty"`             // samples found that have a key
	SamplesLeftOut int64            `json:"samples_left_out,omitempty"` // for a missing field, or not chosen
	LeftOutBy      map[string]int64 `json:"left_out_by,omitempty"`      // samples that were not chosen, by the option that left them out
	Fields         int64            `json:"fields"`                     // of all samples found
	FieldsLeftOut  int64            `json:"fields_left_out,omitempty"`  // not selected, or of a sample left out
	Skipped        map[string]int64 `json:"skipped,omitempty"`          // entries that belong to no sample, by reason
	Accepted       map[string]int64 `json:"waived,omitempty"`           // problems that a flag allows, by kind
	Unread         int64            `json:"not_read,omitempty"`         // 1: not indexed, because enough samples were found before
	Partly         int64            `json:"read_in_part,omitempty"`     // 1: the part was indexed up to the last sample needed

	FilterRead    int64 `json:"filter_samples,omitempty"` // samples that a filter was given; 0: there is no filter
	FilterDropped int64 `json:"filter_dropped,omitempty"` // samples of these that it dropped; their entries are in Skipped
	FilterAdded   int64 `json:"filter_added,omitempty"`   // samples that it made in addition to one for each

	// Seen counts, by field name, the written samples that have the field. It is not part of the balance.
	Seen FieldCounts `json:"seen,omitempty"`
}

// A FieldCount is the number of fields with one name and the sum of their sizes.
type FieldCount struct {
	Name    string `json:"-"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
}

// Written returns the number of samples that become records.
func (a *Account) Written() int64 { return a.Samples - a.SamplesLeftOut }

// EntriesSkipped returns the number of entries that belong to no sample.
func (a *Account) EntriesSkipped() int64 {
	n := int64(0)
	for _, c := range a.Skipped {
		n += c
	}
	return n
}

func (a *Account) skip(s *converters.Span) {
	if s.Accepted {
		a.Accepted = increment(a.Accepted, s.Skip, 1)
		return
	}
	n := int64(max(1, s.Entries))
	a.Entries += n
	a.Skipped = increment(a.Skipped, s.Skip, n)
}

// maxSeen bounds the number of field names that are counted separately: a dataset has a dozen, unless
// every file has its own field name. Fields with further names are counted together.
const (
	maxSeen    = 1000
	otherNames = "(other names)"
)

// saw counts written fields of one name.
func (a *Account) saw(c FieldCount) {
	if _, found := a.Seen.find(c.Name); !found && len(a.Seen) >= maxSeen {
		c.Name = otherNames
	}
	a.Seen.add(c)
}

// Merge adds another account to this one.
func (a *Account) Merge(b *Account) {
	a.Entries += b.Entries
	a.Samples += b.Samples
	a.Keys += b.Keys
	a.SamplesLeftOut += b.SamplesLeftOut
	a.Fields += b.Fields
	a.FieldsLeftOut += b.FieldsLeftOut
	for reason, n := range b.Skipped {
		a.Skipped = increment(a.Skipped, reason, n)
	}
	for what, n := range b.Accepted {
		a.Accepted = increment(a.Accepted, what, n)
	}
	for option, n := range b.LeftOutBy {
		a.LeftOutBy = increment(a.LeftOutBy, option, n)
	}
	a.FilterRead += b.FilterRead
	a.FilterDropped += b.FilterDropped
	a.FilterAdded += b.FilterAdded
	a.Unread += b.Unread
	a.Partly += b.Partly
	for _, c := range b.Seen { // in order, because maxSeen names are kept
		a.saw(c)
	}
}

// leaveOut counts a sample that is not chosen, under the option that excludes it.
func (a *Account) leaveOut(s *converters.Span, option string) {
	a.Entries += int64(s.Entries)
	a.Samples++
	if s.Shape.Key != "" {
		a.Keys++
	}
	a.Fields += int64(len(s.Shape.Fields))
	a.FieldsLeftOut += int64(len(s.Shape.Fields))
	a.SamplesLeftOut++
	a.LeftOutBy = increment(a.LeftOutBy, option, 1)
}

// WithoutField returns the number of samples that are left out for a missing field.
func (a *Account) WithoutField() int64 {
	n := a.SamplesLeftOut
	for _, c := range a.LeftOutBy {
		n -= c
	}
	return n
}

func increment(m map[string]int64, key string, n int64) map[string]int64 {
	if m == nil {
		m = make(map[string]int64)
	}
	m[key] += n
	return m
}

// Check returns an error if a number of the account is negative: the account is damaged, or a sum overflowed.
func (a *Account) Check() error {
	if min(a.Entries, a.Samples, a.Keys, a.SamplesLeftOut, a.Fields, a.FieldsLeftOut, a.Unread, a.Partly, a.FilterRead, a.FilterDropped, a.FilterAdded) < 0 {
		return errors.New("it has less than 0 entries, samples or fields")
	}
	if made := a.FilterRead - a.FilterDropped + a.FilterAdded; made != a.Samples && a.FilterRead > 0 && a.Partly == 0 {
		return fmt.Errorf("the filter made %d samples, and %d were found", made, a.Samples)
	}
	for _, reasons := range []map[string]int64{a.Skipped, a.Accepted} {
		for reason, n := range reasons {
			if n < 1 {
				return fmt.Errorf("%d entries are %q", n, reason)
			}
		}
	}
	notChosen := int64(0)
	for option, n := range a.LeftOutBy {
		if n < 1 || n > a.SamplesLeftOut-notChosen {
			return fmt.Errorf("%d of %d samples are left out by %s", n, a.SamplesLeftOut, option)
		}
		notChosen += n
	}
	if a.EntriesSkipped() < 0 {
		return errors.New("more than 2⁶³ entries are skipped")
	}
	return nil
}
