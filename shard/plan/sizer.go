package plan

import (
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// A sizer computes the sizes of records and counts their samples in an account. Consecutive alike samples are sized once,
// integers aside, and added to the account when a different one comes. A sample with the names and kinds of fields of the
// last one is sized by the lengths that differ (encode.Encoder.Alike); fields are added when names or kinds change.
type sizer struct {
	*indexer
	chosen   *choose.Part // nil: all samples
	fields   []sizedField // fields of the sample that was sized last
	keyed    bool         // that sample has a key
	record   int64        // size of its record; -1: it is left out
	put      int          // number of its fields that go into the record
	sized    bool         // a sample was sized
	damaged  bool         // that sample is left out because a field is not whole
	alike    int64        // samples like it that are not in the account yet
	integers bool         // that sample has integers, and samples like it may have records of other sizes
}

// A sizedField is a field of the last sized sample. It counts that field in consecutive samples with the same names.
type sizedField struct {
	FieldCount
	kind converters.Kind
	size int64
}

// choose returns the size of the record of the span's sample, or -1 if the sample is left out.
func (z *sizer) choose(span *converters.Span, idx *PartIndex) (int64, error) {
	a := &idx.Account
	if z.chosen == nil {
		return z.size(span, a)
	}
	option, err := z.chosen.Leave(span.Shape)
	if err != nil {
		return 0, err
	}
	if option != "" {
		if !span.Alike { // later spans may refer to this one
			z.count(a)
			z.sized = false
		}
		a.leaveOut(span, option)
		return -1, nil
	}
	size, err := z.size(span, a)
	if size < 0 || err != nil {
		return size, err
	}
	if option := z.chooser.Count(); option != "" {
		z.alike--
		a.Entries -= int64(span.Entries) // leaveOut adds them
		a.leaveOut(span, option)
		return -1, nil
	}
	return size, z.chooser.AddSortKey(&idx.order, span.Shape)
}

// size returns the size of the record of the span's sample, or -1 if the sample lacks a field.
func (z *sizer) size(span *converters.Span, a *Account) (int64, error) {
	a.Entries += int64(span.Entries)
	if span.Alike && z.sized {
		if z.integers && z.record >= 0 {
			var err error
			if z.record, err = z.enc.Alike(span.Shape); err != nil {
				return 0, err
			}
		}
		z.alike++
		return z.record, nil
	}
	z.count(a)
	s, err := span.Shape, error(nil)
	if same := z.same(s); same && z.sized && z.record >= 0 {
		z.record, err = z.enc.Alike(s)
	} else {
		if !same {
			z.learn(s, a)
		}
		var rec *encode.Record
		if rec, err = z.enc.Encode(s); err == nil {
			z.record, z.put, z.damaged = rec.Size, rec.Fields, false
		}
	}
	if errors.Is(err, encode.ErrSkip) {
		z.record, z.put, z.damaged = -1, 0, errors.Is(err, encode.ErrSkipDamaged)
	} else if err != nil {
		return 0, err
	}
	for i := range z.fields {
		z.fields[i].size = s.Fields[i].Value.Len()
	}
	z.sized, z.alike = true, 1
	return z.record, nil
}

// same reports whether s has the fields of the last sized sample, and a key if that had one.
func (z *sizer) same(s *converters.Sample) bool {
	same := len(z.fields) == len(s.Fields) && z.keyed == (s.Key != "")
	for i := 0; same && i < len(z.fields); i++ { // slices.EqualFunc would copy each field
		same = z.fields[i].Name == s.Fields[i].Name && z.fields[i].kind == s.Fields[i].Value.Kind()
	}
	return same
}

// learn takes the names and kinds of the fields of s.
func (z *sizer) learn(s *converters.Sample, a *Account) {
	z.flush(a)
	z.fields, z.integers, z.keyed = z.fields[:0], false, s.Key != ""
	for i := range s.Fields {
		kind := s.Fields[i].Value.Kind()
		z.fields = append(z.fields, sizedField{FieldCount: FieldCount{Name: s.Fields[i].Name}, kind: kind})
		z.integers = z.integers || kind == converters.KindInt
	}
}

// count adds the alike samples to the account.
func (z *sizer) count(a *Account) {
	n := z.alike
	z.alike = 0
	a.Samples += n
	if z.keyed {
		a.Keys += n
	}
	a.Fields += n * int64(len(z.fields))
	a.FieldsLeftOut += n * int64(len(z.fields)-z.put)
	if z.record < 0 {
		a.SamplesLeftOut += n
		if z.damaged && n > 0 {
			a.LeftOutBy = increment(a.LeftOutBy, optionDamaged, n)
		}
		return
	}
	for i := range z.fields {
		f := &z.fields[i]
		f.Samples += n
		f.Bytes += n * f.size
	}
}

// optionDamaged is the option that leaves out samples with a field that is not whole, encode.Options.Damaged.
const optionDamaged = "damaged"

// flush adds all counts to the account, including fields.
func (z *sizer) flush(a *Account) {
	z.count(a)
	for i := range z.fields {
		if f := &z.fields[i]; f.Samples > 0 {
			a.saw(f.FieldCount)
			f.Samples, f.Bytes = 0, 0
		}
	}
}
