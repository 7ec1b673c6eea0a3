package record

import (
	"fmt"
	"hash/crc32"
	"io"
)

// A header checks the bytes of a file from its start to its first sample. Reader and scanner both use it.
//
// It checks in a fixed order: the file has a head, N fits into the file, the header CRC, the offsets. An error of the
// offsets is therefore reported after the header CRC has been checked.
type header struct {
	table
	opts Options
	most int64        // bytes of the largest sample that is allowed
	crc  uint32       // of the bytes so far, from N on
	next int64        // sample of the next offset
	prev int64        // offset of the sample before it
	bad  *FormatError // of the first bad offset
}

// noFile is a number of samples that no file has: its header alone would take 12 TiB.
const noFile = 1 << 40

// begin parses the head, headSize bytes, and checks N against the size of the file and the limit.
func (h *header) begin(head []byte) *FormatError {
	h.sum, h.n = parseHead(head)
	h.crc = crc32.ChecksumIEEE(head[coverOff:])
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

// short is the error of a file that has no head.
func (h *header) short() *FormatError {
	return h.fault(-1, h.size, truncated("%d bytes, but a head has %d", h.size, headSize))
}

// sums takes the next CRCs of the header.
func (h *header) sums(b []byte) { h.crc = crc32.Update(h.crc, crc32.IEEETable, b) }

// offsets takes the next offsets of the header, and checks them up to the first bad one.
func (h *header) offsets(b []byte) {
	h.crc = crc32.Update(h.crc, crc32.IEEETable, b)
	for ; len(b) > 0 && h.bad == nil; b = b[offSize:] {
		off := parseOff(b)
		if h.bad = h.judgeOffset(h.next, off); h.bad == nil && h.next > 0 {
			h.bad = h.limit(h.next-1, Extent{Off: h.prev, Size: off - h.prev}, h.most)
		}
		h.prev = off
		h.next++
	}
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

// finish ends the checks after the last offset. soft is a wrong or missing header CRC, after which the tables
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
	switch {
	case h.n == 0 && h.size != headSize:
		return soft, h.fault(-1, headSize, fmt.Errorf("%w: no samples, yet %d bytes follow", ErrHeader, h.size-headSize))
	case h.n > 0 && h.bad == nil:
		h.bad = h.limit(h.n-1, Extent{Off: h.prev, Size: h.size - h.prev}, h.most)
	}
	return soft, h.bad
}

// readHead reads and checks the head.
func (h *header) readHead(src io.ReaderAt) error {
	if h.size < headSize {
		return h.short()
	}
	var head [headSize]byte
	if err := h.readAt(src, head[:], 0, -1); err != nil {
		return err
	}
	if bad := h.begin(head[:]); bad != nil {
		return bad
	}
	return nil
}

// read reads and checks the whole header, and the CRC of the last sample if last is set. Only that shows that the file
// has its full length. Memory does not depend on N.
func (h *header) read(src io.ReaderAt, last bool) error {
	if err := h.readHead(src); err != nil {
		return err
	}
	buf := make([]byte, min(h.size, bufSize)) // a multiple of both widths, or longer than each of the tables
	for pos := int64(headSize); pos < payloadOff(h.n); {
		end, take := payloadOff(h.n), h.offsets
		if pos < offsetsOff(h.n) {
			end, take = offsetsOff(h.n), h.sums
		}
		p := buf[:min(int64(len(buf)), end-pos)]
		if err := h.readAt(src, p, pos, -1); err != nil {
			return err
		}
		take(p)
		pos += int64(len(p))
	}
	soft, hard := h.finish()
	switch {
	case soft != nil:
		return soft
	case hard != nil:
		return hard
	case !last || h.n == 0:
		return nil
	}
	at, err := ReadExtents(src, h.info(), h.n-1, 1, nil)
	if err != nil {
		return err
	}
	return h.readSample(src, h.n-1, at[0], buf)
}

// readSample reads sample i in pieces of buf and checks its CRC.
func (t *table) readSample(src io.ReaderAt, i int64, e Extent, buf []byte) error {
	var crc uint32
	for done := int64(0); done < e.Size; {
		p := buf[:min(int64(len(buf)), e.Size-done)]
		if err := t.readAt(src, p, e.Off+done, i); err != nil {
			return err
		}
		crc = crc32.Update(crc, crc32.IEEETable, p)
		done += int64(len(p))
	}
	if bad := t.gate(i, e, crc); bad != nil {
		return bad
	}
	return nil
}

// readAt fills p from offset off. It reports the end of the file as ErrTruncated, other errors
// unchanged, both as a FormatError of a sample.
func (t *table) readAt(src io.ReaderAt, p []byte, off, sample int64) error {
	k, err := src.ReadAt(p, off)
	switch {
	case k == len(p):
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return t.fault(sample, off+int64(k), truncated("the file had %d bytes when it was opened", t.size))
	case err == nil:
		err = io.ErrNoProgress
	}
	return t.fault(sample, off+int64(k), err)
}
