package direct

import "github.com/ffconvert/ffconvert/aio"

// BlockSize is the capacity of a block in bytes. A write waits for the device, so it must be large:
// an index written in blocks of 256 KiB holds up its shard (BenchmarkFile).
const BlockSize = 1 << 20

// Blocks are buffers for Writers, one after another. They are one mapping outside the Go heap,
// aligned for O_DIRECT, and in huge pages where the system has them: a request for the device then
// has few segments.
type Blocks struct {
	Empty [][]byte // each of length 0 and capacity BlockSize
	mem   []byte
}

// NewBlocks allocates n blocks. The caller must call Free.
func NewBlocks(n int) (*Blocks, error) {
	mem, err := aio.Alloc(n * BlockSize)
	if err != nil {
		return nil, err
	}
	b := &Blocks{mem: mem}
	for at := range n {
		b.Empty = append(b.Empty, mem[at*BlockSize:at*BlockSize:(at+1)*BlockSize])
	}
	return b, nil
}

// Free releases the memory. The blocks must not be used afterwards.
func (b *Blocks) Free() error { return aio.Free(b.mem) }
