package record

import (
	"io"
	"math"
)

// CheckHeader checks the header of a shard of size bytes and the CRC of its last sample, which alone shows
// that the file has its full length. Its memory does not depend on N, since it stores no tables. path is for errors.
func CheckHeader(src io.ReaderAt, path string, size int64, opts Options) (FileInfo, error) {
	h := header{table: table{path: path, size: size}, opts: opts, most: math.MaxInt64}
	if err := h.read(src, true); err != nil {
		return FileInfo{}, err
	}
	return h.info(), nil
}

// ReadExtents appends the extents of the samples first to first+count-1 of a shard to dst. info is from a call that
// checked the header. It reads 12 bytes a sample. An offset outside the shard is an error as in [Open]; a CRC that has
// changed since then is detected when the sample is read.
func ReadExtents(src io.ReaderAt, info FileInfo, first, count int64, dst []Extent) ([]Extent, error) {
	t := table{path: info.Path, size: info.Size, n: info.Samples}
	if first < 0 || count < 0 || first > t.n-count {
		return nil, t.fault(-1, -1, errRange)
	}
	if count == 0 {
		return dst, nil
	}
	sums, offs := make([]byte, count*sumSize), make([]byte, min(count+1, t.n-first)*offSize)
	if err := t.readAt(src, sums, headSize+first*sumSize, first); err != nil {
		return nil, err
	}
	if err := t.readAt(src, offs, offsetsOff(t.n)+first*offSize, first); err != nil {
		return nil, err
	}
	h := header{table: t}
	h.prev = payloadOff(t.n)
	end := func(i int64) (int64, *FormatError) {
		if i == first+count && i == t.n {
			return t.size, nil
		}
		off := parseOff(offs[(i-first)*offSize:])
		bad := h.judgeOffset(i, off)
		h.prev = off
		return off, bad
	}
	off, bad := end(first)
	for i := first; i < first+count; i++ {
		if bad != nil {
			return nil, bad
		}
		e := Extent{Off: off, CRC: parseSum(sums[(i-first)*sumSize:])}
		if off, bad = end(i + 1); bad != nil {
			return nil, bad
		}
		e.Size = off - e.Off
		dst = append(dst, e)
	}
	return dst, nil
}

// CheckSample returns an error unless payload matches the CRC of sample i, whose extent is e.
func (info *FileInfo) CheckSample(i int64, e Extent, payload []byte) error {
	return info.CheckSum(i, e, updateCRC(0, payload))
}

// CheckSum returns an error unless sum is the CRC-32 of sample i, whose extent is e.
func (info *FileInfo) CheckSum(i int64, e Extent, sum uint32) error {
	t := table{path: info.Path}
	if bad := t.gate(i, e, sum); bad != nil {
		return bad
	}
	return nil
}

// ReadHead describes a shard of size bytes from the first bytes of its header. It checks nothing else:
// see [CheckHeader].
func ReadHead(src io.ReaderAt, path string, size int64, opts Options) (FileInfo, error) {
	h := header{table: table{path: path, size: size}, opts: opts}
	if err := h.readHead(src); err != nil {
		return FileInfo{}, err
	}
	return h.info(), nil
}
