// Package direct writes files from aligned blocks, asynchronously and past the page cache.
//
//	blocks, err := direct.NewBlocks(record.WriterBuffers + 1)
//	defer blocks.Free()
//	err = direct.Reserve(f, size)
//	out := direct.NewWriter(f, blocks.Empty)
//	defer out.Close()
//	w, err := record.NewWriter(out, samples) // a Writer is a record.BufferSwapper
//	…
//	err = out.Close() // the error of the first write that failed; then sync f
package direct

import (
	"errors"

	"github.com/ffconvert/ffconvert/aio"
)

// blockSize is the capacity of a block in bytes. A write waits for the device, so it must be large:
// an index written in blocks of 256 KiB holds up its shard (BenchmarkFile).
const blockSize = 1 << 20

// Blocks are buffers for Writers, one after another. They are outside the Go heap and aligned for O_DIRECT.
type Blocks struct {
	Empty [][]byte // each of length 0 and capacity BlockSize
	mem   [][]byte
}

// NewBlocks allocates n blocks in one mapping, in huge pages where the system has them: a request for the device
// then has few segments, but all blocks take memory as soon as one is used. The caller must call Free.
func NewBlocks(n int) (*Blocks, error) {
	b := &Blocks{}
	return b, b.add(n)
}

// NewSparseBlocks allocates n blocks that are rarely filled. Each takes only the memory that was used of it. The
// caller must call Free.
func NewSparseBlocks(n int) (*Blocks, error) {
	b := &Blocks{}
	for range n {
		if err := b.add(1); err != nil { // a mapping of less than a huge page has small ones
			return b, errors.Join(err, b.Free())
		}
	}
	return b, nil
}

// add allocates n blocks in one mapping.
func (b *Blocks) add(n int) error {
	mem, err := aio.Alloc(n * blockSize)
	if err != nil {
		return err
	}
	b.mem = append(b.mem, mem)
	for at := range n {
		b.Empty = append(b.Empty, mem[at*blockSize:at*blockSize:(at+1)*blockSize])
	}
	return nil
}

// Free releases the memory. The blocks must not be used afterwards.
func (b *Blocks) Free() error {
	var errs []error
	for _, mem := range b.mem {
		errs = append(errs, aio.Free(mem))
	}
	b.mem, b.Empty = nil, nil
	return errors.Join(errs...)
}
