package plan

import (
	"fmt"

	"github.com/ffconvert/ffconvert/encode"
)

// Encodings say how the records of each part are encoded, where not all parts of a dataset
// have the same fields.
type Encodings struct {
	Specs []*encode.Spec // the first is the dataset's; none: MessagePack of all fields
	Of    []int          // by part, which of Specs its records have; nil: all have the first
}

// Number returns which of the specs a part has.
func (e *Encodings) Number(part int) int {
	if e.Of == nil {
		return 0
	}
	return e.Of[part]
}

// Options returns what a plan says of all specs but the first; nil where there is one.
func (e *Encodings) Options() []encode.Options {
	var opts []encode.Options
	for _, s := range e.Specs[1:] {
		opts = append(opts, s.Options())
	}
	return opts
}

// OneEncoding is the same encoding for the records of all parts.
func OneEncoding(spec *encode.Spec) Encodings { return Encodings{Specs: []*encode.Spec{spec}} }

// orDefault returns the encodings, or the default encoding where there are none.
func (e Encodings) orDefault() (Encodings, error) {
	if len(e.Specs) > 0 {
		return e, nil
	}
	spec, err := encode.Parse(encode.Options{})
	return OneEncoding(spec), err
}

// Specs returns the encodings of a plan, by the number that a part has. All keep the limits
// of the first, which no plan has.
func (p *Plan) Specs() ([]*encode.Spec, error) {
	specs := make([]*encode.Spec, 1+len(p.Encodes))
	for i := range specs {
		opts := p.Encode
		if i > 0 {
			opts = p.Encodes[i-1]
			opts.Limits = p.Encode.Limits
		}
		var err error
		if specs[i], err = encode.Parse(opts); err != nil {
			return nil, err
		}
	}
	return specs, nil
}

// CheckEncode returns an error if a part's encoding number is out of range.
func (p *Plan) CheckEncode(part *Part) error {
	if part.Encode < 0 || part.Encode > len(p.Encodes) {
		return fmt.Errorf("part %q has encoding %d of %d", part.Name, part.Encode, 1+len(p.Encodes))
	}
	return nil
}
