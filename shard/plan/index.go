package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
)

// TableRow is the number of header bytes that each sample of a shard takes: its CRC and
// its offset.
const TableRow = 12

// A PartIndex is the result of indexing one part: its account, and the place and cost of
// each sample, in at most 8 bytes a sample.
type PartIndex struct {
	Part
	places        // places and costs in shard bytes; a left-out sample costs 0
	Largest int64 // cost of the largest sample

	order choose.SortKeys // sort keys of its written samples; empty unless the choice sorts
}

// Add adds one sample that starts at off. size is the size of its record, or -1 if the sample
// is left out.
func (p *PartIndex) Add(off, size int64) { p.add(off, size, TableRow) }

// add is Add with the bytes that a sample costs in addition to its record.
func (p *PartIndex) add(off, size, row int64) {
	cost := size + row
	if size < 0 {
		cost = 0
	}
	p.places.add(off, cost)
	p.Largest = max(p.Largest, cost)
}

// IndexOptions are the options of Index. The zero value indexes all parts for MessagePack
// records.
type IndexOptions struct {
	Encodings Encodings                        // of the records of each part
	Only      []int                            // numbers of the parts to index; nil: all. The others need not be local
	Known     func(part int) (PartIndex, bool) // returns the index of a part that is not read again; nil: none
	Bare      bool                             // a sample costs only its record, since the container is not FFRecord and has no table
	Workers   int                              // parts, or runs of a shard, indexed at once; default: the CPUs that this process may use
	Progress  Progress                         // may be nil

	// Choose chooses samples; nil: all. If it counts samples over all parts, parts are indexed one after
	// another, up to the one with the last wanted sample.
	Choose *choose.Chooser
}

// Index finds every sample of a source and computes the size of its record. It returns the index of
// each part in the order of Only. The errors of all refused parts are joined.
func Index(ctx context.Context, src converters.Source, opts IndexOptions) ([]PartIndex, error) {
	parts, only := src.Parts(), opts.Only
	if only == nil {
		only = AllParts(src)
	}
	enc, err := opts.Encodings.orDefault()
	if err != nil {
		return nil, err
	}
	indexes, errs := make([]PartIndex, len(only)), make([]error, len(only))
	var unread []int // positions in only
	total := int64(0)
	for i, p := range only {
		if opts.Known != nil {
			var known bool
			if indexes[i], known = opts.Known(p); known {
				continue
			}
		}
		unread = append(unread, i)
		total += parts[p].Size
	}
	progress := StartPhase(opts.Progress, "index", total)
	var g errgroup.Group
	desc := converters.Describe(src)
	workers := desc.AtOnce(cmp.Or(max(0, opts.Workers), runtime.GOMAXPROCS(0)))
	if opts.Choose.Ordered() {
		workers = 1
	}
	g.SetLimit(workers)
	found := make([][]PartIndex, len(only)) // of the runs of each part
	failed := make([][]error, len(only))
	for _, i := range unread {
		runs := indexRuns(ctx, src, only[i], opts.Choose)
		found[i], failed[i] = make([]PartIndex, len(runs)), make([]error, len(runs))
		for k, run := range runs {
			g.Go(func() error {
				if failed[i][k] = ctx.Err(); failed[i][k] == nil {
					n := enc.Number(only[i])
					how := &indexer{enc: enc.Specs[n].NewSizer(), row: opts.row(), chooser: opts.Choose, progress: progress}
					how.run, how.size = run, parts[only[i]].Size/int64(len(runs))
					found[i][k], failed[i][k] = indexPart(ctx, src, only[i], how)
					found[i][k].Encode = n
				}
				return nil
			})
		}
	}
	g.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, i := range unread {
		indexes[i], errs[i] = found[i][0], cmp.Or(failed[i]...)
		for k := range found[i][1:] {
			indexes[i].join(&found[i][k+1])
		}
	}
	return indexes, errors.Join(distinct(errs)...)
}

// indexRuns returns the samples of a part in runs, which can be indexed concurrently. A chooser takes them one after another.
func indexRuns(ctx context.Context, src converters.Source, part int, chooser *choose.Chooser) []iter.Seq2[*converters.Span, error] {
	if s, ok := src.(interface {
		IndexRuns(ctx context.Context, part int) []iter.Seq2[*converters.Span, error]
	}); ok && chooser == nil {
		return s.IndexRuns(ctx, part)
	}
	return []iter.Seq2[*converters.Span, error]{src.Index(ctx, part)}
}

// join appends the samples of the next run of the part.
func (p *PartIndex) join(next *PartIndex) {
	for _, c := range next.chunks {
		c.first += p.N
		c.end += p.Cost
		p.chunks = append(p.chunks, c)
	}
	p.N, p.Cost, p.Largest = p.N+next.N, p.Cost+next.Cost, max(p.Largest, next.Largest)
	p.Account.Merge(&next.Account)
}

// distinct removes repetitions from the errors of several parts: an error of the filter program, which is not
// started again, and a field that all parts lack, which is a mistake in the options.
func distinct(errs []error) (all []error) {
	lacking, first := 0, -1 // number of parts whose samples lack a field; position of their first error in all
	for _, err := range errs {
		if errors.Is(err, encode.ErrMissing) {
			if lacking++; lacking > 1 {
				continue
			}
			first = len(all)
		}
		if err != nil && !slices.ContainsFunc(all, func(before error) bool { return errors.Is(err, before) }) {
			all = append(all, err)
		}
	}
	if lacking > 1 {
		all[first] = alsoIn(all[first], lacking-1)
	}
	return all
}

// alsoIn adds to the error of a part the number of other parts whose samples lack a field.
func alsoIn(err error, parts int) error {
	text := "; samples of " + text.Count(int64(parts), "other part") + " lack a field, too"
	at, ok := err.(*converters.Error)
	if !ok {
		return fmt.Errorf("%w%s", err, text)
	}
	more := *at
	more.Err = fmt.Errorf("%w%s", at.Err, text)
	return &more
}

// AllParts returns the numbers of all parts of a source.
func AllParts(src converters.Source) []int {
	all := make([]int, len(src.Parts()))
	for i := range all {
		all[i] = i
	}
	return all
}

// row returns the bytes that a sample costs in addition to its record.
func (o *IndexOptions) row() int64 {
	if o.Bare {
		return 0
	}
	return TableRow
}

// An indexer has the settings for indexing parts.
type indexer struct {
	enc      *encode.Encoder
	row      int64           // bytes that a sample costs in addition to its record
	chooser  *choose.Chooser // nil: all samples
	progress Progress

	run  iter.Seq2[*converters.Span, error] // samples of the part
	size int64                              // about the bytes of the run
}

func indexPart(ctx context.Context, src converters.Source, i int, how *indexer) (PartIndex, error) {
	part := src.Parts()[i]
	idx := PartIndex{Part: Part{Name: part.Name, Size: part.Size}}
	if part.Copy != nil && part.Copy.Mark == "" {
		idx.Content = part.Copy.Content
	}
	if how.chooser.Done() {
		idx.Account.Unread = 1
		return idx, nil
	}
	progress := &Tally{To: how.progress.Add}
	defer progress.Flush()
	var files *fileTrace
	filter, filtered := src.(converters.Filtering)
	if part.Path == "" && !filtered { // many files; a filtered part has the digest of the answers
		files = newFileTrace()
	}
	sizer := sizer{indexer: how}
	if how.chooser != nil {
		sizer.chosen = how.chooser.Part(part.Name)
	}
	first, at := int64(-1), int64(0) // offsets of the first and the last sample
	for span, err := range how.run {
		if err != nil {
			return idx, err
		}
		if span.Shape == nil {
			idx.Account.skip(span)
			continue
		}
		if part.Path != "" && how.chooser.Done() {
			idx.Account.Partly = 1
			break
		}
		size, err := sizer.choose(span, &idx)
		if err != nil {
			return idx, &converters.Error{Where: part.Name, Off: span.Off, Entry: span.Shape.Key, Err: err, Hint: place.HintOf(err)}
		}
		if files != nil {
			files.add(span)
		}
		idx.add(span.Off, size, how.row)
		if first < 0 {
			first, at = span.Off, span.Off
		}
		if filtered { // offsets are in the filter's answers, not in the part; see convert.Options.Progress
			progress.Add(1, 0)
			continue
		}
		progress.Add(1, span.Off-at)
		at = span.Off
	}
	sizer.flush(&idx.Account)
	if files != nil {
		files.sum(&idx.Part)
	}
	if filtered {
		idx.filtered(filter.Filtered(i))
	} else {
		progress.Add(0, how.size-(at-max(0, first)))
	}
	idx.Trim()
	return idx, nil
}

// filtered stores the size and digest of the filter's answers for the part.
func (p *PartIndex) filtered(f *converters.Filtered) {
	a := &p.Account
	a.FilterRead, a.FilterDropped, a.FilterAdded = f.Samples, f.Dropped, f.Added
	p.Size = max(p.Size, f.Size)
	p.Filtered = &filtered{f.Bytes, f.Content}
}

// A sizer computes the sizes of records and counts their samples in an account. Consecutive alike
// samples are sized once, integers aside, and added to the account when a different one comes. Fields are added when
// their names change. So counting rows of numbers costs less than encoding them.
type sizer struct {
	*indexer
	chosen  *choose.Part // nil: all samples
	fields  []sizedField // fields of the sample that was sized last
	keyed   bool         // that sample has a key
	record  int64        // size of its record; -1: it is left out
	put     int          // number of its fields that go into the record
	sized   bool         // a sample was sized
	damaged bool         // that sample is left out because a field is not whole
	alike   int64        // samples like it that are not in the account yet

	integers bool // that sample has integers, and samples like it may have records of other sizes
}

// A sizedField is a field of the last sized sample. It counts that field in consecutive samples with the same names.
type sizedField struct {
	FieldCount
	kind converters.Kind
	size int64
}

// choose returns the size of the record of the span's sample, or -1 if the sample is left out.
func (z *sizer) choose(span *converters.Span, idx *PartIndex) (int64, error) {
	a := &idx.Account
	if z.chosen == nil {
		return z.size(span, a)
	}
	option, err := z.chosen.Leave(span.Shape)
	if err != nil {
		return 0, err
	}
	if option != "" {
		if !span.Alike { // later spans may refer to this one
			z.count(a)
			z.sized = false
		}
		a.leaveOut(span, option)
		return -1, nil
	}
	size, err := z.size(span, a)
	if size < 0 || err != nil {
		return size, err
	}
	if option := z.chooser.Count(); option != "" {
		z.alike--
		a.Entries -= int64(span.Entries) // leaveOut adds them
		a.leaveOut(span, option)
		return -1, nil
	}
	return size, z.chooser.AddSortKey(&idx.order, span.Shape)
}

// size returns the size of the record of the span's sample, or -1 if the sample lacks a field.
func (z *sizer) size(span *converters.Span, a *Account) (int64, error) {
	a.Entries += int64(span.Entries)
	if span.Alike && z.sized {
		if z.integers && z.record >= 0 {
			var err error
			if z.record, err = z.enc.Alike(span.Shape); err != nil {
				return 0, err
			}
		}
		z.alike++
		return z.record, nil
	}
	z.count(a)
	s, err := span.Shape, error(nil)
	if same := z.same(s); same && z.sized && z.record >= 0 {
		z.record, err = z.enc.Alike(s)
	} else {
		if !same {
			z.learn(s, a)
		}
		var rec *encode.Record
		if rec, err = z.enc.Encode(s); err == nil {
			z.record, z.put, z.damaged = rec.Size, rec.Fields, false
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, encode.ErrSkip):
		z.record, z.put, z.damaged = -1, 0, errors.Is(err, encode.ErrSkipDamaged)
	default:
		return 0, err
	}
	for i := range z.fields {
		z.fields[i].size = s.Fields[i].Value.Len()
	}
	z.sized, z.alike = true, 1
	return z.record, nil
}

// same reports whether s has the fields of the last sized sample, and a key if that had one.
func (z *sizer) same(s *converters.Sample) bool {
	same := len(z.fields) == len(s.Fields) && z.keyed == (s.Key != "")
	for i := 0; same && i < len(z.fields); i++ { // slices.EqualFunc would copy each field
		same = z.fields[i].Name == s.Fields[i].Name && z.fields[i].kind == s.Fields[i].Value.Kind()
	}
	return same
}

// learn takes the names and kinds of the fields of s.
func (z *sizer) learn(s *converters.Sample, a *Account) {
	z.flush(a)
	z.fields, z.integers, z.keyed = z.fields[:0], false, s.Key != ""
	for i := range s.Fields {
		kind := s.Fields[i].Value.Kind()
		z.fields = append(z.fields, sizedField{FieldCount: FieldCount{Name: s.Fields[i].Name}, kind: kind})
		z.integers = z.integers || kind == converters.KindInt
	}
}

// count adds the alike samples to the account.
func (z *sizer) count(a *Account) {
	n := z.alike
	z.alike = 0
	a.Samples += n
	if z.keyed {
		a.Keys += n
	}
	a.Fields += n * int64(len(z.fields))
	a.FieldsLeftOut += n * int64(len(z.fields)-z.put)
	if z.record < 0 {
		a.SamplesLeftOut += n
		if z.damaged && n > 0 {
			a.LeftOutBy = increment(a.LeftOutBy, optionDamaged, n)
		}
		return
	}
	for i := range z.fields {
		f := &z.fields[i]
		f.Samples += n
		f.Bytes += n * f.size
	}
}

// optionDamaged is the option that leaves out samples with a field that is not whole, encode.Options.Damaged.
const optionDamaged = "damaged"

// flush adds all counts to the account, including fields.
func (z *sizer) flush(a *Account) {
	z.count(a)
	for i := range z.fields {
		if f := &z.fields[i]; f.Samples > 0 {
			a.saw(f.FieldCount)
			f.Samples, f.Bytes = 0, 0
		}
	}
}
