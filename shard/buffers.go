package shard

import "github.com/ffconvert/ffconvert/aio"

// blockSize is that of the buffers that a shard and its index are written from, bytes. A
// write waits for the device, so it must be large: an index in blocks of 256 KiB holds
// up the shard (BenchmarkDirect).
const blockSize = 1 << 20

// Buffers are what a worker writes its shards and their indexes from, one after another.
// They are one mapping outside the Go heap, aligned as O_DIRECT wants it, and in huge
// pages where there are any: a request for the device has then few segments.
type buffers struct {
	mem          []byte
	shard, index [spoolBuffers][]byte
}

func newBuffers() (*buffers, error) {
	mem, err := aio.Alloc(2 * spoolBuffers * blockSize)
	if err != nil {
		return nil, err
	}
	b := &buffers{mem: mem}
	for i := range b.shard {
		b.shard[i], mem = mem[:0:blockSize], mem[blockSize:]
	}
	for i := range b.index {
		b.index[i], mem = mem[:0:blockSize], mem[blockSize:]
	}
	return b, nil
}

// free gives the memory back. Nothing may use it any more.
func (b *buffers) free() error { return aio.Free(b.mem) }
