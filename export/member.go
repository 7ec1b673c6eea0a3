package export

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A members is an encoder that makes the tar members of samples: one for each field. It is for one goroutine.
type members struct {
	ordinal bool // keys are numbers
	mtime   int64
	sizes   bool // append only sizes

	number int64  // of the next sample; only if ordinal
	proof  *proof // nil: no proof

	name    []byte
	names   nameChecks
	writers []fileWriter
	files   []converters.Field
}

// encode appends the members of a sample.
func (m *members) encode(b *encode.Builder, s *converters.Sample) error {
	key := s.Key
	if m.ordinal {
		key = ordinalKey(m.number)
		m.number++
	}
	if len(s.Fields) == 0 {
		return fmt.Errorf("%w: a sample without fields, of which a tar would have nothing", converters.ErrUnsupported)
	}
	for len(m.writers) < len(s.Fields) {
		m.writers = append(m.writers, fileWriter{})
	}
	m.files = m.files[:0]
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := m.names.check(key, f.Name); err != nil {
			return err
		}
		content, err := m.writers[i].content(f)
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		m.files = append(m.files, converters.Field{Name: f.Name, Value: content})
		size := content.Len()
		m.name = append(append(append(m.name[:0], key...), '.'), f.Name...)
		if m.sizes {
			content = converters.Opaque(headerSize(m.name, size) + size + padding(size))
			b.Value(&content)
			continue
		}
		b.Written = appendHeader(b.Written, m.name, size, m.mtime)
		b.Value(&content)
		b.Written = append(b.Written, zeros[:padding(size)]...)
	}
	if m.proof != nil {
		m.proof.add(s, key, m.files)
	}
	return nil
}
