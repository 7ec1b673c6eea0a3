package shard

import (
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/record"
)

const (
	indexBlocks = 1 + 2                    // one being filled, one being written, one waiting, since rows come in bursts
	tableBlocks = record.WriterBuffers - 1 // the buffers of a record.Writer, without the one for data
)

// dataBlocks returns the number of blocks for the data of a shard: one being filled, and one for each write in
// flight. A device that is also being read serves writes at a fair rate only if several are waiting
// (docs/decisions/006-device-io.md). With more workers each gets fewer, to limit memory. The number is even:
// Linux aligns a mapping for huge pages only if it is a multiple of 2 MiB; with 9 blocks cold tars took 1.1
// times as long as with 8.
func dataBlocks(workers int) int {
	n := 1 + max(1, min(7, 16/workers))
	return n + n%2
}

// blocks are the write buffers of a worker, for shards and their indexes. Only data fills whole blocks: the tables
// and the index of a few hundred samples take some KiB.
type blocks struct{ data, sparse *direct.Blocks }

func newBlocks(workers int) (b *blocks, err error) {
	b = &blocks{}
	if b.sparse, err = direct.NewSparseBlocks(indexBlocks + tableBlocks); err != nil {
		return nil, err
	}
	if b.data, err = direct.NewBlocks(dataBlocks(workers)); err != nil {
		return nil, errors.Join(err, b.sparse.Free())
	}
	return b, nil
}

func (b *blocks) index() [][]byte { return b.sparse.Empty[:indexBlocks] }

// shard returns the blocks of a shard in the order in which a record.Writer takes them: one for data, those for
// its tables, then the rest for data.
func (b *blocks) shard() [][]byte {
	return slices.Concat(b.data.Empty[:1], b.sparse.Empty[indexBlocks:], b.data.Empty[1:])
}

func (b *blocks) free() error { return errors.Join(b.data.Free(), b.sparse.Free()) }
