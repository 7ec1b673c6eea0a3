package parquet

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Sizes of reads, bytes. A chunk of up to smallChunk is read at once, since the reads alternate between chunks of a row
// group.
const (
	smallChunk  = 256 << 10
	firstRead   = 4 << 10
	indexWindow = 64 << 10
	readWindow  = 1 << 20
	allWindows  = 4 << 20 // of a reader, unless indexWindow for each column takes more
)

// A cursor decodes the values of a leaf in a row group, with their levels, page by page.
type cursor struct {
	*leaf
	of      *reader
	w       scan.Window // over the chunk
	codec   string      // of codecs
	load    bool        // the bytes of values are needed
	passing bool        // skip is running: the bytes of values are not needed
	buf     buffer      // a page that is larger than the window, or decompressed
	words   buffer      // the dictionary page

	page       page
	last       int64                          // end of the chunk according to the footer; a page must begin before it
	spare      int64                          // bytes between last and the footer
	levels     buffer                         // levels of a streamed page, or of a compressed page of version 2
	left       int64                          // values of the page after the batch, with nulls
	unread     int64                          // values of the chunk after this page
	values     *scan.Window                   // of a streamed page: w, or over its decompressed content; nil: the page is in memory
	stream     int64                          // end of the page in values
	bytes      func(*datum) error             // decodes the next value of a leaf of byte strings
	numbers    func(to []uint64) (int, error) // decodes the next values of a leaf of numbers
	flow       *flow                          // if the page flows, else nil
	reps, defs runs
	dictionary *dictionary

	batch    batch // of the page
	has      bool  // the value below is the next one
	end      bool  // there is no next value
	rep, def int
	datum
}

// begin starts at a chunk.
func (c *cursor) begin(f io.ReaderAt, at chunk, single bool) error {
	codec, err := codecOf(at.codec)
	if err != nil {
		return err
	}
	sizes := scan.Sizes{First: firstRead, Usual: c.of.window}
	switch {
	case at.size <= smallChunk && !single:
		sizes = scan.Sizes{First: int(at.size), Usual: smallChunk}
	case !single && !c.of.index:
		sizes.First = sizes.Usual
	}
	c.w.Reset(f, at.off+at.size, at.off, sizes)
	c.last, c.spare = at.off+at.size, at.spare
	c.codec, c.unread, c.values, c.end = codec, at.values, nil, false
	c.forget()
	return nil
}

// forget frees the dictionary, and drops what is left of the page.
func (c *cursor) forget() {
	if c.dictionary != nil {
		c.of.held.bytes -= placeSize * int64(len(c.dictionary.places))
	}
	c.dictionary, c.bytes, c.numbers, c.flow = nil, nil, nil, nil
	c.left, c.has, c.batch.at, c.batch.n, c.batch.err = 0, false, 0, 0, nil
}

// look makes the next value the current one, unless it is. The end of the chunk counts as the start of a row.
func (c *cursor) look() error {
	if c.has || c.end {
		return nil
	}
	if more, err := c.more(); !more {
		if err == nil {
			c.end, c.rep, c.def = true, 0, -1
		}
		return err
	}
	b := &c.batch
	c.has, c.rep, c.def = true, 0, 0
	if b.reps != nil {
		c.rep = int(b.reps[b.at])
	}
	if b.defs != nil {
		c.def = int(b.defs[b.at])
	}
	b.at++
	switch {
	case c.def < c.leaf.def:
		return nil
	case c.numeric:
		c.num = b.numbers[b.number]
		b.number++
		return nil
	}
	if err := c.bytes(&c.datum); err != nil {
		return malformed(err)
	}
	if c.size > c.of.src.opts.MaxValue {
		return columns.Over("max-value-size", "a value of %d bytes", c.size)
	}
	return nil
}

// malformed wraps err, an error of the values of a page, in an error of package converters.
func malformed(err error) error {
	_, reading := errors.AsType[*fs.PathError](err)
	kinds := []error{converters.ErrMalformed, converters.ErrUnsupported, converters.ErrLimit, converters.ErrChanged}
	if reading || slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) }) {
		return err
	}
	return fmt.Errorf("%w: a page: %w", converters.ErrMalformed, err)
}

// turn reads the next page. It skips a data page of at most skip rows and returns the number of these rows, else 0.
func (c *cursor) turn(skip int64) (int64, error) {
	if err := c.finish(); err != nil {
		return 0, err
	}
	if c.values == &c.w {
		c.w.Skip(c.stream - c.w.Offset())
	}
	c.values = nil
	c.w.Relax()
	if c.w.Offset() >= c.last {
		return 0, fmt.Errorf("%w: its pages end %d values early", converters.ErrMalformed, c.unread)
	}
	if err := c.header(); err != nil {
		return 0, err
	}
	p := &c.page
	switch p.kind {
	case pageIndex:
		c.w.Skip(p.size)
		return 0, nil
	case pageDictionary:
		return 0, c.readDictionary()
	}
	if p.values > c.unread {
		return 0, fmt.Errorf("%w: a page of %d values, of its column %d are left", converters.ErrMalformed, p.values, c.unread)
	}
	c.unread -= p.values
	rows := p.rows
	if c.leaf.rep == 0 {
		rows = p.values
	}
	if rows > 0 && rows <= skip {
		c.w.Skip(p.size)
		return rows, nil
	}
	c.left = p.values
	return 0, c.readData()
}

// skip skips n rows. It must be called at the start of a row.
func (c *cursor) skip(n int64) error {
	c.passing = c.leaf.rep == 0 // after rows of lists, the first value is read together with them
	defer func() { c.passing = false }()
	for n > 0 {
		if c.left == 0 && c.batch.left() == 0 && !c.has && c.unread > 0 {
			passed, err := c.turn(n)
			if err != nil {
				return err
			}
			n -= passed
			continue
		}
		if c.numeric && c.leaf.rep == 0 && !c.has {
			if _, err := c.more(); err != nil {
				return err
			}
			if some := min(int(n), c.batch.left()); some > 0 {
				c.batch.drop(some)
				n -= int64(some)
				continue
			}
		}
		if err := c.start(0); err != nil {
			return err
		}
		c.has = false
		for again := c.leaf.rep > 0; again; {
			if err := c.look(); err != nil {
				return err
			}
			if again = c.rep > 0; again {
				c.has = false
			}
		}
		n--
	}
	return nil
}

// start makes the next value the current one. It returns an error unless the value begins at a repetition level.
func (c *cursor) start(rep int) error {
	if err := c.look(); err != nil {
		return err
	}
	if c.end || c.rep != rep {
		return errRows
	}
	return nil
}

var errRows = fmt.Errorf("%w: its values do not fit the rows, or the columns beside it", converters.ErrMalformed)
