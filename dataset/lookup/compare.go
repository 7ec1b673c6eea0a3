package lookup

import (
	"cmp"
	"context"
	"iter"
)

// CompareOptions control a comparison. The zero value compares keys, and the size and the CRC-32 of records and the labels,
// from indexes and headers.
type CompareOptions struct {
	ByNumber bool // compare sample n of one dataset with sample n of the other, whatever their keys
	Decode   bool // compare fields, in any order; reads all records

	// Held is the number of samples of the first dataset in memory at once, 48 bytes each; 0 means 4,194,304. The second
	// dataset is read once for each Held samples of the first, and once more to list samples that only it has.
	Held int
}

const defaultHeld = 4 << 20

// A Difference is one sample. Its rows are valid until the next call. For a changed sample A has the number and, unless
// records were decoded, size and CRC-32.
type Difference struct {
	A, B *Row // nil in the dataset that does not have it
}

// Change returns "added" if only the second dataset has the sample, "removed" if only the first has it, or "changed".
func (d *Difference) Change() string {
	switch {
	case d.A == nil:
		return "added"
	case d.B == nil:
		return "removed"
	}
	return "changed"
}

// Compared counts the samples of a comparison.
type Compared struct {
	A, B                           int64 // in each dataset
	Alike, Added, Removed, Changed int64
}

// Same reports whether nothing differs.
func (t *Compared) Same() bool { return t.Added+t.Removed+t.Changed == 0 }

// Compare finds samples that only one of two datasets has, and samples whose content differs. The k-th sample of a key in
// one is compared with the k-th of that key in the other; keys are compared by 128-bit hashes with a seed of this process.
//
// Compare calls use with each difference: changed and removed samples first, then added ones, each in the order of its
// dataset. If there are more samples than Held, changed and removed samples come in several groups.
func Compare(ctx context.Context, a, b *Dataset, opts CompareOptions, use func(Difference) error) (Compared, error) {
	c := &comparison{ctx: ctx, a: a, b: b, opts: opts, use: use}
	c.totals.A, c.totals.B = a.Len(), b.Len()
	c.labels = a.Ours() && b.Ours()
	var err error
	if opts.ByNumber {
		err = c.byNumber()
	} else {
		err = c.byKey()
	}
	return c.totals, err
}

// A comparison is the state of one call of Compare.
type comparison struct {
	ctx    context.Context
	a, b   *Dataset
	opts   CompareOptions
	labels bool
	use    func(Difference) error
	totals Compared
}

func (c *comparison) differs(d Difference) error {
	switch {
	case d.A == nil:
		c.totals.Added++
	case d.B == nil:
		c.totals.Removed++
	default:
		c.totals.Changed++
	}
	return c.use(d)
}

// byNumber compares samples with equal numbers.
func (c *comparison) byNumber() error {
	nextA, stopA := iter.Pull2(c.items(c.a))
	defer stopA()
	nextB, stopB := iter.Pull2(c.items(c.b))
	defer stopB()
	for {
		a, errA, moreA := nextA()
		b, errB, moreB := nextB()
		switch {
		case errA != nil:
			return errA
		case errB != nil:
			return errB
		}
		var err error
		switch {
		case !moreA && !moreB:
			return nil
		case !moreB:
			err = c.differs(Difference{A: a.row})
		case !moreA:
			err = c.differs(Difference{B: b.row})
		case a.content != b.content:
			err = c.differs(Difference{A: a.row, B: b.row})
		default:
			c.totals.Alike++
		}
		if err != nil {
			return err
		}
	}
}

// byKey compares samples with equal keys.
func (c *comparison) byKey() error {
	held := int64(c.opts.Held)
	held = cmp.Or(max(0, held), defaultHeld)
	nextA, stopA := iter.Pull2(c.items(c.a))
	defer stopA()
	again, stop := iter.Pull2(c.a.Walk(c.ctx)) // yields the rows of removed samples
	defer stop()
	t := newMatches(int(min(held, c.a.Len()))) // reused for all groups, since it takes most of the memory
	var found bitmap                           // samples of b that have a match
	for first := int64(0); first < c.a.Len(); first += held {
		t.entries = t.entries[:0:min(held, c.a.Len()-first)]
		clear(t.slots)
		for range cap(t.entries) {
			a, err, _ := nextA()
			if err != nil {
				return err
			}
			t.add(a)
		}
		t.link()
		left, err := c.match(t, first, &found)
		if err != nil {
			return err
		}
		for i := 0; i < len(t.entries); i++ {
			if left == 0 && first+held >= c.a.Len() {
				break
			}
			r, err, _ := again()
			if err == nil && !t.entries[i].taken {
				left--
				err = c.differs(Difference{A: r})
			}
			if err != nil {
				return err
			}
		}
	}
	if _, err, more := nextA(); more && err != nil { // the CRC of the last index is wrong
		return err
	}
	return c.added(found)
}

// match compares all samples of b that have no match yet with the samples of a table, whose first sample is number
// first of a. It returns the number of samples of the table without a match.
func (c *comparison) match(t *matches, first int64, found *bitmap) (left int64, err error) {
	left = int64(len(t.entries))
	for b, err := range c.items(c.b) {
		if err != nil {
			return 0, err
		}
		n := b.row.Number
		if found.has(n) {
			continue
		}
		i, ok := t.take(b.key())
		if !ok {
			continue
		}
		found.set(n)
		left--
		e := &t.entries[i]
		if e.content == b.content {
			c.totals.Alike++
			continue
		}
		a := &Row{Number: first + int64(i), Key: b.row.Key}
		if !c.opts.Decode {
			a.At.Size, a.At.CRC, a.Placed = e.size, e.crc, true
		}
		if err := c.differs(Difference{A: a, B: b.row}); err != nil {
			return 0, err
		}
	}
	return left, nil
}

// added reports the samples of b without a match.
func (c *comparison) added(found bitmap) error {
	if c.totals.Alike+c.totals.Changed == c.b.Len() {
		return nil
	}
	for r, err := range c.b.Walk(c.ctx) {
		if err == nil && !found.has(r.Number) {
			err = c.differs(Difference{B: r})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
