// package choose decides which samples of a dataset become records, and in which order. It sees a sample as an
// index does: its key, and its fields with their sizes; only the fields of Options.Fields have their bytes.
//
//	opts := choose.Options{Where: "label=3", Limit: 1000}
//	c, err := choose.New(opts, classes)
//	p := c.Part("train-0001.tar")
//	reason, err := p.Leave(sample) // "": chosen; else the option that excludes it
//
// Options are part of a plan: equal options choose the same samples of the same input, on every machine.
package choose

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// Options choose samples. The zero value chooses all, in their order. The JSON is part of the plan. A sample must
// pass all options; Slice and then Limit count those that have passed the others.
type Options struct {
	Keys    *keySet `json:"keys,omitempty"`         // only samples with these keys
	Drop    *keySet `json:"drop_keys,omitempty"`    // no samples with these keys
	Unknown string  `json:"unknown_keys,omitempty"` // for a listed key that no sample has: UnknownError (default) or UnknownSkip

	Where   string `json:"where,omitempty"`    // only samples for which this expression is true: see CheckWhere
	Sample  string `json:"sample,omitempty"`   // a fraction of the samples, drawn by a hash of Seed and key: "0.1"
	Split   string `json:"split,omitempty"`    // sides by a hash of Seed and key: "train=0.9,val=0.1"
	Side    string `json:"side,omitempty"`     // the side of Split that is chosen
	SplitBy string `json:"split_by,omitempty"` // a side for each value of this: class, label, or a field
	Value   string `json:"value,omitempty"`    // the value of SplitBy that is chosen
	Seed    uint64 `json:"seed,omitempty"`     // for Sample and Split

	Slice string `json:"slice,omitempty"` // "lo:hi:step": the samples lo, lo+step, … below hi, counted from 0
	Limit int64  `json:"limit,omitempty"` // most samples; 0: unlimited

	Sort string `json:"sort,omitempty"` // the order: key, size, or a field; "": as in the input
}

// Values of Options.Unknown.
const (
	UnknownError = "error"
	UnknownSkip  = "skip"
)

// Reasons for excluding a sample: the names of the options. MissingField is not an option: it is the reason, in
// counts, for samples that lack a field of their record.
const (
	byKeys       = "keys"
	byDrop       = "drop-keys"
	byWhere      = "where"
	bySample     = "sample"
	bySplit      = "split"
	bySplitBy    = "split-by"
	bySlice      = "slice"
	byLimit      = "limit"
	missingField = "missing field"
)

// IsZero reports whether all samples are chosen, in their order.
func (o Options) IsZero() bool { return o == Options{} }

// Ordered reports whether samples are counted across parts, so that parts must be indexed one after another.
func (o Options) Ordered() bool { return o.Slice != "" || o.Limit > 0 }

// Drawn reports whether Seed is used.
func (o Options) Drawn() bool { return o.Sample != "" || o.Split != "" }

// Listed reports whether a listed key that no sample has is an error.
func (o Options) Listed() bool { return (o.Keys != nil || o.Drop != nil) && o.Unknown != UnknownSkip }

// Fields returns the names of the fields that an index must read.
func (o Options) Fields() []string {
	var names []string
	add := func(s subject) {
		switch {
		case s.of == theLabel || s.of == theClass:
			names = append(names, labelFields...)
		case s.of == theField:
			names = append(names, s.field)
		}
	}
	if where, err := parseWhere(o.Where); err == nil {
		for i := range where {
			add(where[i].subject)
		}
	}
	if o.SplitBy != "" {
		add(subjectOf(o.SplitBy))
	}
	if o.Sort != "" {
		add(subjectOf(o.Sort))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// labelFields are the fields that may hold the class number of a sample; the first that exists counts.
var labelFields = []string{"cls", "index", "label"}

// A Chooser chooses samples according to Options. Its parts may be used concurrently, unless Options.Ordered.
type Chooser struct {
	opts    Options
	nothing bool
	where   []condition
	sample  share
	side    share
	by      subject
	sort    subject
	slice   slice
	classes []string
	unseen  unseen
	sorted  sorted
	values  *values // values of SplitBy; nil if Options.Value chooses one

	through bool // see Through

	n, taken int64 // samples counted, and the chosen ones among them
}

// New checks the options. classes are the class names by number; nil: classes have no names.
func New(opts Options, classes []string) (*Chooser, error) {
	c := &Chooser{opts: opts, classes: classes}
	var err error
	if c.where, err = parseWhere(opts.Where); err != nil {
		return nil, fmt.Errorf("where %q: %w", opts.Where, err)
	}
	c.unseen.want(c.where)
	if opts.Sample != "" {
		if c.sample, err = parseShare(opts.Sample); err != nil {
			return nil, fmt.Errorf("sample %q: %w", opts.Sample, err)
		}
	}
	if opts.Split != "" {
		sides, err := ParseSplit(opts.Split)
		if err != nil {
			return nil, fmt.Errorf("split %q: %w", opts.Split, err)
		}
		i := slices.IndexFunc(sides, func(s side) bool { return s.Name == opts.Side })
		if i < 0 {
			return nil, fmt.Errorf("split %q: it has no side %q", opts.Split, opts.Side)
		}
		c.side = sides[i].share
	}
	if opts.SplitBy != "" {
		c.by = subjectOf(opts.SplitBy)
		if opts.Value == "" {
			c.values = &values{all: make(map[string]struct{})}
		}
	}
	if opts.Sort != "" {
		c.sort = subjectOf(opts.Sort)
	}
	if c.slice, err = parseSlice(opts.Slice); err != nil {
		return nil, fmt.Errorf("slice %q: %w", opts.Slice, err)
	}
	if opts.Limit < 0 {
		return nil, fmt.Errorf("limit %d: it is below 0", opts.Limit)
	}
	if u := cmp.Or(opts.Unknown, UnknownError); u != UnknownError && u != UnknownSkip {
		return nil, fmt.Errorf("unknown-keys %q: want %s or %s", opts.Unknown, UnknownError, UnknownSkip)
	}
	for _, k := range []*keySet{opts.Keys, opts.Drop} {
		if k != nil && k.at == nil {
			return nil, errors.New("its list of keys was not read")
		}
		k.restart()
	}
	return c, nil
}

// Nothing returns a Chooser that chooses no sample, for an index that only compares a source with a plan.
func Nothing() *Chooser { return &Chooser{nothing: true} }

// Ordered is [Options.Ordered] of the options.
func (c *Chooser) Ordered() bool { return c != nil && c.opts.Ordered() }

// A Part chooses samples of one part, whose samples must be passed in their order. It must not be used concurrently.
type Part struct {
	*Chooser
	hash hasher
}

// Part returns the chooser of a part. For samples without a key, the hash is of the base of name and the ordinal.
func (c *Chooser) Part(name string) *Part {
	p := &Part{Chooser: c}
	p.hash.part(name)
	return p
}

// Leave returns the option that excludes the next sample of the part, "" if none does. Count applies Slice and Limit.
func (p *Part) Leave(s *converters.Sample) (reason string, err error) {
	p.hash.next(s.Key)
	o := &p.opts
	switch {
	case p.nothing:
		return bySlice, nil
	case o.Keys != nil && !o.Keys.found(s.Key):
		return byKeys, nil
	case o.Drop != nil && o.Drop.found(s.Key):
		return byDrop, nil
	}
	for i := range p.where {
		ok, err := p.where[i].holds(s, p.Chooser)
		if err != nil {
			return "", err
		}
		if !ok {
			return byWhere, nil
		}
	}
	if o.Sample != "" && !p.sample.holds(p.hash.of("sample", o.Seed)) {
		return bySample, nil
	}
	if o.Split != "" && !p.side.holds(p.hash.of("split", o.Seed)) {
		return bySplit, nil
	}
	if o.SplitBy != "" {
		value, err := p.by.text(s, p.Chooser)
		if err != nil {
			return "", err
		}
		if p.values != nil {
			return bySplitBy, p.values.add(value)
		}
		if value != o.Value {
			return bySplitBy, nil
		}
	}
	return "", nil
}

// Compares reports whether Options.Where compares fields.
func (c *Chooser) Compares() bool {
	return slices.ContainsFunc(c.where, func(w condition) bool { return w.ofField() })
}

// Holds reports whether Options.Where is true for the columns of an index row, the key, the size of the record and the
// label, and for the fields of the record; without these, s is nil, whether it is true where they are left out.
func (c *Chooser) Holds(key string, size, label int64, labeled bool, s *converters.Sample) (ok bool, err error) {
	if labeled {
		c.unseen.saw(labelled)
	}
	for i := range c.where {
		switch w := &c.where[i]; {
		case !w.ofField():
			ok, err = w.holdsOf(c, key, size, label, labeled)
		case s != nil:
			ok, err = w.holds(s, c)
		default:
			ok = true
		}
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// Count counts a sample that passed Leave. It returns the option that excludes it, "" if it becomes a record.
func (c *Chooser) Count() (reason string) {
	if !c.Ordered() {
		return ""
	}
	i := c.n
	c.n++
	switch {
	case !c.slice.holds(i):
		return bySlice
	case c.opts.Limit > 0 && c.taken == c.opts.Limit:
		return byLimit
	}
	c.taken++
	return ""
}

// Through makes Done always false, for a source that compares all samples.
func (c *Chooser) Through() { c.through = true }

// Done reports that no further sample can be chosen. While a listed key is still missing it is false, so that all
// samples are searched for it.
func (c *Chooser) Done() bool {
	if c == nil || c.through || !c.Ordered() {
		return false
	}
	full := c.opts.Limit > 0 && c.taken == c.opts.Limit || c.slice.hi >= 0 && c.n >= c.slice.hi
	return full && !(c.opts.Listed() && (c.opts.Keys.missing() > 0 || c.opts.Drop.missing() > 0))
}

// Finish must be called after all samples have passed. It returns an error if the options name a key, field or
// label that no sample has.
func (c *Chooser) Finish() error {
	if c == nil || c.nothing {
		return nil
	}
	if c.opts.Listed() {
		for _, k := range []*keySet{c.opts.Keys, c.opts.Drop} {
			if err := k.unknown(); err != nil {
				return err
			}
		}
	}
	if err := c.sorted.err(c.sort); err != nil {
		return err
	}
	if c.Done() {
		return nil // not all samples have passed
	}
	return c.unseen.err()
}
