package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// Of returns the parts of the slice from a source of the whole dataset, which must have the planned number of
// parts and the planned description.
func (s *Slice) Of(whole converters.Source) (converters.Source, error) {
	parts := whole.Parts()
	if len(parts) != s.Parts {
		return nil, s.errorSources(len(parts))
	}
	if d, ok := whole.(converters.Describer); ok {
		planned, found := s.Plan.Dataset, d.Describe()
		if !slices.Equal(planned.Classes, found.Classes) || !slices.Equal(planned.Columns, found.Columns) || !slices.Equal(planned.Shape, found.Shape) {
			return nil, ForTask(ErrorChanged("the dataset", "it had other classes or columns when it was planned"))
		}
	}
	if len(s.Plan.Parts) == s.Parts {
		return whole, nil
	}
	some, ok := whole.(converters.Divisible)
	if !ok {
		return nil, ErrIndivisible
	}
	return some.WithParts(s.First, parts[s.First:][:len(s.Plan.Parts)]), nil
}

// Recognise returns an error if an index of the parts of the slice differs from the planned one. It is for
// parts that consist of many files, which have no single modification time.
func (s *Slice) Recognise(index []PartIndex) error {
	if len(index) != len(s.Plan.Parts) {
		return s.errorSources(len(index))
	}
	for i := range index {
		planned, found := s.Plan.Parts[i], index[i].Part
		if planned.Account.Unread > 0 {
			continue
		}
		if s.Plan.Choice != nil { // the index was made without it
			planned.Account, found.Account = Account{}, Account{}
		}
		planned.Name = found.Name // the path may have changed; CheckParts compares base names
		if err := planned.Changed(found); err != nil {
			return ForTask(err)
		}
		s.Plan.Parts[i].Modified = index[i].Modified
	}
	return nil
}

func (s *Slice) errorSources(n int) error {
	return ForTask(ErrorChanged("the dataset", fmt.Sprintf("it was planned of %d sources, %d were found", s.Parts, n)))
}

// ErrIndivisible reports a source that is no [converters.Divisible] where some of its parts are needed.
var ErrIndivisible = errors.New("part-aligned shards cannot be made of such a source")
