package plan

import (
	"fmt"

	"github.com/ffconvert/ffconvert/encode"
)

// Encodings are the record encodings of the parts. Parts of one dataset may have different
// fields, and then different encodings.
type Encodings struct {
	Specs []*encode.Spec // the first is the dataset's; none: MessagePack of all fields
	Of    []int          // by part, the index of its encoding in Specs; nil: all parts have the first
}

// Number returns the index of a part's encoding in Specs.
func (e *Encodings) Number(part int) int {
	if e.Of == nil {
		return 0
	}
	return e.Of[part]
}

// Options returns the plan's form of all specs but the first; nil if there is only one.
func (e *Encodings) Options() []encode.Options {
	var opts []encode.Options
	for _, s := range e.Specs[1:] {
		opts = append(opts, s.Options())
	}
	return opts
}

// OneEncoding returns Encodings that use spec for all parts.
func OneEncoding(spec *encode.Spec) Encodings { return Encodings{Specs: []*encode.Spec{spec}} }

// orDefault returns e, or the default encoding if e is empty.
func (e Encodings) orDefault() (Encodings, error) {
	if len(e.Specs) > 0 {
		return e, nil
	}
	spec, err := encode.Parse(encode.Options{})
	return OneEncoding(spec), err
}

// Specs returns the encodings of the plan, by encoding number. All have the limits of the first,
// because a plan does not store limits.
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
