package encode

import "github.com/ffconvert/ffconvert/converters"

// smallValue is the largest value in bytes that is copied. For larger ones a separate piece of the
// record costs less than a copy.
const smallValue = 64

// A Builder collects the pieces of a record: bytes that it holds, and payloads that it refers to.
// Unread payloads are only counted.
type Builder struct {
	Written  []byte // a Form may append to it
	payloads []payload
	unread   int64    // bytes of unread payloads
	form     *mapForm // of the record; nil: another one
}

type payload struct {
	at   int // the payload comes after written[:at]
	data []byte
}

func (b *Builder) reset() {
	b.Written, b.payloads, b.unread, b.form = b.Written[:0], b.payloads[:0], 0, nil
}

// Value appends the bytes of a value of kind bytes or text. Large ones are not copied.
func (b *Builder) Value(v *converters.Value) {
	switch data := v.Data(); {
	case len(data) == 0:
		b.unread += v.Len()
	case len(data) <= smallValue:
		b.Written = append(b.Written, data...)
	default:
		b.payloads = append(b.payloads, payload{at: len(b.Written), data: data})
	}
}

// record sets the parts and the size of r.
func (b *Builder) record(r *Record) {
	parts, size := r.Parts[:0], int64(len(b.Written))+b.unread
	from := 0
	for i := range b.payloads {
		p := &b.payloads[i]
		if p.at > from {
			parts = append(parts, b.Written[from:p.at])
			from = p.at
		}
		parts = append(parts, p.data)
		size += int64(len(p.data))
	}
	if from < len(b.Written) {
		parts = append(parts, b.Written[from:])
	}
	r.Parts, r.Size = parts, size
}
