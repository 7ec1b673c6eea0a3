package find

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/encode"
)

// A share says how many samples have a field.
type share int

const (
	some share = iota // or it is not known
	all
	none
)

// fieldKnown returns which samples have a field, as far as meta.json tells.
func (s *Searcher) fieldKnown(name string) (share, error) {
	counted, err := s.counted()
	if err != nil || !counted {
		return some, err
	}
	c, known := s.meta.Fields.Of(name)
	switch {
	case known && c.Samples == s.total:
		return all, nil
	case !known && len(s.meta.Fields) < mostCounted:
		return none, nil
	}
	return some, nil
}

// mostCounted is how many names of fields meta.json has at least if it counts others together.
const mostCounted = 1000

// readCounted reports whether meta.json counts the fields of the records.
func (s *Searcher) readCounted() (bool, error) {
	m, err := s.manifest()
	if err != nil || m == nil || len(s.meta.Fields) == 0 {
		return false, err
	}
	for i := range m.Shards {
		s.total += m.Shards[i].Samples
	}
	return !renames(m.Encode) && !slices.ContainsFunc(m.Encodes, renames), nil
}

// renames reports whether records may have other fields than their source had.
func renames(e encode.Options) bool {
	return e.Encoded || e.Rewrites() || e.Encoding == "raw" || strings.Contains(e.Encoding, ":")
}

// looked is how many records are looked at for the names of fields.
const looked = 20

// Fields returns names of fields: all names if meta.json counts the fields of the records, else the names in a few records of
// at most 1 MiB. It returns none if the encoding of the records is not known.
func (s *Searcher) Fields(ctx context.Context) ([]string, error) {
	counted, err := s.counted()
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	if counted {
		for _, c := range s.meta.Fields {
			names[c.Name] = true
		}
		return slices.Sorted(maps.Keys(names)), nil
	}
	if len(s.d.Encodings()) == 0 {
		return nil, nil
	}
	x := s.reader()
	defer x.close()
	for i := range min(looked, s.d.Len()) {
		r, err := x.d.Row(int64(uint64(i)*0x9e3779b97f4a7c15>>1)%s.d.Len(), true) // spread: kinds of samples may come in turns
		if err == nil {
			err = x.d.Locate(r)
		}
		if err = cmp.Or(ctx.Err(), err); err != nil {
			return nil, err
		}
		if r.At.Size > smallRecord {
			continue
		}
		if sample, err := x.decode(ctx, r); err == nil {
			for i := range sample.Fields {
				names[sample.Fields[i].Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}
