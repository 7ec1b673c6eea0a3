package arrowipc

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// mostPadding is the largest alignment of messages in a file, bytes. Between two messages there are less.
const mostPadding = 64

// Members of a footer, and the size of a block of its lists (format/File.fbs): the offset of a message, the sizes of its metadata (int32,
// and 4 bytes of padding) and its body.
const (
	footerSchema       = 1
	footerDictionaries = 2
	footerBatches      = 3
	blockSize          = 24
)

// A block says where a message lies in a file.
type block struct{ off, meta, body int64 }

// end returns where the message ends.
func (b block) end() int64 { return b.off + b.meta + b.body }

// file reads the messages that the footer of a file names. The schema is that of the footer: some writers have no other.
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

// footer reads the footer. w.end becomes its offset.
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

// complete refuses blocks that overlap, and bytes between them that no block has: a batch that the footer has lost would be
// lost without a word.
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

// begin returns where the first dictionary or batch may begin: behind the schema, where there is one.
func (w *walker) begin() int64 {
	from := *w
	for _, from.off = range []int64{fileHead, mostPadding} { // some writers align the first message as the others
		m, f, err := from.message()
		if err == nil && m.size > 0 && f.number(1, 1, 0) == messageSchema {
			return m.End
		}
	}
	return fileHead
}
