package input

import (
	"bytes"
	"errors"
	"io"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// mostItems is the number of items that are parsed.
const mostItems = 256

// items distinguishes CBOR from MessagePack. If head is valid in both formats, items chooses the one in which the first
// item is a map with a text key, then the format of the name's extension. The extension of a table or of JSON Lines
// decides alone: all ASCII bytes are valid MessagePack, so the file is damaged text, or text in another encoding.
func items(name string, head []byte, cut bool) []Kind {
	by := KindOfName(name)
	if len(by) == 1 && (by[0].Format == "csv" || by[0].Format == "jsonl") {
		return by
	}
	isCBOR, isMap := cborItems(head, cut)
	isPack, isPackMap := msgpackItems(head, cut)
	if isCBOR && isPack && isMap != isPackMap {
		isCBOR, isPack = isMap, isPackMap
	}
	var found []Kind
	if isCBOR {
		found = append(found, cborKind)
	}
	if isPack {
		found = append(found, msgpackKind)
	}
	switch {
	case len(found) == 2 && len(by) == 1 && by[0].Format == "cbor":
		return by
	case len(by) == 0 && !(isCBOR && isMap) && !(isPack && isPackMap) && isEncodedText(head):
		found = append(found, Kind{ID: "encoded", What: "text in another encoding than UTF-8"})
	}
	return found
}

// cborItems reports whether head is a sequence of CBOR items, and whether the first one is a map with a text key.
// If cut is set the last item may be incomplete.
func cborItems(head []byte, cut bool) (ok, textMap bool) {
	key := head[1:]
	textMap = head[0] > 0xa0 && head[0] < 0xb8 && len(key) > 0 && key[0] >= 0x60 && key[0] <= 0x7b
	n := 0
	for ; len(head) > 0 && n < mostItems; n++ {
		var item cbor.RawMessage
		rest, err := cbor.UnmarshalFirst(head, &item)
		switch {
		case err == nil:
		case cut && errors.Is(err, io.ErrUnexpectedEOF):
			return n > 0 || textMap, textMap
		default:
			return false, false
		}
		head = rest
	}
	return true, textMap
}

// msgpackItems does for MessagePack what cborItems does for CBOR.
func msgpackItems(head []byte, cut bool) (ok, textMap bool) {
	textMap = head[0] > 0x80 && head[0] < 0x90 && len(head) > 1 && msgpcode.IsString(head[1])
	r := bytes.NewReader(head)
	dec := msgpack.NewDecoder(r)
	n := 0
	for ; r.Len() > 0 && n < mostItems; n++ {
		switch err := skipItem(dec, r); {
		case err == nil:
		case cut && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
			return n > 0 || textMap, textMap
		default:
			return false, false
		}
	}
	return true, textMap
}

// skipItem skips one object without recursion; the library's Skip recurses.
func skipItem(dec *msgpack.Decoder, r *bytes.Reader) error {
	for values := 1; values > 0; values-- {
		code, err := dec.PeekCode()
		if err != nil {
			return err
		}
		n := 0
		switch {
		case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
			n, err = dec.DecodeMapLen()
			n *= 2
		case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
			n, err = dec.DecodeArrayLen()
		case msgpcode.IsBin(code) || msgpcode.IsString(code):
			var size int
			if size, err = dec.DecodeBytesLen(); err == nil && size > r.Len() {
				return io.ErrUnexpectedEOF
			}
			if err == nil {
				_, err = r.Seek(int64(size), io.SeekCurrent)
			}
		default:
			err = dec.Skip()
		}
		if values += n; err != nil {
			return err
		}
		if values > r.Len()+1 {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}
