package encode

import (
	"bytes"
	"encoding/binary"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// A FieldSize is the name of a field and the size of its encoded value, including its head.
type FieldSize struct {
	Name  string
	Bytes int64
}

// Describe returns the key ("" if there is none) and the fields of a record that this package has
// encoded in MessagePack or CBOR. For any other bytes ok is false.
func Describe(record []byte) (key string, fields []FieldSize, ok bool) {
	if len(record) == 0 {
		return "", nil, false
	}
	switch code := record[0]; {
	case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
		return describe(newMsgpackPairs(record))
	case code >= cborMap && code <= cborMap|27:
		return describe(newCBORPairs(record))
	}
	return "", nil, false
}

// pairs reads the entries of one encoded map.
type pairs interface {
	count() int           // number of entries
	text() (string, bool) // reads the next name or value, which must be text
	skip() bool           // skips the next value
	left() int            // bytes not yet read
}

func describe(p pairs) (key string, fields []FieldSize, ok bool) {
	n := p.count()
	for i := range n {
		name, ok := p.text()
		if !ok {
			return "", nil, false
		}
		if name == KeyField && i == 0 {
			if key, ok = p.text(); !ok {
				return "", nil, false
			}
			continue
		}
		left := p.left()
		if !p.skip() {
			return "", nil, false
		}
		fields = append(fields, FieldSize{name, int64(left - p.left())})
	}
	if n < 1 || p.left() > 0 {
		return "", nil, false
	}
	return key, fields, true
}

type msgpackPairs struct {
	r   *bytes.Reader
	dec *msgpack.Decoder
}

func newMsgpackPairs(record []byte) msgpackPairs {
	r := bytes.NewReader(record)
	return msgpackPairs{r, msgpack.NewDecoder(r)}
}

func (p msgpackPairs) left() int { return p.r.Len() }

func (p msgpackPairs) count() int {
	n, err := p.dec.DecodeMapLen()
	if err != nil {
		return 0
	}
	return n
}

func (p msgpackPairs) text() (string, bool) {
	if code, err := p.dec.PeekCode(); err != nil || !msgpcode.IsString(code) {
		return "", false
	}
	s, err := p.dec.DecodeString()
	return s, err == nil
}

// skip skips one value without recursion: the library's Skip recurses as deep as the record says.
func (p msgpackPairs) skip() bool {
	for values := 1; values > 0; values-- {
		code, err := p.dec.PeekCode()
		if err != nil {
			return false
		}
		n := 0
		switch {
		case msgpcode.IsFixedMap(code) || code == msgpcode.Map16 || code == msgpcode.Map32:
			n, err = p.dec.DecodeMapLen()
			n *= 2
		case msgpcode.IsFixedArray(code) || code == msgpcode.Array16 || code == msgpcode.Array32:
			n, err = p.dec.DecodeArrayLen()
		default:
			err = p.dec.Skip()
		}
		if values += n; err != nil || values > p.r.Len()+1 {
			return false
		}
	}
	return true
}

type cborPairs struct {
	rest []byte
	n    int
}

// newCBORPairs parses the head of a record that begins with a map of definite length.
func newCBORPairs(record []byte) *cborPairs {
	n, size := uint64(record[0]&31), 1
	if n >= 24 {
		size += 1 << (n - 24)
		if len(record) < size {
			return &cborPairs{}
		}
		var arg [8]byte
		copy(arg[9-size:], record[1:size])
		n = binary.BigEndian.Uint64(arg[:])
	}
	if n > uint64(len(record)) {
		return &cborPairs{}
	}
	return &cborPairs{record[size:], int(n)}
}

func (p *cborPairs) left() int  { return len(p.rest) }
func (p *cborPairs) count() int { return p.n }

func (p *cborPairs) text() (s string, ok bool) {
	if len(p.rest) == 0 || p.rest[0]&0xe0 != cborText {
		return "", false
	}
	ok = p.first(&s)
	return s, ok
}

func (p *cborPairs) skip() bool {
	var item cbor.RawMessage
	return p.first(&item)
}

func (p *cborPairs) first(into any) bool {
	rest, err := cbor.UnmarshalFirst(p.rest, into)
	p.rest = rest
	return err == nil
}
