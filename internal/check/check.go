// Package check examines a dataset before it is converted and reports everything that a conversion
// would refuse or skip, and suspicious data.
//
//	src := tar.Open(parts, tar.Options{AllowMissingTrailer: true, Concatenated: true, KeepDuplicates: true})
//	report, err := check.Source(ctx, src, check.Options{})
//	err = findings.Write(os.Stdout, findings.Text, report)
//
// A defect in one part does not hide defects in others. Open the source with every option that
// accepts defects, so that it reads past them: they are still reported as errors, unless
// [Options.Accepted] has their rule.
//
//	┌──────────┬─────────────────────────────────────────────────────────────────────┐
//	│ examines │ by                                                                  │
//	├──────────┼─────────────────────────────────────────────────────────────────────┤
//	│ parts    │ Index, to its end or its first error                                │
//	│ records  │ encoding each shape, as planning does                               │
//	│ fields   │ comparing each set of names with the commonest one; empty values    │
//	│ keys     │ comparing two hashes of each key, over all parts, at the end        │
//	│ payload  │ Deep only: Read, then the decoder for the field's name              │
//	└──────────┴─────────────────────────────────────────────────────────────────────┘
//
// Findings with the same rule and text are one finding with a count and the place of the first. Findings with different
// texts are listed individually, up to 100 per rule and part.
//
// Memory: 18 bytes for each sample with a key, nothing for other samples. With Deep, each worker
// also holds one sample and one decoded image.
package check

import (
	"cmp"
	"context"
	"hash/maphash"
	"runtime"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// maxEach is the number of findings listed per rule and part. Further ones are only counted.
const maxEach = 100

// Options control a check. The zero value checks for a conversion to MessagePack of all fields,
// from metadata only.
type Options struct {
	// Encode is the encoding that the conversion would use. If Encoding is empty, the source's default is used, else
	// MessagePack.
	Encode encode.Options

	// Accepted lists IDs of rules. Their findings become notes.
	Accepted []string

	// Hints replaces the hints of findings, by rule ID.
	Hints map[string]string

	// Refused holds one finding for each input that could not be opened as a source; see [Refusal]. The report lists
	// these findings first, and counts their files as examined.
	Refused []findings.Finding

	// Deep reads every sample and decodes images, by the suffix of the field's name, and the
	// fields for which [decode.Decodable] reports true.
	Deep bool

	// MaxPixels is the largest image that Deep decodes, in pixels, all frames together. A larger
	// image is a warning. 0 means [picture.DefaultMaxPixels].
	MaxPixels int64

	// Workers is the number of parts examined concurrently. 0 means GOMAXPROCS.
	Workers int

	// Progress, if not nil, receives the progress of the check.
	Progress plan.Progress
}

// Source checks all parts of src; a nil src has no parts. The report depends on the source and the
// options only, not on Workers. It lists errors first, then warnings, then notes. Defects of the
// data are in the report; an error means that the options are invalid or that ctx ended.
func Source(ctx context.Context, src converters.Source, opts Options) (*findings.Report, error) {
	c := checker{src: src, opts: opts, seed: maphash.MakeSeed(), report: &findings.Report{Rules: Rules()}}
	for i := range c.report.Rules {
		if r := &c.report.Rules[i]; slices.Contains(opts.Accepted, r.ID) {
			r.Level = findings.Note
		}
	}
	var about converters.Description
	if src != nil {
		about = converters.Describe(src)
		c.classes = about.Classes
		c.opts.Encode.Encoding = cmp.Or(c.opts.Encode.Encoding, about.Encoding)
		c.parts = src.Parts()
	}
	spec, err := encode.Parse(c.opts.Encode)
	if err != nil {
		return nil, err
	}
	c.spec = spec
	c.opts.MaxPixels = cmp.Or(max(0, c.opts.MaxPixels), picture.DefaultMaxPixels)
	c.opts.Workers = about.AtOnce(cmp.Or(max(0, c.opts.Workers), runtime.GOMAXPROCS(0)))
	for _, f := range opts.Refused {
		if !slices.ContainsFunc(c.report.Files, func(file findings.File) bool { return file.Name == f.Place.File }) {
			c.report.Files = append(c.report.Files, findings.File{Name: f.Place.File})
		}
		c.report.Add(c.hinted(f))
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	return c.report, nil
}
