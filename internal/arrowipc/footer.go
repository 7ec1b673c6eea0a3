package arrowipc

import (
	"encoding/binary"
	"fmt"
	"io"

	flatbuffers "github.com/google/flatbuffers/go"
)

// The end of a file: footer, its size (int32), magic. The slot of the record batches in the footer, and the size of each:
// offset (int64), size of the metadata (int32, and 4 bytes of padding), size of the body (int64). format/File.fbs
const (
	tailSize    = 4 + len(tailMagic)
	tailMagic   = "ARROW1"
	footerBatch = 10
	blockSize   = 24
)

// Blocks are where the record batches of a file begin, as its footer says. Nothing is known of what is there.
type Blocks struct{ raw []byte }

// Footer reads the footer of a file of size bytes. The error is [ErrMalformed] or that of the file.
func Footer(r io.ReaderAt, size int64) (b Blocks, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: its footer leads out of itself", ErrMalformed)
		}
	}()
	var tail [tailSize]byte
	if size < int64(tailSize) {
		return b, fmt.Errorf("%w: a file of %d bytes", ErrMalformed, size)
	}
	if err := readFull(r, tail[:], size-int64(tailSize)); err != nil {
		return b, err
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	if string(tail[4:]) != tailMagic || n < 4 || n > min(maxMeta, size-int64(tailSize)) {
		return b, fmt.Errorf("%w: it does not end in a footer", ErrMalformed)
	}
	raw := make([]byte, n)
	if err := readFull(r, raw, size-int64(tailSize)-n); err != nil {
		return b, err
	}
	footer := table{flatbuffers.Table{Bytes: raw, Pos: flatbuffers.GetUOffsetT(raw)}}
	count, err := footer.count(footerBatch)
	if err != nil || count == 0 {
		return b, err
	}
	first := int(footer.Vector(footer.at(footerBatch)))
	return Blocks{raw[first : first+blockSize*count]}, nil
}

// Len returns the number of batches.
func (b Blocks) Len() int64 { return int64(len(b.raw) / blockSize) }

// Off returns where the message of a batch begins, by [Messages.SeekTo].
func (b Blocks) Off(i int64) int64 { return int64(binary.LittleEndian.Uint64(b.raw[blockSize*i:])) }
