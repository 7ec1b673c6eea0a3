package record

import (
	"fmt"
	"hash/crc32"
)

// A header parses and judges the bytes of a file from its start to its first sample, given in
// pieces of any size. These are the only rules there are: Reader and Scanner both use them.
//
// The order is fixed: the file holds a head; N fits the file; the header CRC; the offsets. A fault
// of the offsets is therefore kept back until the header CRC has been judged.
type header struct {
	table
	opts    Options
	keep    bool // store the tables; without it nothing is allocated
	pos     int64
	crc     uint32 // of bytes coverOff to pos
	frag    [headSize]byte
	nfrag   int   // bytes of frag in use: a value that lies across two pieces
	prev    int64 // offset of the sample before
	nextIdx int64 // sample whose offset comes next
	bad     *FormatError
}

func newHeader(path string, size int64, opts Options, keep bool) *header {
	return &header{table: table{path: path, size: size}, opts: opts, keep: keep}
}

// write takes what belongs to the header from the start of p and returns how much that was. An
// error means that no header can follow: the file is too small, or N is impossible.
func (h *header) write(p []byte) (int, *FormatError) {
	if h.size < headSize {
		return 0, h.fault(-1, h.size, truncated("%d bytes, and a head has %d", h.size, headSize))
	}
	used := 0
	if h.pos < headSize {
		used = copy(h.frag[h.pos:headSize], p)
		if h.pos += int64(used); h.pos < headSize {
			return used, nil
		}
		if bad := h.judgeHead(); bad != nil {
			return used, bad
		}
	}
	for used < len(p) && !h.complete() {
		end, width := payloadOff(h.n), offSize
		if h.pos < offsetsOff(h.n) {
			end, width = offsetsOff(h.n), sumSize
		}
		q := p[used:]
		q = q[:min(int64(len(q)), end-h.pos)]
		h.crc = crc32.Update(h.crc, crc32.IEEETable, q)
		h.values(q, width)
		h.pos += int64(len(q))
		used += len(q)
	}
	return used, nil
}

// complete says that the first sample, or the end of an empty file, comes next.
func (h *header) complete() bool { return h.pos >= headSize && h.pos == payloadOff(h.n) }

// judgeHead bounds N by the size of the file, before anything depends on it.
func (h *header) judgeHead() *FormatError {
	h.sum, h.n = parseHead(h.frag[:])
	h.crc = crc32.ChecksumIEEE(h.frag[coverOff:headSize])
	switch {
	case h.sum == poison32 && h.n == poisonN, h.sum == 0 && h.n == 0:
		return h.fault(-1, 0, ErrUnfinished)
	case h.n < 0:
		return h.fault(-1, coverOff, fmt.Errorf("%w: %d samples", ErrHeader, h.n))
	case h.n > samplesFit(h.size):
		return h.fault(-1, coverOff, truncated("%d samples cannot fit in %d bytes", h.n, h.size))
	case h.n > h.opts.maxSamples():
		return h.fault(-1, coverOff, fmt.Errorf("%w: %d samples, and at most %d are allowed", ErrTooLarge, h.n, h.opts.maxSamples()))
	}
	return nil
}

// values takes table bytes that hold values of one width.
func (h *header) values(q []byte, width int) {
	if h.nfrag > 0 {
		k := copy(h.frag[h.nfrag:width], q)
		h.nfrag += k
		q = q[k:]
		if h.nfrag < width {
			return
		}
		h.value(h.frag[:width], width)
	}
	for len(q) >= width {
		h.value(q[:width], width)
		q = q[width:]
	}
	h.nfrag = copy(h.frag[:], q)
}

func (h *header) value(b []byte, width int) {
	if width == sumSize {
		if h.keep {
			h.sums.add(parseSum(b), h.n)
		}
		return
	}
	if h.bad != nil {
		return
	}
	off := parseOff(b)
	if h.bad = h.judgeOffset(h.nextIdx, off); h.bad != nil {
		h.sums, h.offs = column[uint32]{}, column[int64]{}
		return
	}
	if h.keep {
		h.offs.add(off, h.n)
	}
	h.prev = off
	h.nextIdx++
}

func (h *header) judgeOffset(i, off int64) *FormatError {
	place := offsetsOff(h.n) + offSize*i
	switch {
	case i == 0 && off != payloadOff(h.n):
		return h.fault(i, place, fmt.Errorf("%w: starts at byte %d, not %d", ErrHeader, off, payloadOff(h.n)))
	case i > 0 && off < h.prev:
		return h.fault(i, place, fmt.Errorf("%w: starts at byte %d, before sample %d at %d", ErrHeader, off, i-1, h.prev))
	case off > h.size:
		return h.fault(i, place, truncated("starts at byte %d of a file of %d", off, h.size))
	}
	return nil
}

// finish judges a complete header. soft is a header CRC that is wrong or missing: the tables are
// still usable. hard is a fault after which they are not.
func (h *header) finish() (soft, hard *FormatError) {
	// A stored 0 that is the CRC is as good as any other: a legacy file is one where it is not.
	if h.sum != h.crc {
		switch {
		case h.sum != 0:
			soft = h.fault(-1, 0, fmt.Errorf("%w of the header: stored %08x, computed %08x", ErrChecksum, h.sum, h.crc))
		case !h.opts.AllowLegacy:
			soft = h.fault(-1, 0, ErrLegacy)
		}
	}
	if h.n == 0 && h.size != headSize {
		return soft, h.fault(-1, headSize, fmt.Errorf("%w: no samples, yet %d bytes follow", ErrHeader, h.size-headSize))
	}
	return soft, h.bad
}
