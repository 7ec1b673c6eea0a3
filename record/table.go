package record

import "fmt"

// A table is a header of which N is known: 12 bytes for each sample.
type table struct {
	path string
	size int64  // of the file in bytes
	n    int64  // samples
	sum  uint32 // header CRC as stored
	head []byte // the header; a Reader maps it, a scanner collects it
}

// extent returns the extent of sample i, 0 ≤ i < n, by head.
func (t *table) extent(i int64) Extent {
	offs, end := t.head[offsetsOff(t.n)+offSize*i:], t.size
	if i+1 < t.n {
		end = parseOff(offs[offSize:])
	}
	off := parseOff(offs)
	return Extent{Off: off, Size: end - off, CRC: parseSum(t.head[headSize+sumSize*i:])}
}

func (t *table) info() FileInfo {
	return FileInfo{Path: t.path, Samples: t.n, Size: t.size, HeaderCRC: t.sum}
}

// gate compares crc, computed over sample i, with the stored CRC. It returns nil if they are equal.
func (t *table) gate(i int64, e Extent, crc uint32) *FormatError {
	if crc == e.CRC {
		return nil
	}
	return t.fault(i, e.Off, fmt.Errorf("%w: stored %08x, computed %08x over %d bytes", ErrChecksum, e.CRC, crc, e.Size))
}

// limit returns an error if sample i has more than most bytes.
func (t *table) limit(i int64, e Extent, most int64) *FormatError {
	if e.Size <= most {
		return nil
	}
	return t.fault(i, e.Off, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, e.Size, most))
}

func (t *table) fault(sample, off int64, err error) *FormatError {
	return &FormatError{Path: t.path, Sample: sample, Off: off, Err: err}
}
