package arrowipc

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// mostPadding is the largest alignment of messages in a file, in bytes. The gap between two messages is smaller.
const mostPadding = 64

// Members of a footer, and the size of a block of its lists (format/File.fbs): the offset of a message, the sizes of its metadata (int32,
// and 4 bytes of padding) and its body.
const (
	footerSchema       = 1
	footerDictionaries = 2
	footerBatches      = 3
	blockSize          = 24
)

// A block is the place of a message in a file: its offset and the sizes of metadata and body, in bytes.
type block struct{ off, meta, body int64 }

// end returns the offset of the end of the message.
func (b block) end() int64 { return b.off + b.meta + b.body }

// file reads the messages that the footer of a file lists. It uses the schema in the footer: some writers omit the other.
func (w *walker) file() error {
	footer, err := w.footer()
	if err != nil {
		return err
	}
	schema, ok := footer.table(footerSchema)
	if !ok {
		return fmt.Errorf("%w: no schema", converters.ErrMalformed)
	}
	if w.t.Schema, err = readSchema(schema); err != nil {
		return err
	}
	w.t.Bytes += int64(len(footer.b))
	lists := [2][]block{}
	for i := range lists { // dictionaries, batches
		footer.list(int64(footerDictionaries+i), blockSize, func(e flat) {
			lists[i] = append(lists[i], block{e.i64(e.at), int64(int32(e.u32(e.at + 8))), e.i64(e.at + 16)})
		})
	}
	if *footer.err != nil {
		return fmt.Errorf("%w: %w", converters.ErrMalformed, *footer.err)
	}
	if err := w.complete(slices.Concat(lists[0], lists[1])); err != nil {
		return err
	}
	w.what, w.t.End = "", w.end
	for i, list := range lists {
		for _, b := range list {
			w.off, w.end = b.off, b.end()
			m, f, err := w.message()
			if err != nil {
				return err
			}
			if m.size == 0 || m.body != b.off+b.meta || m.End != b.end() || f.number(1, 1, 0) != int64(messageDictionary+i) {
				return fmt.Errorf("%w: it is not as the footer says", converters.ErrMalformed)
			}
			if err := w.add(f, m); err != nil {
				return err
			}
			w.n++
		}
	}
	return nil
}

// footer reads the footer, and sets w.end to its offset.
func (w *walker) footer() (flat, error) {
	w.what = "footer"
	size := w.end
	if w.off = size; size < fileHead+fileTail {
		return flat{}, fmt.Errorf("%w: it has %d bytes, an Arrow file at least %d", converters.ErrTruncated, size, fileHead+fileTail)
	}
	var tail [fileTail]byte
	w.off = size - fileTail
	if err := readFull(w.r, tail[:], w.off); err != nil {
		return flat{}, err
	}
	if string(tail[4:]) != magic {
		return flat{}, fmt.Errorf("%w: it does not end with %s", converters.ErrTruncated, magic)
	}
	n := int64(int32(binary.LittleEndian.Uint32(tail[:])))
	if n <= 0 || n > w.off-fileHead || n > mostMeta {
		return flat{}, fmt.Errorf("%w: a footer of %d bytes in a file of %d", converters.ErrMalformed, n, size)
	}
	w.off -= n
	w.end = w.off
	b := make([]byte, n)
	if err := readFull(w.r, b, w.off); err != nil {
		return flat{}, err
	}
	return flatRoot(b), nil
}

// complete refuses blocks that overlap, and gaps of mostPadding bytes or more: a batch that the footer omits would be lost
// silently.
func (w *walker) complete(blocks []block) error {
	slices.SortFunc(blocks, func(a, b block) int { return int(min(max(a.off-b.off, -1), 1)) })
	at := w.begin()
	for _, b := range append(blocks, block{off: w.end}) {
		switch {
		case b.off < at || b.meta < 0 || b.body < 0 || b.meta > w.end-b.off || b.body > w.end-b.off-b.meta:
			return fmt.Errorf("%w: a message of %d and %d bytes at %d, behind %d", converters.ErrMalformed, b.meta, b.body, b.off, at)
		case b.off-at >= mostPadding:
			return fmt.Errorf("%w: it names no message in the %d bytes at %d", converters.ErrMalformed, b.off-at, at)
		}
		at = b.end()
	}
	return nil
}

// begin returns the least offset of a dictionary or batch: the end of the schema message, if the file has one.
func (w *walker) begin() int64 {
	from := *w
	for _, from.off = range []int64{fileHead, mostPadding} { // some writers align the first message to 64 bytes
		m, f, err := from.message()
		if err == nil && m.size > 0 && f.number(1, 1, 0) == messageSchema {
			return m.End
		}
	}
	return fileHead
}
