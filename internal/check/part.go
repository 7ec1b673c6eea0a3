package check

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A part is the state of checking one part. One worker owns it until checker.merge.
type part struct {
	tally
	c       *checker
	num     int
	name    string
	placed  bool            // the part is a file, so offsets of spans are byte offsets
	enc     *encode.Encoder // nil if records are encoded after reading
	run     converters.Run  // all samples of the part
	encoded error           // error of encoding the last record
	failed  bool            // Index or Read returned an error

	samples, bytes int64
	leftOut        int64 // samples that a conversion leaves out
	sets           fieldSets
	keys           partKeys
	progress       plan.Tally
}

func (c *checker) newPart(i int) *part {
	p := &part{c: c, num: i, name: c.parts[i].Name, placed: c.parts[i].Path != "", run: converters.Run{Part: i}, progress: plan.Tally{To: c.opts.Progress.Add}}
	if !c.opts.Deep || !c.opts.Encode.Decode && c.opts.Encode.Tensor == "" {
		p.enc = c.spec.NewSizer() // otherwise read reports a field that does not decode, once
	}
	return p
}

// look checks the part: its index, then its samples if the check is deep.
func (p *part) look(ctx context.Context) {
	defer p.progress.Flush()
	p.index(ctx)
	if p.c.opts.Deep && !p.failed {
		p.read(ctx)
	}
	if p.samples == 0 && !p.failed && p.wantsSamples() {
		p.add(findings.Finding{Rule: ruleEmptyPart, Place: findings.Place{File: p.name, Offset: -1}, Text: "it has no samples"})
	}
}

// wantsSamples reports whether a part without samples is suspicious. In a folder source, the files next to the class
// directories are a part that may have no samples.
func (p *part) wantsSamples() bool {
	switch {
	case p.placed:
		return true
	case p.c.classes != nil:
		return slices.Contains(p.c.classes, p.name[strings.LastIndexByte(p.name, '/')+1:])
	}
	return p.groups.order == nil // nothing was skipped either
}

// index checks the metadata of the part.
func (p *part) index(ctx context.Context) {
	size := p.c.parts[p.num].Size
	at := int64(0)
	for span, err := range p.c.src.Index(ctx, p.num) {
		if err != nil {
			p.refuse(err)
			break
		}
		if p.placed {
			p.walked(span.Off - at)
			at = span.Off
		}
		switch {
		case span.Accepted:
			p.accepted(span)
		case span.Shape == nil:
			p.skipped(span)
		default:
			p.sample(span)
		}
	}
	if p.placed {
		p.walked(size - at)
		p.bytes = size
		if p.failed {
			p.bytes = at
		}
	}
}

// walked adds bytes to the progress. In a deep check it adds none: each byte counts once, when it is read.
func (p *part) walked(bytes int64) {
	if !p.c.opts.Deep {
		p.progress.Add(0, bytes)
	}
}

// refuse adds the error that ends the check of the part.
func (p *part) refuse(err error) {
	p.failed = true
	p.add(Refusal(err, p.name))
}

// place returns the place of a sample or an entry that begins at off.
func (p *part) place(off int64, entry string) findings.Place {
	if !p.placed {
		off = -1
	}
	return findings.Place{File: p.name, Offset: off, Entry: entry}
}

// accepted adds a defect that an option of the source accepts.
func (p *part) accepted(span *converters.Span) {
	w, known := acceptedRules[span.Skip]
	if !known {
		w.rule = Unsupported
	}
	if w.rule == DuplicateKey {
		p.keys.reported = true
	}
	p.add(findings.Finding{Rule: w.rule, Place: p.place(span.Off, span.Name), Text: span.Skip, Hint: w.hint})
}

// skipped adds an entry that belongs to no sample.
func (p *part) skipped(span *converters.Span) {
	rule, known := skipRules[span.Skip]
	if !known {
		rule = ruleSkipped
	}
	if rule == ruleSkippedFile && strings.HasPrefix(span.Name[strings.LastIndexByte(span.Name, '/')+1:], ".") {
		rule = ruleSkipped // a hidden file
	}
	p.groups.add(rule, "skipped: "+span.Skip, p.place(span.Off, span.Name), 1)
}

// sample checks the key and the shape of a sample.
func (p *part) sample(span *converters.Span) {
	s := span.Shape
	if p.samples == 0 {
		p.run.Off = span.Off
	}
	p.samples++
	p.progress.Add(1, 0)
	if !p.placed {
		for i := range s.Fields {
			p.bytes += s.Fields[i].Value.Len()
		}
	}
	p.sets.add(s, p, span.Off)
	for i := range s.Fields {
		if v := &s.Fields[i].Value; v.Len() == 0 && v.Kind() <= converters.KindText {
			p.groups.add(ruleEmptyField, "field "+clipped(s.Fields[i].Name)+" is empty", p.place(span.Off, s.Key), 1)
		}
	}
	if len(s.Fields) == 0 {
		p.groups.add(ruleEmptySample, "it has no fields", p.place(span.Off, s.Key), 1)
	}
	p.keys.add(s.Key, p.c.seed)
	if why := oddKey(s.Key); why != "" {
		p.groups.add(ruleOddKey, why, p.place(span.Off, s.Key), 1)
	}
	if p.enc != nil {
		if !span.Alike {
			_, p.encoded = p.enc.Encode(s)
		}
		p.judge(p.encoded, s, span.Off)
	}
}

// judge adds the error of encoding a sample, if any, with the rule for what a conversion would do.
func (p *part) judge(err error, s *converters.Sample, off int64) {
	if err == nil {
		return
	}
	at := p.place(off, s.Key)
	switch rule := ruleOf(err); {
	case errors.Is(err, encode.ErrSkip):
		p.leftOut++
		p.groups.add(ruleLeftOut, "left out: it lacks a required field", at, 1)
	case rule == ruleMissingField || rule == Unsupported: // every sample may have the same error: a group
		p.groups.add(rule, err.Error(), at, 1).Hint = place.HintOf(err)
	default:
		p.add(findings.Finding{Rule: rule, Place: at, Text: err.Error(), Hint: place.HintOf(err)})
	}
}
