package checksum

import (
	"hash/crc32"
	"io"
	"slices"
)

// A Recorder computes the checksums of a file while it is written. The zero value is for an empty
// file. Its methods must not be called concurrently.
type Recorder struct {
	blocks []uint32 // checksum so far of each block
	summed []uint16 // bytes from the start of each block that its checksum covers, or unordered
}

// unordered in Recorder.summed marks a block that was not written sequentially.
const unordered = blockSize + 1

// Wrote records that p was written at offset off. Blocks may be written in any order, but each block
// sequentially. Writing a block again from its start replaces its checksum.
func (r *Recorder) Wrote(p []byte, off int64) {
	for len(p) > 0 {
		i, in := off/blockSize, off%blockSize
		n := min(len(p), int(blockSize-in))
		if missing := i + 1 - int64(len(r.blocks)); missing > 0 {
			r.blocks = append(r.blocks, make([]uint32, missing)...)
			r.summed = append(r.summed, make([]uint16, missing)...)
		}
		switch {
		case in == 0:
			r.blocks[i], r.summed[i] = crc32.Checksum(p[:n], castagnoli), uint16(n)
		case in == int64(r.summed[i]):
			r.blocks[i], r.summed[i] = crc32.Update(r.blocks[i], castagnoli, p[:n]), uint16(in)+uint16(n)
		default:
			r.summed[i] = unordered
		}
		p, off = p[n:], off+int64(n)
	}
}

// Sums returns the checksums of the first size bytes. For a block that was not written sequentially to
// its end, Sums uses the bytes that file has now. Fetching and decompressing leave no such block.
func (r *Recorder) Sums(size int64, file io.ReaderAt) (*Sums, error) {
	n := int((size + blockSize - 1) / blockSize)
	s := &Sums{size: size, blocks: slices.Clone(r.blocks[:min(n, len(r.blocks))])}
	s.blocks = append(s.blocks, make([]uint32, n-len(s.blocks))...)
	var buf []byte
	for i := range s.blocks {
		length := min(blockSize, size-int64(i)*blockSize)
		if i < len(r.summed) && int64(r.summed[i]) == length {
			continue
		}
		if buf == nil {
			buf = make([]byte, blockSize)
		}
		if n, err := file.ReadAt(buf[:length], int64(i)*blockSize); int64(n) < length {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		s.blocks[i] = crc32.Checksum(buf[:length], castagnoli)
	}
	return s, nil
}
