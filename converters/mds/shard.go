package mds

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// mostConfig is the largest accepted configuration of a shard, in bytes. A column takes some fifty bytes.
const mostConfig = 16 << 20

// tableBlock is how many offsets are read at a time.
const tableBlock = 16 << 10

// A reader reads the samples of a shard. Readers are reused.
type reader struct {
	scan.Window
	src    *source
	pass   *scan.Pass
	part   converters.Part
	shard  *layout
	own    io.Closer // closes table; nil: it is in memory
	table  io.ReaderAt
	block  []byte // of the table
	first  int64  // number of the first offset in block
	number int64  // number of the current sample; -1: none

	following int64 // number of the next sample
	spans     [1]converters.Span
	sample    converters.Sample
	sizes     []int64 // of the values of the sample, bytes
	arena     []byte  // values that are not in the window
	head      []byte  // of an array
	shape     []int64
	decode    func([]byte) (converters.Value, error)
}

// Begin prepares for a pass. An index compares the shard with index.json first.
func (r *reader) Begin(ctx context.Context, p *scan.Pass) error {
	r.pass, r.part, r.shard, r.number, r.following = p, p.Part, r.src.shards[p.Run.Part], -1, p.Run.First
	r.block, r.first = r.block[:0], 0
	if r.shard.Compression == "snappy" {
		data, err := r.unpack(p.File)
		if err != nil {
			return r.fail(-1, err, "")
		}
		r.table = bytes.NewReader(data)
		r.Reset(r.table, int64(len(data)), p.Run.Off, p.Sizes())
	} else {
		table, err := r.src.open(r.part, converters.Cached)
		if err != nil {
			return err
		}
		r.own, r.table = table, table
		r.Window.Begin(p, p.Sizes())
	}
	if p.Index {
		return r.check(ctx)
	}
	return nil
}

// End closes the table.
func (r *reader) End() {
	if r.own != nil {
		r.own.Close()
	}
	r.own, r.table = nil, nil
	r.Window.End()
}

// unpack decompresses a shard that is one block of snappy, as from Python's snappy.compress.
func (r *reader) unpack(file io.ReaderAt) ([]byte, error) {
	most := r.src.opts.MaxSample
	if size := max(r.part.Size, r.shard.Raw.Bytes); size > most {
		return nil, place.WithHint(fmt.Errorf("%w: a shard compressed by snappy has %d bytes, %d are allowed", converters.ErrLimit, size, most), "option max-sample-size")
	}
	packed := make([]byte, r.part.Size)
	if n, err := file.ReadAt(packed, 0); n < len(packed) {
		return nil, fmt.Errorf("read: %w", err)
	}
	if n, err := s2.DecodedLen(packed); err != nil || int64(n) != r.shard.Raw.Bytes {
		return nil, fmt.Errorf("%w: it is not a snappy block of %d bytes", converters.ErrMalformed, r.shard.Raw.Bytes)
	}
	data, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("%w: snappy: %v", converters.ErrMalformed, err)
	}
	return data, nil
}

// fail places an error at an offset of the shard, in the current sample if there is one.
func (r *reader) fail(off int64, err error, hint string) error {
	if placed, ok := err.(*converters.Error); ok {
		return placed
	}
	entry := ""
	if r.number >= 0 {
		entry = fmt.Sprintf("sample %d", r.number)
	}
	if hint == "" {
		hint = place.HintOf(err)
	}
	return &converters.Error{Where: r.part.Name, Off: off, Entry: entry, Err: err, Hint: hint}
}

// check compares the shard with index.json: sizes, hashes, the number of samples and the columns.
func (r *reader) check(ctx context.Context) error {
	s, size := r.shard, r.Size
	if size != s.Raw.Bytes {
		kind := converters.ErrMalformed
		if size < s.Raw.Bytes {
			kind = converters.ErrTruncated
		}
		return r.fail(-1, fmt.Errorf("%w: it has %d bytes, index.json has %d", kind, size, s.Raw.Bytes), "")
	}
	if err := r.checkStored(ctx); err != nil {
		return err
	}
	if err := s.Raw.compare(ctx, r.table, size); err != nil {
		return r.fail(-1, err, "")
	}
	var count [4]byte
	if size < 8 {
		return r.fail(0, fmt.Errorf("%w: it has %d bytes, a shard has 8 at least", converters.ErrTruncated, size), "")
	}
	if _, err := r.table.ReadAt(count[:], 0); err != nil {
		return r.fail(0, err, "")
	}
	if n := int64(binary.LittleEndian.Uint32(count[:])); n != s.Samples || 4*(n+2) > size {
		return r.fail(0, fmt.Errorf("%w: it has %d samples, index.json has %d", converters.ErrMalformed, n, s.Samples), "")
	}
	from := 4 * (s.Samples + 2)
	to, err := r.offset(0)
	if err != nil {
		return err
	}
	end, err := r.offset(s.Samples)
	if err != nil {
		return err
	}
	if to < from || to > size || end != size {
		return r.fail(4, fmt.Errorf("%w: samples from %d to %d in a shard of %d bytes", converters.ErrMalformed, to, end, size), "")
	}
	return r.checkConfig(from, to)
}

// checkConfig compares the columns in the configuration of the shard with those in index.json.
func (r *reader) checkConfig(from, to int64) error {
	if to-from > mostConfig {
		return r.fail(from, fmt.Errorf("%w: a configuration of %s", converters.ErrLimit, text.Count(to-from, "byte")), "")
	}
	b := make([]byte, to-from)
	if n, err := r.table.ReadAt(b, from); n < len(b) {
		return r.fail(from, err, "")
	}
	var config configJSON
	if err := json.Unmarshal(b, &config); err != nil {
		return r.fail(from, fmt.Errorf("%w: its configuration: %v", converters.ErrMalformed, checksum.Words(err)), "")
	}
	columns, err := config.columns()
	if err == nil && !slices.Equal(columns, r.shard.Columns) {
		err = fmt.Errorf("%w: its columns are not those of index.json", converters.ErrMalformed)
	}
	if err != nil {
		return r.fail(from, err, "")
	}
	return nil
}

// checkStored compares the compressed file, if it is local, with index.json.
func (r *reader) checkStored(ctx context.Context) error {
	zip := &r.shard.Zip
	if r.shard.Stored == "" || zip.Name == "" {
		return nil
	}
	f, err := files.Open(r.shard.Stored)
	if err != nil {
		return r.fail(-1, err, "")
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%w: the compressed file is not a regular file any more", converters.ErrChanged)
	}
	if err == nil && st.Size() != zip.Bytes {
		err = fmt.Errorf("%w: the compressed file has %d bytes, index.json has %d", converters.ErrMalformed, st.Size(), zip.Bytes)
	}
	if err == nil {
		if err = zip.compare(ctx, f, zip.Bytes); errors.Is(err, converters.ErrMalformed) {
			err = fmt.Errorf("the compressed file: %w", err)
		}
	}
	if err != nil {
		return r.fail(-1, err, "")
	}
	return nil
}

// offset returns the offset of sample i, which is also the end of sample i-1.
func (r *reader) offset(i int64) (int64, error) {
	at := i - r.first
	if at < 0 || 4*at >= int64(len(r.block)) {
		n := min(tableBlock, r.shard.Samples+1-i)
		if n < 1 || 4*(i+n)+4 > r.Size {
			return 0, r.fail(4, fmt.Errorf("%w: no offset %d", converters.ErrTruncated, i), "")
		}
		if int64(cap(r.block)) < 4*n {
			r.block = make([]byte, 4*n)
		}
		r.block = r.block[:4*n]
		if got, err := r.table.ReadAt(r.block, 4+4*i); got < len(r.block) {
			r.block = r.block[:0]
			return 0, r.fail(4+4*i, err, "")
		}
		r.first, at = i, 0
	}
	return int64(binary.LittleEndian.Uint32(r.block[4*at:])), nil
}
