package shard

import (
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/record"
)

const (
	indexBlocks = 1 + 2                    // one is filled, one is written, one waits: rows come in bursts
	tableBlocks = record.WriterBuffers - 1 // all that a record.Writer fills but the one of data
)

// dataBlocks returns the blocks for the data of a shard: one that is filled, and one for each write in flight. A
// device that is also read from gives writes their share only if several wait for it
// (docs/decisions/006-device-io.md). More workers have fewer each, for the sake of memory. The number is even:
// Linux aligns a mapping for huge pages only if it is a multiple of 2 MiB; with 9 blocks cold tars took 1.1
// times as long as with 8.
func dataBlocks(workers int) int {
	n := 1 + max(1, min(7, 16/workers))
	return n + n%2
}

// blocks are what a worker writes its shards and their indexes from. Only data fills all of its own: the tables and
// the index of a few hundred samples are some KiB.
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

// shard returns the blocks of a shard, in the order in which a record.Writer takes them: for data, for its
// tables, then for data again.
func (b *blocks) shard() [][]byte {
	return slices.Concat(b.data.Empty[:1], b.sparse.Empty[indexBlocks:], b.data.Empty[1:])
}

func (b *blocks) free() error { return errors.Join(b.data.Free(), b.sparse.Free()) }
