// Package check looks through a dataset before it is converted: what would be refused,
// what would be passed over, and what is suspicious.
//
//	src := tar.Open(parts, tar.Options{AllowMissingTrailer: true, Concatenated: true, KeepDuplicates: true})
//	report, err := check.Source(ctx, src, check.Options{})
//	err = findings.Write(os.Stdout, findings.Text, report)
//
// One bad part does not hide another, so a source is best opened with everything waived
// that can be: what it then marks as waived is found as an error all the same, unless
// [Options.Accepted] has its rule.
//
//	┌──────────┬─────────────────────────────────────────────────────────────────────┐
//	│ looks at │ by                                                                  │
//	├──────────┼─────────────────────────────────────────────────────────────────────┤
//	│ parts    │ Index, to its end or its first error                                │
//	│ records  │ the encoding of each shape, as a plan sizes them                    │
//	│ fields   │ the commonest set of names, against all others; lengths of 0        │
//	│ keys     │ two hashes of each, compared over all parts at the end              │
//	│ payload  │ with Deep alone: Read, then the decoder that the field's name tells │
//	└──────────┴─────────────────────────────────────────────────────────────────────┘
//
// What many samples have alike is one finding with a count and the first of them as the
// example. What each sample has its own way is a finding each, up to [MaxEach] of one rule
// in one part.
//
// Memory: 18 bytes for each sample that has a key, nothing for others; with Deep, a sample
// and a decoded image for each worker.
package check

import (
	"cmp"
	"context"
	"runtime"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/findings"
)

// DefaultMaxPixels is what Options.MaxPixels is when it is 0: 8,192 × 8,192. The decoder of
// a progressive JPEG may need 16 bytes for each.
const DefaultMaxPixels = 1 << 26

// MaxEach is how many findings of one rule are listed of one part; the others are counted.
const MaxEach = 100

// Options say what is looked for. The zero value is a dataset that is to become
// MessagePack of all fields, not read deeply.
type Options struct {
	// Encode says what records a conversion would make. An Encoding "" is the source's own.
	Encode encode.Options

	// Accepted are the IDs of rules whose findings the user has accepted: they are notes.
	Accepted []string

	// Hints replace those of findings, by the ID of their rule. nil: none.
	Hints map[string]string

	// Refused are the inputs that were refused before a source could be made of them; see
	// [Refusal]. Each counts as a file that was looked at.
	Refused []findings.Finding

	// Deep reads every sample and decodes the fields that can be: images by their suffix
	// and what [encode.Decodable] names.
	Deep bool

	// MaxPixels limits the images that Deep decodes: all frames of one, together. Larger
	// ones are a warning. 0: DefaultMaxPixels.
	MaxPixels int64

	// Workers is how many parts are looked at, at once. 0: GOMAXPROCS.
	Workers int

	// Progress is told how the work goes on. nil: nobody.
	Progress Progress
}

// A Progress is told how the work goes on. Its methods may be called concurrently.
type Progress interface {
	// Start begins a phase of so many bytes.
	Start(phase string, bytes int64)
	// Add counts work that is done in the phase.
	Add(samples, bytes int64)
}

type silent struct{}

func (silent) Start(string, int64) {}
func (silent) Add(int64, int64)    {}

// Source looks through all parts of a source; nil is one without parts. The report depends
// on the source and the options alone, not on Workers. Its errors come first, then warnings,
// then notes. What is wrong with the data is in the report; an error is one of the options,
// or the end of ctx.
func Source(ctx context.Context, src converters.Source, opts Options) (*findings.Report, error) {
	c := checker{src: src, opts: opts, hash: newHasher(), report: &findings.Report{Rules: Rules()}}
	for i := range c.report.Rules {
		if r := &c.report.Rules[i]; slices.Contains(opts.Accepted, r.ID) {
			r.Level = findings.Note
		}
	}
	if src != nil {
		if d, ok := src.(converters.Describer); ok {
			says := d.Describe()
			c.classes = says.Classes
			c.opts.Encode.Encoding = cmp.Or(c.opts.Encode.Encoding, says.Encoding)
		}
		c.parts = src.Parts()
	}
	spec, err := encode.Parse(c.opts.Encode)
	if err != nil {
		return nil, err
	}
	c.spec = spec
	if c.opts.MaxPixels <= 0 {
		c.opts.MaxPixels = DefaultMaxPixels
	}
	if c.opts.Workers <= 0 {
		c.opts.Workers = runtime.GOMAXPROCS(0)
	}
	if c.opts.Progress == nil {
		c.opts.Progress = silent{}
	}
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

// A checker is one run of Source.
type checker struct {
	src     converters.Source
	parts   []converters.Part
	classes []string // of a folder
	opts    Options  // defaults filled in
	spec    *encode.Spec
	report  *findings.Report
	hash    hasher

	records int64  // of samples that are not left out
	refused bool   // a part was
	groups  groups // of all parts
	sets    fieldSets
	keys    []partKeys // by part
}

// merge adds what was found in one part. It is called in the order of parts.
func (c *checker) merge(p *part) {
	c.report.Files = append(c.report.Files, findings.File{Name: p.name, Samples: p.samples, Bytes: p.bytes})
	for _, f := range p.found {
		c.report.Add(c.hinted(f))
	}
	c.records += p.samples - p.leftOut
	c.refused = c.refused || p.failed
	c.groups.merge(&p.groups)
	c.sets.merge(&p.sets)
	c.keys[p.num] = p.keys
}

// finish adds what only the whole dataset shows, and puts the findings in order.
func (c *checker) finish(ctx context.Context) error {
	all := &tally{}
	if d, ok := c.src.(converters.Doubter); ok {
		for _, doubt := range d.Doubts() {
			all.add(findings.Finding{Rule: OddTable, Place: findings.Place{File: doubt.Part, Offset: doubt.Off, Entry: doubt.Entry}, Text: doubt.Text, Hint: doubt.Hint})
		}
	}
	if c.src != nil && c.records == 0 && !c.refused {
		place := findings.Place{Offset: -1}
		if len(c.parts) > 0 {
			place.File = c.parts[0].Name
		}
		all.add(findings.Finding{Rule: EmptyDataset, Place: place, Text: "there are no samples to convert"})
	}
	if c.opts.Encode.Fields == "" { // else a field that lacks is refused, and others are left out on purpose
		c.sets.compare(all)
	}
	if err := c.compareKeys(ctx, all); err != nil {
		return err
	}
	c.groups.merge(&all.groups)
	for _, f := range slices.Concat(all.found, c.groups.findings()) {
		c.report.Add(c.hinted(f))
	}
	level := make(map[string]int)
	for _, r := range c.report.Rules {
		level[r.ID] = slices.Index([]findings.Level{findings.Error, findings.Warning, findings.Note}, r.Level)
	}
	slices.SortStableFunc(c.report.Found, func(a, b findings.Finding) int {
		return cmp.Compare(level[a.Rule], level[b.Rule])
	})
	return nil
}

// hinted gives a finding the hint of the options; what is accepted needs none.
func (c *checker) hinted(f findings.Finding) findings.Finding {
	if hint, ok := c.opts.Hints[f.Rule]; ok {
		f.Hint = hint
	}
	if slices.Contains(c.opts.Accepted, f.Rule) {
		f.Hint = ""
	}
	return f
}
