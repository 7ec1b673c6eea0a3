package filter

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// Answers that are taken are well-formed for another library, with as many bytes; what is kept of them is their samples, each with
// a key.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		"\x80", "\xa0", "\x81\xa1\x61a\x01", "\x82\xa0\xa0", "\x9f\xbf\x61a\x7f\x61b\xff\xff\xff", "\xa1\x67__key__\x61k", "\xb8\x01\x61a\xfb\x00\x00\x00\x00\x00\x00\x00\x00",
		"\xa1\x61a\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", "\xa1\x61a\xc1\x81\xf6", "\xa1\x61a\xf8\x0e", "\x81\x01", "\xff", "\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		f.Add([]byte(seed), "k")
		f.Add([]byte(seed), "")
	}
	mode, err := cbor.DecOptions{MaxNestedLevels: 65535, MaxArrayElements: 1<<31 - 1, MaxMapPairs: 1<<31 - 1, UTF8: cbor.UTF8DecodeInvalid}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, key string) {
		in, out := bytes.NewReader(data), new(bytes.Buffer)
		s := &splitter{in: bufio.NewReaderSize(in, 16), out: bufio.NewWriter(out), max: 1 << 20}
		samples, err := s.answer(key)
		if err != nil {
			return
		}
		s.out.Flush()
		left := in.Len() + s.in.Buffered()
		var raw cbor.RawMessage
		rest, err := mode.UnmarshalFirst(data, &raw)
		if err != nil || len(rest) != left {
			t.Fatalf("%x: %d bytes are left, another library leaves %d (%v)", data, left, len(rest), err)
		}
		kept := out.Bytes()
		for range samples {
			if kept, err = mode.UnmarshalFirst(kept, &raw); err != nil || !(head{Head: heads.CBOR.Of(raw[0])}).isMap() {
				t.Fatalf("%x became %x: %v", data, out.Bytes(), err)
			}
			if key != "" && !bytes.Contains(raw, []byte(converters.KeyField)) {
				t.Errorf("%x became %x without a key", data, raw)
			}
		}
		if len(kept) > 0 {
			t.Errorf("%x became %x: more than %d samples", data, out.Bytes(), samples)
		}
	})
}
