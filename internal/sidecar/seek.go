package sidecar

import (
	"encoding/binary"

	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// SkipTo makes row n the next one, before or after the last one. The Reader must be from [Open]. SkipTo finds the batch
// of the row with a few reads, by the footer of the file and the ordinals of rows. If that fails, the next read passes
// the batches before the row one by one.
func (x *Reader) SkipTo(n int64) {
	b, ok := x.seek(n)
	if !ok {
		x.messages.SeekTo(x.start)
		b = batch{}
	}
	x.batch, x.next, x.chunk.next, x.chunk.n = b, n, 0, 0
}

// guesses is the number of interpolated guesses in seek; after that it halves the range.
const guesses = 4

func (x *Reader) seek(n int64) (batch, bool) {
	none := batch{}
	first, ok := x.probe(x.start, 0)
	if !ok || n < 0 || n < first.end {
		return first, ok && n >= 0
	}
	blocks, err := arrowipc.Footer(x.file, x.size)
	if err != nil {
		return none, false
	}
	usual := first.end // rows of the first batch, and usually of each
	lo, hi := int64(1), int64(len(blocks))
	for guess, tries := n/usual, 0; lo < hi; tries++ {
		if tries >= guesses {
			guess = lo + (hi-lo)/2
		}
		guess = min(max(guess, lo), hi-1)
		b, ok := x.probe(blocks[guess], guess*usual)
		switch {
		case !ok:
			return none, false
		case n < b.first:
			hi = guess
			guess -= 1 + (b.first-n-1)/usual
		case n >= b.end:
			lo = guess + 1
			guess = lo + (n-b.end)/usual
		case x.chunk.layout.has[ordinal]:
			at, err := x.ordinal(&b, n)
			return b, err == nil && at == n
		default: // batches of labels alone have equal numbers of rows; the last may have fewer
			return b, b.end-b.first == usual || guess == int64(len(blocks))-1
		}
	}
	return none, false
}

// probe reads the metadata of the batch at off, and the ordinal of its first row. first is that ordinal if the index has
// none.
func (x *Reader) probe(off, first int64) (b batch, ok bool) {
	if off < x.start || off >= x.size {
		return b, false
	}
	x.messages.SeekTo(off)
	b, err := x.chunk.layout.next(x.messages, first)
	if err != nil || b.end == b.first {
		return b, false
	}
	if !x.chunk.layout.has[ordinal] {
		return b, true
	}
	at, err := x.ordinal(&b, b.first)
	if err != nil || at < 0 || off == x.start && at != 0 {
		return b, false
	}
	b.first, b.end = at, at+b.end-b.first
	return b, b.end > b.first
}

// ordinal reads the ordinal of row n. The batch must have the row.
func (x *Reader) ordinal(b *batch, n int64) (int64, error) {
	var raw [8]byte
	m, err := x.file.ReadAt(raw[:], b.at[ordinal].Off+8*(n-b.first))
	if m == len(raw) {
		err = nil
	}
	return int64(binary.LittleEndian.Uint64(raw[:])), err
}
