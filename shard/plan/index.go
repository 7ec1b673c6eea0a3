package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
)

// TableRow is the number of header bytes that each sample of a shard takes: its CRC and its offset.
const TableRow = 12

// A PartIndex is the result of indexing one part: its account, and the place and cost of
// each sample, in at most 8 bytes a sample.
type PartIndex struct {
	Part
	places        // places and costs in shard bytes; a left-out sample costs 0
	Largest int64 // cost of the largest sample

	order choose.SortKeys // sort keys of its written samples; empty unless the choice sorts
}

// Add adds one sample that starts at off. size is the size of its record, or -1 if the sample is left out.
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

// IndexOptions are the options of Index. The zero value indexes all parts for MessagePack records.
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
// each part in the order of Only. The errors of all refused parts are joined, of each the first one: runs behind it are
// not begun.
func Index(ctx context.Context, src converters.Source, opts IndexOptions) ([]PartIndex, error) {
	parts, only := src.Parts(), opts.Only
	if only == nil {
		for i := range parts {
			only = append(only, i)
		}
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
	row := int64(TableRow)
	if opts.Bare {
		row = 0
	}
	found := make([][]PartIndex, len(only)) // of the runs of each part
	failed := make([][]error, len(only))
	for _, i := range unread {
		runs := indexRuns(ctx, src, only[i], opts.Choose)
		found[i], failed[i] = make([]PartIndex, len(runs)), make([]error, len(runs))
		left, refused := new(struct{ runs, bytes atomic.Int64 }), new(atomic.Int64)
		refused.Store(int64(len(runs)))
		left.runs.Store(int64(len(runs)))
		left.bytes.Store(parts[only[i]].Size)
		for k, run := range runs {
			g.Go(func() error {
				if failed[i][k] = ctx.Err(); failed[i][k] != nil || refused.Load() < int64(k) {
					return nil
				}
				n := enc.Number(only[i])
				how := &indexer{enc.Specs[n].NewSizer(), row, opts.Choose, progress, run, left}
				found[i][k], failed[i][k] = indexPart(ctx, src, only[i], how)
				found[i][k].Encode = n
				for was := refused.Load(); failed[i][k] != nil && int64(k) < was && !refused.CompareAndSwap(was, int64(k)); {
					was = refused.Load()
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

// An indexer has the settings for indexing parts.
type indexer struct {
	enc      *encode.Encoder
	row      int64           // bytes that a sample costs in addition to its record
	chooser  *choose.Chooser // nil: all samples
	progress Progress
	run      iter.Seq2[*converters.Span, error]  // samples of the part
	left     *struct{ runs, bytes atomic.Int64 } // of the part; the last run to end counts the bytes that are no sample's
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
	} else if left := how.left.bytes.Add(max(0, first) - at); how.left.runs.Add(-1) == 0 {
		progress.Add(0, left)
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
