package filter

import (
	"bufio"
	"io"

	"github.com/ffconvert/ffconvert/internal/heads"
)

// A head is the head of a CBOR item of an answer, with its bytes.
type head struct {
	heads.Head
	raw [heads.Max]byte // the first Size bytes are set
}

// readHead reads a head, or io.EOF before its first byte.
func readHead(in *bufio.Reader) (h head, err error) {
	first, err := in.ReadByte()
	if err != nil {
		return h, err
	}
	h.raw[0] = first
	if _, err := io.ReadFull(in, h.raw[1:heads.CBOR.Of(first).Size]); err != nil {
		return h, cut(err)
	}
	h.Head = heads.CBOR.Parse(h.raw[:])
	switch {
	case h.Kind == heads.Simple && h.Size == 2 && h.Arg < 32:
		return h, malformed("an answer has a simple value of two bytes, %d, which must have one", h.Arg)
	case h.Kind == heads.Reserved:
		return h, malformed("an answer has the byte %#02x where an item must begin", first)
	}
	return h, nil
}

// isOpen reports whether the item is an array or a map of indefinite length.
func (h head) isOpen() bool { return h.Kind == heads.OpenArray || h.Kind == heads.OpenMap }

func (h head) isMap() bool { return h.Kind == heads.Map || h.Kind == heads.OpenMap }

func (h head) isArray() bool { return h.Kind == heads.Array || h.Kind == heads.OpenArray }

func (h head) name() string {
	switch h.Kind {
	case heads.Uint, heads.Negative:
		return "an integer"
	case heads.Bytes, heads.ChunkedBytes:
		return "a byte string"
	case heads.Text, heads.ChunkedText:
		return "a text"
	case heads.Array, heads.OpenArray:
		return "an array"
	case heads.Map, heads.OpenMap:
		return "a map"
	case heads.Tag:
		return "a tag"
	}
	return "a simple value or a float"
}
