package encode

import "github.com/ffconvert/ffconvert/converters"

// A builder collects the pieces of a record: small written bytes, and payloads that
// stay where they are.
type builder struct {
	written  []byte
	payloads []payload
	fields   int
	parts    [][]byte
}

// A payload stands behind the first at written bytes.
type payload struct {
	at   int
	data []byte
	size int64
}

func (b *builder) reset() {
	b.written, b.payloads, b.fields = b.written[:0], b.payloads[:0], 0
}

// Write appends small bytes; they are copied.
func (b *builder) Write(p []byte) (int, error) {
	b.written = append(b.written, p...)
	return len(p), nil
}

// WriteByte appends one byte.
func (b *builder) WriteByte(c byte) error {
	b.written = append(b.written, c)
	return nil
}

// value appends the bytes of a bytes or text value without copying them.
func (b *builder) value(v converters.Value) {
	b.payloads = append(b.payloads, payload{at: len(b.written), data: v.Data(), size: v.Len()})
}

func (b *builder) record() Record {
	r := Record{Parts: b.parts[:0], Size: int64(len(b.written))}
	from := 0
	for _, p := range b.payloads {
		if p.at > from {
			r.Parts = append(r.Parts, b.written[from:p.at])
			from = p.at
		}
		if len(p.data) > 0 {
			r.Parts = append(r.Parts, p.data)
		}
		r.Size += p.size
	}
	if from < len(b.written) {
		r.Parts = append(r.Parts, b.written[from:])
	}
	b.parts = r.Parts
	return r
}
