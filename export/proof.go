package export

import (
	"bytes"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
)

// A proof determines whether converting the exported files gives the original records again: with the
// files as bytes (plain), or with Options.Decode (decoded). It is for one goroutine.
type proof struct {
	plain, decoded bool // true until an added sample differs

	record *encode.Encoder    // encodes samples
	files  [2]*encode.Encoder // encode files: plain, decoded
	again  converters.Sample
}

// newProof returns a proof for records with these encoding options. After an error it proves nothing.
func newProof(opts encode.Options) (*proof, error) {
	p := &proof{plain: true, decoded: true}
	for i, decode := range []bool{false, false, true} {
		spec, err := encode.Parse(encode.Options{Encoding: opts.Encoding, Decode: decode, Limits: opts.Limits})
		if err != nil {
			return &proof{}, err
		}
		if i == 0 {
			p.record = spec.NewEncoder()
		} else {
			p.files[i-1] = spec.NewEncoder()
		}
	}
	return p, nil
}

// add compares the record of s with the record of its files. key is the key of the files, and files has the
// fields with the contents of the files as bytes.
func (p *proof) add(s *converters.Sample, key string, files []converters.Field) {
	if !p.plain && !p.decoded || allFiles(s, key) {
		return
	}
	original, err := p.record.Encode(s)
	if err != nil {
		p.plain, p.decoded = false, false
		return
	}
	p.again = converters.Sample{Key: key, Fields: files}
	p.plain = p.plain && p.same(p.files[0], original)
	p.decoded = p.decoded && p.same(p.files[1], original)
}

// allFiles reports whether the files of s with this key have the same fields as s, decoded or not. Then the
// records are the same.
func allFiles(s *converters.Sample, key string) bool {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Value.Kind() != converters.KindBytes || decode.Decodable(f.Name) {
			return false
		}
	}
	return s.Key == key
}

func (p *proof) same(enc *encode.Encoder, original *encode.Record) bool {
	now, err := enc.Encode(&p.again)
	return err == nil && now.Size == original.Size && samePieces(now.Parts, original.Parts)
}

// samePieces compares concatenated pieces. It does not read pieces that are the same memory.
func samePieces(a, b [][]byte) bool {
	var x, y []byte
	for {
		for len(x) == 0 && len(a) > 0 {
			x, a = a[0], a[1:]
		}
		for len(y) == 0 && len(b) > 0 {
			y, b = b[0], b[1:]
		}
		n := min(len(x), len(y))
		if n == 0 {
			return len(x) == len(y)
		}
		if !bytes.Equal(x[:n], y[:n]) {
			return false
		}
		x, y = x[n:], y[n:]
	}
}
