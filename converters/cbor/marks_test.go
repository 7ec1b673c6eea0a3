package cbor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
)

// A wire writes items.
type wire struct {
	pack    bool
	marshal func(any) ([]byte, error)
}

var wires = []wire{{false, cbor.Marshal}, {true, msgpack.Marshal}}

func (w wire) item(t *testing.T, v any) []byte {
	t.Helper()
	b, err := w.marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w wire) end(t *testing.T, before []byte, n int) []byte {
	t.Helper()
	sum := sha256.Sum256(before)
	return slices.Concat(before, w.item(t, map[string]any{"__end__": map[string]any{"count": n, "sha256": hex.EncodeToString(sum[:])}}))
}

// index returns the first bytes of the fields of each sample of a stream, as Index and Read have them.
func (w wire) read(t *testing.T, opts Options, data []byte) ([]content, error) {
	t.Helper()
	opts.MessagePack = w.pack
	src := memory(opts, data)
	var run converters.Run
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			return nil, err
		}
		if run.Count++; run.Count == 1 {
			run.Off = span.Off
		}
	}
	var all []content
	for s, err := range src.Read(t.Context(), run) {
		if err != nil {
			t.Fatalf("Read refuses what Index accepts: %v", err)
		}
		c := contentOf(s)
		c.off -= run.Off
		all = append(all, c)
	}
	return all, nil
}

// A stream with marks has the samples of the stream without them, as items and as fields; one whose marks say something
// else is refused.
func TestMarks(t *testing.T) {
	t.Parallel()
	malformed, truncated := converters.ErrMalformed, converters.ErrTruncated
	for _, w := range wires {
		begin := w.item(t, map[string]any{"__begin__": map[string]any{}})
		bare := w.item(t, map[string]any{"__end__": map[string]any{}})
		var samples []byte
		const n = 70 // patterns are learned
		for i := range n {
			samples = append(samples, w.item(t, map[string]any{"_______": map[string]any{}, "x": bytes.Repeat([]byte{byte(i)}, 3000*(i%2))})...)
			samples = append(samples, w.item(t, map[string]any{"_______": map[string]any{}})...)
		}
		begun := slices.Concat(begin, samples)
		whole := w.end(t, begun, 2*n)
		flipped := bytes.Clone(whole)
		flipped[len(begin)+len(samples)/2] ^= 1
		for _, row := range []struct {
			name     string
			data     []byte
			optional error // without Options.RequireEnd
			required error
			text     string
		}{
			{"no mark", samples, nil, truncated, "140 samples and no end mark"},
			{"both", whole, nil, nil, ""},
			{"an end", w.end(t, samples, 2*n), nil, nil, ""},
			{"an end that says nothing", slices.Concat(samples, bare), nil, nil, ""},
			{"a begin alone", begun, truncated, truncated, "did not finish"},
			{"more counted", w.end(t, begun, 2*n+1), malformed, malformed, "counts \"141\" samples, before it there are 140"},
			{"a bit differs", flipped, malformed, malformed, ""},
			{"a sample after the end", slices.Concat(whole, w.item(t, 1)), malformed, malformed, "a sample after the end mark"},
			{"two ends", slices.Concat(whole, bare), malformed, malformed, "a mark after the end mark"},
			{"two streams", slices.Concat(whole, whole), malformed, malformed, "a mark after the end mark"},
			{"two streams, the first was killed", slices.Concat(begun, whole), malformed, malformed, "a begin mark after 140 samples"},
			{"a mark that is a number", w.item(t, map[string]any{"__end__": 2}), malformed, malformed, "not a map"},
		} {
			for _, opts := range []Options{{}, {Items: true}, {RequireEnd: true}, {Items: true, RequireEnd: true}} {
				refused := row.optional
				if opts.RequireEnd {
					refused = row.required
				}
				got, err := w.read(t, opts, row.data)
				if refused != nil {
					if !errors.Is(err, refused) || !strings.Contains(err.Error(), row.text) {
						t.Errorf("%s, %+v: %v, want %v: %s", row.name, opts, err, refused, row.text)
					}
					continue
				}
				opts.RequireEnd = false
				want, wantErr := w.read(t, opts, samples)
				if err != nil || wantErr != nil || len(got) != 2*n || !slices.EqualFunc(got, want, sameContent) {
					t.Errorf("%s, %+v: %d samples, %v", row.name, opts, len(got), err)
				}
			}
		}
		short := w.end(t, slices.Concat(begin, w.item(t, map[string]any{"a": 1}), w.item(t, "b")), 2)
		for cut := 1; cut < len(short); cut++ {
			if got, err := w.read(t, Options{Items: true}, short[:cut]); err == nil {
				t.Errorf("cut at %d of %d: %v is accepted", cut, len(short), got)
			}
		}
	}
}

// Marks of other writers: of indefinite length, with longer heads, tagged as CBOR.
func TestMarkHeads(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{
		"\xbf\x67__end__\xa0\xff", "\xb8\x01\x67__end__\xa0", "\xa1\x78\x07__end__\xbf\xff", "\xd9\xd9\xf7\xa1\x67__end__\xa0", "\xa1\x67__end__\xa1\x65count\x01",
	} {
		for _, items := range []bool{false, true} {
			got, err := wires[0].read(t, Options{Items: items, RequireEnd: true}, []byte("\x07"+mark))
			if err != nil || len(got) != 1 {
				t.Errorf("%q: %v, %v", mark, got, err)
			}
		}
	}
	// What is not a map of this one entry is a sample.
	for _, item := range []string{"\xa2\x67__end__\xa0\x61x\x01", "\xa1\x67__end\xc3\xa9\xa0", "\xa1\x61x\xa1\x67__end__\xa0", "\x81\xa1\x67__end__\xa0", "\xa1\x41x\xa0", "\xbf\xff", "\xa0"} {
		got, err := wires[0].read(t, Options{Items: true}, []byte(item))
		if err != nil || len(got) != 1 {
			t.Errorf("%q: %v, %v", item, got, err)
		}
	}
	for _, mark := range []string{"\xbf\x67__end__\xa0\x61x\x01\xff", "\xbf\x67__end__\xa0\x67__end__\xa0\xff"} {
		if got, err := wires[0].read(t, Options{Items: true}, []byte(mark)); err == nil {
			t.Errorf("%q is accepted: %v", mark, got)
		}
	}
}
