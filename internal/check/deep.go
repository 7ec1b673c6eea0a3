package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A decoder decodes the fields of samples. It must not be used concurrently.
type decoder struct {
	maxPixels int64
	values    *encode.Encoder   // encodes and decodes one
	one       converters.Sample // has a single field, reused for each call
	table     bool              // the source makes raw records; fields without a decoder are not reported
}

func newDecoder(c *checker) (*decoder, error) {
	spec, err := encode.Parse(encode.Options{Decode: true, Limits: c.opts.Encode.Limits})
	if err != nil {
		return nil, err
	}
	return &decoder{
		maxPixels: c.opts.MaxPixels, values: spec.NewEncoder(),
		one:   converters.Sample{Fields: make([]converters.Field, 1)},
		table: c.opts.Encode.Encoding == "raw",
	}, nil
}

// read reads all samples of the part and decodes their fields. It stops at the first read error.
func (p *part) read(ctx context.Context) {
	p.run.Count = p.samples
	d, err := newDecoder(p.c)
	if err != nil {
		p.refuse(err)
		return
	}
	read := int64(0)
	defer func() { p.progress.Add(0, max(0, p.c.parts[p.num].Size-read)) }() // headers and skipped entries
	enc := p.c.spec.NewEncoder()
	for s, err := range p.c.src.Read(ctx, p.run) {
		if err != nil {
			p.refuse(err)
			return
		}
		sound := true
		for i := range s.Fields {
			f := &s.Fields[i]
			sound = p.decode(d, f, s) && sound
			p.progress.Add(0, f.Value.Len())
			read += f.Value.Len()
		}
		if p.enc == nil && sound {
			_, err := enc.Encode(s)
			p.judge(err, s, s.Off)
		}
	}
}

// decode decodes a field if there is a decoder for its name. It adds a finding for a defect and
// reports whether the sample may be encoded.
func (p *part) decode(d *decoder, f *converters.Field, s *converters.Sample) bool {
	if f.Value.Kind() != converters.KindBytes {
		return true // Read has already decoded it
	}
	at := p.place(s.Off, s.Key)
	name := clipped(f.Name)
	suffix := strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '.')+1:])
	named := picture.OfSuffix(suffix)
	var err error
	switch {
	case named != nil:
		var head picture.Head
		if _, head, err = picture.Decode(named, f.Value.Data(), d.maxPixels); err != nil {
			err = fmt.Errorf("field %s: %w", name, err)
		}
		if head.Type != nil && head.Type != named {
			p.groups.add(ruleWrongType, fmt.Sprintf("field %s is a %s", name, head.Type.Name), at, 1)
		}
	case decode.Decodable(f.Name) || decode.Verified(f.Name):
		d.one.Fields[0] = *f
		_, err = d.values.Encode(&d.one) // the error names the field
	case !d.table:
		p.groups.add(ruleNotDecoded, "field "+name+" was read, but there is no decoder for it", at, 1)
	}
	if err == nil {
		return true
	}
	found := findings.Finding{Rule: ruleUndecodable, Place: at, Text: err.Error(), Hint: place.HintOf(err)}
	if errors.Is(err, picture.ErrUnchecked) || errors.Is(err, converters.ErrLimit) {
		found.Rule = ruleUnchecked
	}
	if errors.Is(err, picture.ErrPixels) {
		found.Hint = "option max-pixels"
	}
	p.add(found)
	return found.Rule == ruleUnchecked
}
