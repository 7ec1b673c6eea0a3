package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// Of returns the parts of the slice out of a source of the whole dataset, which must have as many
// parts and the same description as when the plan was made.
func (s *Slice) Of(whole converters.Source) (converters.Source, error) {
	parts := whole.Parts()
	if len(parts) != s.Parts {
		return nil, s.others(len(parts))
	}
	if d, ok := whole.(converters.Describer); ok {
		was, is := s.Plan.Dataset, d.Describe()
		if !slices.Equal(was.Classes, is.Classes) || !slices.Equal(was.Columns, is.Columns) || !slices.Equal(was.Shape, is.Shape) {
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

// Recognise returns an error if an index of the parts of the slice differs from the one that the plan
// was made from. It is for parts of many files, which no single file time describes.
func (s *Slice) Recognise(index []PartIndex) error {
	if len(index) != len(s.Plan.Parts) {
		return s.others(len(index))
	}
	for i := range index {
		was, is := s.Plan.Parts[i], index[i].Part
		if was.Account.Unread > 0 {
			continue
		}
		if s.Plan.Choice != nil { // which the index was made without
			was.Account, is.Account = Account{}, Account{}
		}
		was.Name = is.Name // they may lie elsewhere now; CheckParts compares base names
		if err := was.Changed(is); err != nil {
			return ForTask(err)
		}
		s.Plan.Parts[i].Modified = index[i].Modified
	}
	return nil
}

func (s *Slice) others(n int) error {
	return ForTask(ErrorChanged("the dataset", fmt.Sprintf("it was planned of %d sources, %d were found", s.Parts, n)))
}

var ErrIndivisible = errors.New("part-aligned shards cannot be made of such a source")
