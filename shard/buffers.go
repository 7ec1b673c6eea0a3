package shard

import (
	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// blockSize is the size, in bytes, of the buffers that a shard and its index are written from. A
// write waits for the device, so it must be large: an index in blocks of 256 KiB holds
// up the shard (BenchmarkDirect).
const blockSize = 1 << 20

// Buffers are what a worker writes its shards and their indexes from, one after another.
// They are one mapping outside the Go heap, aligned as O_DIRECT wants it, and in huge
// pages where there are any: a request for the device has then few segments.
type buffers struct {
	mem          []byte
	shard, index [][]byte
}

func newBuffers() (*buffers, error) {
	const (
		shard = record.WriterBuffers + 1 // one more than the writer fills: one is being written
		index = 1 + 2                    // one is filled, one is written, one waits: rows come in bursts
	)
	mem, err := aio.Alloc((shard + index) * blockSize)
	if err != nil {
		return nil, err
	}
	var blocks [shard + index][]byte
	for i := range blocks {
		blocks[i] = mem[i*blockSize : i*blockSize : (i+1)*blockSize]
	}
	return &buffers{mem: mem, shard: blocks[:shard], index: blocks[shard:]}, nil
}

// free gives the memory back. Nothing may use it any more.
func (b *buffers) free() error { return aio.Free(b.mem) }
