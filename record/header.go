package record

import (
	"fmt"
	"hash/crc32"
)

// A header parses and checks the bytes of a file from its start to its first sample, given in
// pieces of any size. Reader and scanner both use it.
//
// It checks in a fixed order: the file has a head, N fits into the file, the header CRC, the
// offsets. An error of the offsets is therefore reported after the header CRC has been checked.
type header struct {
	table
	opts    Options
	keep    bool // store the tables; without it nothing is allocated
	pos     int64
	frag    [headSize]byte
	nfrag   int          // bytes in frag: the start of a value that continues in the next piece
	prev    int64        // offset of the previous sample
	nextIdx int64        // sample of the next offset
	bad     *FormatError // of the first bad offset
}

func newHeader(path string, size int64, opts Options, keep bool) *header {
	return &header{table: table{path: path, size: size}, opts: opts, keep: keep}
}

// write parses the bytes at the start of p that belong to the header and returns their number. An
// error means that the file cannot have a header: it is too small, or N is impossible.
func (h *header) write(p []byte) (int, *FormatError) {
	if h.size < headSize {
		return 0, h.fault(-1, h.size, truncated("%d bytes, but a head has %d", h.size, headSize))
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

// complete reports whether the whole header has been written.
func (h *header) complete() bool { return h.pos >= headSize && h.pos == payloadOff(h.n) }

// noFile is a number of samples that no file has: its header alone would take 12 TiB.
const noFile = 1 << 40

// judgeHead checks N against the size of the file and the limit.
func (h *header) judgeHead() *FormatError {
	h.sum, h.n = parseHead(h.frag[:])
	h.crc = crc32.ChecksumIEEE(h.frag[coverOff:headSize])
	switch {
	case h.sum == poison32 && h.n == poisonN, h.sum == 0 && h.n == 0:
		return h.fault(-1, 0, errUnfinished)
	case h.n < 0 || h.n > noFile:
		return h.fault(-1, coverOff, fmt.Errorf("%w: %d samples: damaged, or not an FFRecord file", ErrHeader, h.n))
	case h.n > samplesFit(h.size):
		return h.fault(-1, coverOff, truncated("%d samples cannot fit in %d bytes", h.n, h.size))
	case h.n > h.opts.maxSamples():
		return h.fault(-1, coverOff, fmt.Errorf("%w: %d samples, at most %d are allowed", ErrTooLarge, h.n, h.opts.maxSamples()))
	}
	return nil
}

// values parses bytes of a table, values of the given width in bytes.
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

// value parses one value. After a bad offset it drops the tables.
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

// finish checks a complete header. soft is a wrong or missing header CRC, after which the tables
// can still be used. hard is an error after which they cannot.
func (h *header) finish() (soft, hard *FormatError) {
	// A stored 0 means a legacy file, unless 0 happens to be the CRC.
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
