package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/record"
)

// ErrEmpty reports a dataset without samples to write.
var ErrEmpty = place.New(place.Refused, "no samples")

// A Plan lists the samples of every shard. It is enough to write any one shard, on any
// machine that can read the sources.
type Plan struct {
	Recipe
	Whole   bool    `json:"whole_parts,omitempty"` // part-aligned: cut between parts; else at samples
	Lead    int     `json:"lead,omitempty"`        // the first part with samples, if Whole and the dataset is one collection
	Columns Columns `json:"index"`                 // of all indexes
	Parts   []Part  `json:"-"`
	Shards  []Shard `json:"-"`
}

// A Recipe decides the samples of a dataset, their order and their bytes, given the sources and the sizes of shards.
// A plan and a manifest keep it.
type Recipe struct {
	Source  SourceSpec             `json:"source"`
	Encode  encode.Options         `json:"encode"`
	Encodes []encode.Options       `json:"encodes,omitempty"` // for parts whose records differ from Encode, by Part.Encode; nil: none do
	Dataset converters.Description `json:"dataset,omitzero"`  // description of the whole dataset, from the source
	Shuffle *Shuffle               `json:"shuffle,omitempty"` // nil: samples keep their order
	Choice  *choose.Options        `json:"choice,omitempty"`  // nil: all samples are chosen. Runs hold only chosen samples
}

// A SourceSpec is what opening the parts requires.
type SourceSpec struct {
	Format  string            `json:"format"`            // a row of the table in convert/format: "tar"
	Options map[string]string `json:"options,omitempty"` // options of the format that were set, without limits
	Filter  string            `json:"filter,omitempty"`  // command line of the filter program; never run, since a plan may be hostile
}

// OptionSpec is the option of a SourceSpec that holds the whole specification of a mixed dataset.
const OptionSpec = "spec"

// A Shuffle puts all samples of a dataset in an order drawn from Seed.
type Shuffle struct {
	Seed uint64 `json:"seed"`
}

// A Part is a part of the source, as it was indexed.
type Part struct {
	Name    string  `json:"name"`
	Size    int64   `json:"size"`                   // bytes, uncompressed
	Names   string  `json:"names_sha256,omitempty"` // of the keys, fields and sizes of a part that consists of many files
	Content string  `json:"content,omitempty"`      // digest of the bytes of a part without a time and a version, see package checksum
	Encode  int     `json:"encode,omitempty"`       // number of its encoding: 0: Plan.Encode; i: Plan.Encodes[i-1]
	Account Account `json:"account"`

	Filtered *filtered `json:"filtered,omitempty"` // the filter's answers, which its samples are read from; nil: they are read from the part

	// Modified combines the modification times of all files of a part that consists of many files; 0: not known.
	// It is stored in journals, not in plans.
	Modified int64 `json:"-"`
}

// A filtered identifies the answers of a filter for one part.
type filtered struct {
	Bytes   int64  `json:"bytes"`
	Content string `json:"content"` // digest of the answers, as Part.Content
}

// other reports whether both are known and differ.
func (f *filtered) other(than *filtered) bool {
	return f != nil && than != nil && *f != *than
}

// A Shard is one file to be written.
type Shard struct {
	Name    string
	Samples int64            // N
	Bytes   int64            // of the whole file, header included
	Runs    []converters.Run // places of its samples; a run may include samples that lack a field

	// Set in a part-aligned plan, with Name alone: the parts are First … First+Parts-1.
	First, Parts int
}

// Options are the options of New. The zero value keeps the order of the samples and follows FFRecord's rule for sizes.
type Options struct {
	Recipe         // Choice is the one that the index was made with; its Sort does not go with Shuffle
	EncodeOf []int // by part, its Part.Encode, for NewAligned; nil: all 0. An index has it for New
	Sizes    Sizes
}

// New plans even shards. The number of shards follows from opts.Sizes; the largest is as small as possible, and largest
// − smallest ≤ the largest sample. New is a pure function: the same index and options give the same plan.
func New(parts []PartIndex, opts Options) (*Plan, error) {
	plan := opts.plan()
	for i := range parts {
		plan.Parts = append(plan.Parts, parts[i].Part)
		plan.Parts[i].Name = KeptName(parts[i].Name)
	}
	order, shards, largest, err := opts.order(parts)
	if err != nil {
		return nil, err
	}
	from := 0
	for i, end := range cut(order, shards, largest) {
		s := order.shard(from, end)
		s.Name = record.Name(i, shards)
		plan.Shards = append(plan.Shards, s)
		from = end
	}
	plan.Columns = plan.columns()
	plan.Columns.Alike = plan.InOrder() && alike(parts)
	return plan, nil
}

// plan returns a plan without parts and shards.
func (o *Options) plan() *Plan {
	p := &Plan{Recipe: o.Recipe}
	p.Dataset.Encoding, p.Dataset.Encoded = "", false // a proposal; Encode has the decision
	return p
}

// order returns the samples of parts in the order of writing, the number of files, and the cost of the largest sample.
func (o *Options) order(parts []PartIndex) (order samplesInOrder, files int, largest int64, err error) {
	var total, samples int64
	for i := range parts {
		if parts[i].Cost > math.MaxInt64-total {
			return nil, 0, 0, fmt.Errorf("%w: the dataset is larger than 8 EiB", converters.ErrLimit)
		}
		total += parts[i].Cost
		samples += parts[i].Account.Written()
		largest = max(largest, parts[i].Largest)
	}
	if samples == 0 {
		return nil, 0, 0, ErrEmpty
	}
	n, err := o.Sizes.count(total, samples)
	if err != nil {
		return nil, 0, 0, err
	}
	switch {
	case o.Shuffle != nil:
		order = newShuffled(parts, samples, *o.Shuffle)
	case o.Choice.Sorted():
		order = newSorted(parts, samples)
	default:
		order = newSequence(parts)
	}
	return order, int(n), largest, nil
}

// InOrder reports whether samples are written in input order.
func (p *Plan) InOrder() bool { return p.Shuffle == nil && !p.Choice.Sorted() }

// Totals returns the number of samples and bytes of all shards.
func (p *Plan) Totals() (samples, bytes int64) {
	for i := range p.Shards {
		samples += p.Shards[i].Samples
		bytes += p.Shards[i].Bytes
	}
	return samples, bytes
}

// Account returns the sum of the accounts of all parts.
func (p *Plan) Account() Account {
	var a Account
	for i := range p.Parts {
		a.Merge(&p.Parts[i].Account)
	}
	return a
}

// A samplesInOrder is an ordering that returns the content of a shard cut from it.
type samplesInOrder interface {
	ordering
	shard(from, end int) Shard
}

// A sequence is all samples in input order.
type sequence struct {
	parts  []PartIndex
	starts []int   // number of samples before each part
	costs  []int64 // cost of all samples before each part
	n      int
}

func newSequence(parts []PartIndex) samplesInOrder {
	s := &sequence{parts: parts}
	cost := int64(0)
	for i := range parts {
		s.starts = append(s.starts, s.n)
		s.costs = append(s.costs, cost)
		s.n += parts[i].N
		cost += parts[i].Cost
	}
	return s
}

func (s *sequence) len() int { return s.n }

// part returns the number of the part that holds sample i.
func (s *sequence) part(i int) int {
	return sort.Search(len(s.starts), func(p int) bool { return s.starts[p] > i }) - 1
}

func (s *sequence) end(i int) int64 {
	p := s.part(i)
	_, end := s.parts[p].At(i - s.starts[p])
	return s.costs[p] + end
}

func (s *sequence) shard(from, end int) Shard {
	var b shardBuilder
	for from < end {
		p := s.part(from)
		part := &s.parts[p]
		first, last := from-s.starts[p], min(end-s.starts[p], part.N)
		b.add(part, p, first, last)
		from = s.starts[p] + last
	}
	return b.shard()
}

// A shardBuilder collects the runs of a shard.
type shardBuilder struct {
	Shard
	cost int64
}

// A run has at most RunSamples samples; if they have at most SmallRecord bytes each, also at most RunBytes: several
// readers can then read one shard, and each holds its read-ahead in a few batches. The three are part of the plan
// format: with another value the same input gives another plan, and an interrupted conversion could not be resumed.
const (
	RunSamples  = 32 << 10
	RunBytes    = 1 << 20
	SmallRecord = 4 << 10
)

// RunLimit returns the largest number of samples in a run whose records have this average size.
func RunLimit(each int64) int64 {
	if each > SmallRecord {
		return RunSamples // large records are appended directly, never buffered
	}
	return min(RunSamples, RunBytes/max(1, each))
}

// add adds the samples first to last (exclusive) of part p.
func (b *shardBuilder) add(part *PartIndex, p, first, last int) {
	if first >= last {
		return
	}
	cost := part.before(last) - part.before(first)
	if len(part.Account.LeftOutBy) > 0 {
		b.addApart(part, p, first, last)
		return
	}
	for limit := int(RunLimit(cost / int64(last-first))); first < last; first += limit {
		b.run(part, p, first, min(last, first+limit), limit)
	}
}

// addApart adds the samples first to last (exclusive) except left-out ones. Its runs have no gaps, because
// readers of a plan cannot know which samples were not chosen.
func (b *shardBuilder) addApart(part *PartIndex, p, first, last int) {
	limit := int(RunLimit((part.before(last) - part.before(first)) / max(1, part.Written(first, last))))
	from := first // start of the current run of chosen samples
	add := func(end int) {
		for ; from < end; from += limit {
			b.run(part, p, from, min(end, from+limit), limit)
		}
	}
	for i, cost := range part.Costs(first, last) {
		if cost == 0 {
			add(i)
			from = i + 1
		}
	}
	add(last)
}

// run adds samples that fit one run. It adds nothing if all are left out.
func (b *shardBuilder) run(part *PartIndex, p, first, last, limit int) {
	cost := part.before(last) - part.before(first)
	if cost == 0 {
		return
	}
	samples := int64(last - first)
	if part.Account.SamplesLeftOut > 0 {
		samples = part.Written(first, last)
	}
	b.Samples += samples
	b.cost += cost
	if n := len(b.Runs); n > 0 && b.Runs[n-1].Part == p && b.Runs[n-1].First+b.Runs[n-1].Count == int64(first) {
		if whole := b.Runs[n-1].Count + int64(last-first); whole <= int64(limit) {
			b.Runs[n-1].Count = whole
			return
		}
	}
	off, _ := part.At(first)
	b.Runs = append(b.Runs, converters.Run{Part: p, First: int64(first), Off: off, Count: int64(last - first)})
}

func (b *shardBuilder) shard() Shard {
	b.Bytes = record.FileSize(b.Samples, b.cost-b.Samples*TableRow)
	return b.Shard
}

// ErrorAt adds the part, offset and key to an error.
func (p *Plan) ErrorAt(part int, off int64, key string, err error) error {
	return &converters.Error{Where: p.Parts[part].Name, Off: off, Entry: key, Err: err, Hint: place.HintOf(err)}
}
