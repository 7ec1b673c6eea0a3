package plan

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/record"
)

// A File is an open plan file. Lines are read on demand.
type File struct {
	r    io.ReaderAt
	size int64
	Head planHead
	foot planFoot

	footAt int64 // offset of the last line
}

// plan returns the plan that the head describes, without parts and shards.
func (f *File) plan() *Plan {
	p := f.Head.Plan
	return &p
}

// Digest returns the digest of the plan.
func (f *File) Digest() string { return f.foot.Digest }

// maxFoot bounds the last line of a plan, in bytes.
const maxFoot = 256

// OpenFile reads the head and the foot of a plan.
func OpenFile(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: r, size: size}
	if err := f.lines(0, size, 1, func(int) any { return &f.Head }); err != nil {
		return nil, err
	}
	from := max(0, size-maxFoot)
	end := make([]byte, size-from)
	if _, err := r.ReadAt(end, from); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	end, whole := bytes.CutSuffix(end, []byte{'\n'})
	last := end[bytes.LastIndexByte(end, '\n')+1:]
	f.footAt = size - int64(len(last)) - 1
	text, err := planText(last)
	if err == nil {
		err = decodePlan(text, &f.foot)
	}
	most := size / planRowSize
	parts, shards := int64(f.Head.Parts), int64(f.Head.Shards)
	switch {
	case err != nil || !whole:
		return nil, errors.New("its last line is damaged")
	case parts < 1 || shards < 1 || parts > most || shards > most-parts || f.foot.Table < 1 || f.foot.Table > size-(parts+shards)*planRowSize:
		return nil, fmt.Errorf("it cannot have %d parts and %d shards in %d bytes", f.Head.Parts, f.Head.Shards, size)
	}
	return f, nil
}

// row returns row i of the table; the row after the last has the end of the lines.
func (f *File) row(i int) (planRow, error) {
	if i == f.Head.Parts+f.Head.Shards {
		return planRow{off: f.foot.Table}, nil
	}
	line := make([]byte, planRowSize)
	if _, err := f.r.ReadAt(line, f.foot.Table+int64(i)*planRowSize); err != nil {
		return planRow{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	r, err := parsePlanRow(line[:planRowSize-1])
	if err == nil && (r.off < 1 || r.off >= f.foot.Table || r.sum < 0) {
		err = fmt.Errorf("its table leads to %d", r.off)
	}
	return r, err
}

// shardRow returns the row of shard i, and the size of all shards before it.
func (f *File) shardRow(i int) (row planRow, before int64, err error) {
	if i > 0 {
		var last planRow
		if last, err = f.row(f.Head.Parts + i - 1); err != nil {
			return row, 0, err
		}
		before = last.sum
	}
	if row, err = f.row(f.Head.Parts + i); err == nil && before > row.sum {
		err = errors.New("its table is out of order")
	}
	return row, before, err
}

// lines decodes the n lines between two offsets, line i into the value that into(i) returns.
func (f *File) lines(from, to int64, n int, into func(i int) any) error {
	if from < 0 || from > to || to > f.size {
		return fmt.Errorf("its table leads to %d", from)
	}
	in := bufio.NewScanner(io.NewSectionReader(f.r, from, to-from))
	in.Buffer(nil, checksum.MaxLine)
	for i := range n {
		if !in.Scan() {
			if err := in.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
				return fmt.Errorf("%w: %w", ErrUnreadable, err)
			}
			return io.ErrUnexpectedEOF
		}
		text, err := planText(in.Bytes())
		if err == nil {
			err = decodePlan(text, into(i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *File) shards(p *Plan, from, to int) error {
	if from >= to {
		return nil
	}
	begin, err := f.row(f.Head.Parts + from)
	if err != nil {
		return err
	}
	end, err := f.row(f.Head.Parts + to)
	if err != nil {
		return err
	}
	var read []*planShard // grows by the lines that exist, not to the number that the head states
	err = f.lines(begin.off, end.off, to-from, func(int) any {
		read = append(read, new(planShard))
		return read[len(read)-1]
	})
	for _, l := range read {
		p.Shards = append(p.Shards, l.shard())
	}
	return err
}

func (f *File) parts(first, last int) ([]Part, error) {
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
	var parts []Part // grows by the lines that exist
	err = f.lines(begin.off, end.off, last-first, func(int) any {
		parts = append(parts, Part{})
		return &parts[len(parts)-1]
	})
	return parts, err
}

// lead returns the first part with samples, and its number.
func (f *File) lead() (Part, int, error) {
	for i := f.Head.Lead; i >= 0 && i < f.Head.Parts; i++ {
		part, err := f.parts(i, i+1)
		if err != nil {
			return Part{}, 0, err
		}
		if part[0].Account.Samples > 0 || f.Head.Whole {
			return part[0], i, nil
		}
	}
	return Part{}, 0, errors.New("none of its parts has samples")
}

// Weights calls each with the size of every shard.
func (f *File) Weights(each func(i int, weight int64)) error {
	from := f.foot.Table + int64(f.Head.Parts)*planRowSize
	rows := bufio.NewReaderSize(io.NewSectionReader(f.r, from, int64(f.Head.Shards)*planRowSize), 1<<16)
	line := make([]byte, planRowSize)
	before := int64(0)
	for i := range f.Head.Shards {
		if _, err := io.ReadFull(rows, line); err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		row, err := parsePlanRow(line[:planRowSize-1])
		if err != nil {
			return err
		}
		if row.sum < before {
			return errors.New("its table is out of order")
		}
		each(i, row.sum-before)
		before = row.sum
	}
	return nil
}

// Check reads the whole file and compares its digest.
func (f *File) Check() error {
	sum := sha256.New()
	if _, err := io.Copy(sum, bufio.NewReaderSize(io.NewSectionReader(f.r, 0, f.footAt), 1<<20)); err != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.foot.Digest {
		return errors.New("it differs from its digest")
	}
	return nil
}

// Outline returns the plan without the runs of its shards; a part-aligned plan has none. It returns an error
// unless the digest of all lines equals the one in the foot and the wanted one.
func (f *File) Outline(want string) (*Plan, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if f.foot.Digest != want {
		return nil, errors.New("it is the plan of another dataset than the manifest's")
	}
	plan := f.plan()
	var err error
	if plan.Parts, err = f.parts(0, f.Head.Parts); err != nil {
		return nil, err
	}
	if plan.Whole {
		return plan, f.shards(plan, 0, f.Head.Shards)
	}
	for i := range f.Head.Shards {
		plan.Shards = append(plan.Shards, Shard{Name: record.Name(i, f.Head.Shards)})
	}
	return plan, nil
}
