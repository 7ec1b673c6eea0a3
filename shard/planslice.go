package shard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
)

// A Slice is what one task needs of a plan: its shards, and the parts that they are made of.
type Slice struct {
	Task   Task
	Plan   *Plan    // Shards are those of the slice, and the numbers of parts in them are places in Parts
	First  int      // of the dataset's parts, the first one in Plan.Parts
	Lead   Part     // the first part of the dataset, which some formats inspect to read any
	From   int      // of the plan's shards, the first one in Plan.Shards
	Shards int      // of the whole plan
	Parts  int      // of the whole plan
	Named  []string // the sources as the user named them; of all parts alone
	digest string
}

// Digest returns the digest of the whole plan.
func (s *Slice) Digest() string { return s.digest }

// Recognise makes sure that an index of the parts of the slice is that which the plan was made
// of. It is for parts that are many files: no time of one file tells that they have changed.
func (s *Slice) Recognise(index []PartIndex) error {
	if len(index) != len(s.Plan.Parts) {
		return fmt.Errorf("%w: the dataset was planned of %d sources, here are %d", converters.ErrChanged, len(s.Plan.Parts), len(index))
	}
	for i := range index {
		if err := s.Plan.Parts[i].other(index[i].Part); err != nil {
			return forTask(err)
		}
		s.Plan.Parts[i].modified = index[i].modified
	}
	return nil
}

// led refuses a stock that is opened by another first part than the plan was made with.
func (s *Slice) led(stock Stock, j *journal) error {
	l, ok := stock.(Led)
	if !ok {
		return nil
	}
	part, ok := l.Lead()
	if !ok {
		return nil
	}
	plan, parts := &Plan{Whole: s.Plan.Whole, Parts: []Part{s.Lead}}, []converters.Part{part}
	if err := plan.sameParts(parts); err != nil {
		return err
	}
	j.compare(modifiedNow(plan, parts), 0, parts)
	return nil
}

// wholeSlice is all of a plan.
func wholeSlice(p *Plan, digest string) *Slice {
	return &Slice{Plan: p, Lead: p.Parts[0], Shards: len(p.Shards), Parts: len(p.Parts), digest: digest}
}

// Slice reads what a task needs of the plan in the directory: of the file, its own lines, and
// those rows of the table that lead to them. all makes Plan.Parts all parts, for sources that
// cannot be opened over some of them. A directory without a plan is [ErrNothingKept], a task that
// is none [ErrTask]; a slice may be empty.
func (o *Output) Slice(t Task, all bool) (*Slice, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	var s *Slice
	err := o.readPlan(func(f *planFile) (err error) {
		s, err = f.slice(t, all)
		return err
	})
	if err == nil && all {
		j := newJournal()
		var data []byte
		data, err = readJournal(o.root)
		j.read(data)
		s.Named = j.head.Named
	}
	return s, err
}

// readPlan opens the plan while read uses it.
func (o *Output) readPlan(read func(*planFile) error) error {
	f, err := openKept(o.root, PlanName)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", o.dir, ErrNothingKept)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	plan, err := readPlanFile(f, st.Size())
	if err == nil {
		err = read(plan)
	}
	if err != nil {
		return o.planError(err)
	}
	return nil
}

// planError says what is wrong with the plan that lies here.
func (o *Output) planError(err error) error {
	switch {
	case errors.Is(err, ErrPlanVersion), errors.Is(err, ErrPlan):
		return fmt.Errorf("%s: %w", o.dir, err)
	case errors.Is(err, errUnreadable):
		return err
	}
	return fmt.Errorf("%s: %w: %w", o.dir, ErrPlan, err)
}

var errUnreadable = errors.New("read plan")

// A planFile is a plan of which some lines are read.
type planFile struct {
	r    io.ReaderAt
	size int64
	head planHead
	foot planFoot
}

// maxFoot bounds the last line of a plan, in bytes.
const maxFoot = 256

// readPlanFile reads the head and the foot of a plan.
func readPlanFile(r io.ReaderAt, size int64) (*planFile, error) {
	f := &planFile{r: r, size: size}
	if err := f.lines(0, size, 1, func(int) any { return &f.head }); err != nil {
		return nil, err
	}
	from := max(0, size-maxFoot)
	end := make([]byte, size-from)
	if _, err := r.ReadAt(end, from); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	end, whole := bytes.CutSuffix(end, []byte{'\n'})
	text, err := planText(end[bytes.LastIndexByte(end, '\n')+1:])
	if err == nil {
		err = decodeStrictly(text, &f.foot)
	}
	most := size / planRowSize
	parts, shards := int64(f.head.Parts), int64(f.head.Shards)
	switch {
	case err != nil || !whole:
		return nil, errors.New("its last line is damaged")
	case parts < 1 || shards < 1 || parts > most || shards > most-parts || f.foot.Table < 1 || f.foot.Table > size-(parts+shards)*planRowSize:
		return nil, fmt.Errorf("it cannot have %d parts and %d shards in %d bytes", f.head.Parts, f.head.Shards, size)
	}
	return f, nil
}

// row returns row i of the table; there is one behind the last that says where the lines end.
func (f *planFile) row(i int) (planRow, error) {
	if i == f.head.Parts+f.head.Shards {
		return planRow{off: f.foot.Table}, nil
	}
	line := make([]byte, planRowSize)
	if _, err := f.r.ReadAt(line, f.foot.Table+int64(i)*planRowSize); err != nil {
		return planRow{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	r, err := parsePlanRow(line[:planRowSize-1])
	if err == nil && (r.off < 1 || r.off >= f.foot.Table || r.sum < 0) {
		err = fmt.Errorf("its table leads to %d", r.off)
	}
	return r, err
}

// shardRow returns the row of shard i, and the bytes of all shards before it.
func (f *planFile) shardRow(i int) (row planRow, before int64, err error) {
	if i > 0 {
		var last planRow
		if last, err = f.row(f.head.Parts + i - 1); err != nil {
			return row, 0, err
		}
		before = last.sum
	}
	if row, err = f.row(f.head.Parts + i); err == nil && before > row.sum {
		err = errors.New("its table is out of order")
	}
	return row, before, err
}

// lines decodes the n lines between two offsets; into says where each goes.
func (f *planFile) lines(from, to int64, n int, into func(i int) any) error {
	if from < 0 || from > to || to > f.size {
		return fmt.Errorf("its table leads to %d", from)
	}
	in := bufio.NewScanner(io.NewSectionReader(f.r, from, to-from))
	in.Buffer(nil, maxLine)
	for i := range n {
		if !in.Scan() {
			if err := in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
				return fmt.Errorf("%w: %w", errUnreadable, err)
			}
			return io.ErrUnexpectedEOF
		}
		text, err := planText(in.Bytes())
		if err == nil {
			err = decodeStrictly(text, into(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// first returns the first shard of the k-th of n slices.
func (f *planFile) first(k, n int) (int, error) {
	if k == n {
		return f.head.Shards, nil
	}
	last, err := f.row(f.head.Parts + f.head.Shards - 1)
	if err != nil {
		return 0, err
	}
	i := sort.Search(f.head.Shards, func(i int) bool {
		row, before, failed := f.shardRow(i)
		if failed != nil {
			err = failed
			return true
		}
		return (Task{N: n}).at(before, row.sum, last.sum) >= k
	})
	return i, err
}

// slice reads the slice of a task.
func (f *planFile) slice(t Task, all bool) (*Slice, error) {
	from, err := f.first(t.K, max(t.N, 1))
	if err != nil {
		return nil, err
	}
	to, err := f.first(t.K+1, max(t.N, 1))
	if err != nil {
		return nil, err
	}
	s := &Slice{Task: t, Plan: f.head.plan(), From: from, Shards: f.head.Shards, Parts: f.head.Parts, digest: f.foot.Digest}
	if err := f.shards(s.Plan, from, to); err != nil {
		return nil, err
	}
	first, last := s.Plan.partRange()
	if all {
		first, last = 0, f.head.Parts
	}
	if first < 0 || last > f.head.Parts {
		return nil, fmt.Errorf("a shard has parts %d to %d of %d", first, last, f.head.Parts)
	}
	if s.Plan.Parts, err = f.parts(first, last); err != nil {
		return nil, err
	}
	lead, err := f.parts(0, 1)
	if err != nil {
		return nil, err
	}
	s.Lead, s.First = lead[0], first
	s.Plan.renumber(first)
	return s, s.check()
}

// shards reads shards from … to-1 as the file has them.
func (f *planFile) shards(p *Plan, from, to int) error {
	if from >= to {
		return nil
	}
	begin, err := f.row(f.head.Parts + from)
	if err != nil {
		return err
	}
	end, err := f.row(f.head.Parts + to)
	if err != nil {
		return err
	}
	var cut []planShard // their number is believed line by line
	var whole []planWhole
	err = f.lines(begin.off, end.off, to-from, func(int) any {
		if p.Whole {
			whole = append(whole, planWhole{})
			return &whole[len(whole)-1]
		}
		cut = append(cut, planShard{})
		return &cut[len(cut)-1]
	})
	for i := range cut {
		p.Shards = append(p.Shards, cut[i].shard())
	}
	for i := range whole {
		p.Shards = append(p.Shards, whole[i].shard())
	}
	return err
}

// parts reads parts first … last-1.
func (f *planFile) parts(first, last int) ([]Part, error) {
	if first >= last {
		return nil, nil
	}
	begin, err := f.row(first)
	if err != nil {
		return nil, err
	}
	end, err := f.row(last)
	if err != nil {
		return nil, err
	}
	var parts []Part // their number is believed line by line
	err = f.lines(begin.off, end.off, last-first, func(int) any {
		parts = append(parts, Part{})
		return &parts[len(parts)-1]
	})
	return parts, err
}

// check says what is wrong with a slice that was read. What is damaged by chance its lines'
// CRCs tell; a plan may be hostile, too.
func (s *Slice) check() error {
	p := s.Plan
	for i := range p.Parts {
		if err := errors.Join(p.Parts[i].check(), p.checkEncode(&p.Parts[i])); err != nil {
			return err
		}
	}
	for i := range p.Shards {
		h := &p.Shards[i]
		name := record.Name(s.From+i, s.Shards)
		switch {
		case !p.Whole:
			if err := p.checkShard(h, name); err != nil {
				return fmt.Errorf("shard %d: %w", s.From+i, err)
			}
		case h.Name != name || h.First < 0 || h.Parts < 1 || h.Parts > len(p.Parts)-h.First:
			return fmt.Errorf("shard %d: %q cannot have %d parts from part %d on", s.From+i, h.Name, h.Parts, s.First+h.First)
		}
	}
	return nil
}
