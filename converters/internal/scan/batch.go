package scan

import "github.com/ffconvert/ffconvert/converters"

// A Batch holds samples of one field each, for a Reader that returns many at a time. It fits into the first-level
// cache.
type Batch struct {
	Spans   [16]converters.Span
	samples [16]converters.Sample
	fields  [16]converters.Field
}

// Init makes all spans samples of one entry, without keys, with one empty field.
func (b *Batch) Init(field string) {
	for i := range b.Spans {
		b.fields[i].Name = field
		b.samples[i].Fields = b.fields[i : i+1 : i+1]
		b.Spans[i] = converters.Span{Entries: 1, Shape: &b.samples[i]}
	}
}
