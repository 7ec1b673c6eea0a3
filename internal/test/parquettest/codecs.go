package parquettest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// noOther reads blocks of one group as Hadoop's BlockCompressorStream writes them when it is given more than its buffer holds.
const noOther = "none"

// codecCases have pages as each writer compresses them.
func codecCases() []Case {
	const n = 64
	var values []int64
	var want []string
	for i := range int64(n) {
		values = append(values, i/8)
		want = append(want, fmt.Sprint("n:i", i/8))
	}
	plain := Int64s(values...)
	half := len(plain) / 2
	of := func(name string, codec int, body []byte, by ...string) Case {
		p := page(n, body)
		p.Expanded, p.DefPacked = len(plain), true
		c := chunk(Int64, n, p)
		c.Codec = codec
		return Case{Name: name, Data: build(n, []Element{column("n", Int64, Required, None)}, nil, c), Rows: rows(want...), By: by}
	}
	members := append(written(plain[:half], func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }), written(plain[half:], func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })...)
	return []Case{
		of("Brotli", Brotli, written(plain, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })),
		of("gzip of two members", Gzip, members),
		of("LZ4 of Hadoop", LZ4, hadoop(len(plain), block(plain)), Rust),
		of("LZ4 of Hadoop, two groups", LZ4, append(hadoop(half, block(plain[:half])), hadoop(half, block(plain[half:]))...), Rust),
		of("LZ4 of Hadoop, two blocks in a group", LZ4, hadoop(len(plain), block(plain[:half]), block(plain[half:])), noOther),
		of("LZ4, one block", LZ4, block(plain), Rust),
		of("LZ4, a frame", LZ4, written(plain, func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) }), Rust),
		empty("version 2, nulls in an empty zstd frame", Zstd, written(nil, func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w, zstd.WithZeroFrames(true))
			if err != nil {
				panic(err)
			}
			return z
		})),
		empty("version 2, nulls in no bytes of snappy", Snappy, nil, DuckDB),
	}
}

// empty is a column of one null, whose values are compressed to some bytes.
func empty(name string, codec int, body []byte, by ...string) Case {
	levels := LevelsOf(0)[4:]
	p := Page{Kind: DataV2, Values: 1, Rows: 1, Def: len(levels), Body: append(levels, body...), Expanded: len(levels)}
	c := chunk(Int32, 1, p)
	c.Codec = codec
	return Case{Name: name, Data: build(1, []Element{column("n", Int32, Optional, None)}, nil, c), Rows: rows("n:null"), By: by}
}

func written(b []byte, to func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	w := to(&out)
	if _, err := w.Write(b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// block is an LZ4 block.
func block(b []byte) []byte {
	out := make([]byte, lz4.CompressBlockBound(len(b)))
	n, err := lz4.CompressBlock(b, out, nil)
	if err != nil || n == 0 {
		panic(fmt.Sprint(n, err))
	}
	return out[:n]
}

// hadoop is what Hadoop's codec writes: the size of a group of blocks, and each block behind its own.
func hadoop(size int, blocks ...[]byte) (b []byte) {
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	for _, x := range blocks {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(x))), x...)
	}
	return b
}
