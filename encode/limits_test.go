package encode

import (
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Limits move what is decoded, and nothing else: a record is the same under any that
// admit it.
func TestLimits(t *testing.T) {
	t.Parallel()
	list := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, row := range []struct {
		name   string
		limits decode.Limits
		field  converters.Field
		hint   string // the limit in the hint; "": accepted
	}{
		{"at the limit", decode.Limits{MaxDecode: 8}, field("json", "12345678"), ""},
		{"over it", decode.Limits{MaxDecode: 8}, field("json", "123456789"), "option max-decode-size"},
		{"over it, not read", decode.Limits{MaxDecode: 8}, converters.Field{Name: "mp", Value: converters.Opaque(9)}, "option max-decode-size"},
		{"text has none", decode.Limits{MaxDecode: 8}, field("txt", "123456789"), ""},
		{"bytes have none", decode.Limits{MaxDecode: 8}, field("jpg", "123456789"), ""},
		{"depth by default", decode.Limits{}, field("json", list(33)), "option max-decode-depth"},
		{"deeper", decode.Limits{MaxDepth: 33}, field("json", list(33)), ""},
		{"deeper, of CBOR", decode.Limits{MaxDepth: 33}, field("cbor", strings.Repeat("\x81", 33)+"\x01"), ""},
		{"deeper, of MessagePack", decode.Limits{MaxDepth: 33}, field("mp", strings.Repeat("\x91", 33)+"\x01"), ""},
		{"flatter", decode.Limits{MaxDepth: 4}, field("json", list(5)), "option max-decode-depth"},
		{"flatter, of CBOR", decode.Limits{MaxDepth: 4}, field("cbor", strings.Repeat("\x81", 5)+"\x01"), "option max-decode-depth"},
		{"flatter, of MessagePack", decode.Limits{MaxDepth: 4}, field("mp", strings.Repeat("\x91", 5)+"\x01"), "option max-decode-depth"},
		{"deepest", decode.Limits{MaxDepth: 1<<16 - 1}, field("json", list(10_000)), ""},
		{"deepest, and one more", decode.Limits{MaxDepth: 1<<16 - 1}, field("json", list(10_000+1)), "without option decode it stays bytes"},
		{"deepest, of CBOR", decode.Limits{MaxDepth: 1<<16 - 1}, field("cbor", strings.Repeat("\x81", 1<<16-1)+"\x01"), ""},
	} {
		_, err := newEncoder(t, Options{Decode: true, Limits: row.limits}).Encode(&converters.Sample{Fields: []converters.Field{row.field}})
		if (err == nil) != (row.hint == "") || err != nil && (!errors.Is(err, converters.ErrLimit) || !strings.Contains(place.HintOf(err), row.hint)) {
			t.Errorf("%s: %.200v, want %q", row.name, err, row.hint)
		}
	}
}

// A limit that is the default leaves no trace in the options, and one that cannot be kept
// is refused.
func TestLimitsOptions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		given, want decode.Limits
		refused     bool
	}{
		{decode.Limits{}, decode.Limits{}, false},
		{decode.Limits{MaxDecode: decode.DefaultMaxDecode, MaxDepth: decode.DefaultMaxDepth}, decode.Limits{}, false},
		{decode.Limits{MaxDecode: decode.DefaultMaxDecode, MaxDepth: 40}, decode.Limits{MaxDepth: 40}, false},
		{decode.Limits{MaxDecode: 1}, decode.Limits{MaxDecode: 1}, false},
		{given: decode.Limits{MaxDecode: -1}, refused: true},
		{given: decode.Limits{MaxDepth: -1}, refused: true},
		{given: decode.Limits{MaxDepth: 3}, refused: true},
		{given: decode.Limits{MaxDepth: 65536}, refused: true},
	} {
		spec, err := Parse(Options{Limits: row.given})
		if (err != nil) != row.refused || err == nil && spec.Options().Limits != row.want {
			t.Errorf("%+v: %+v, error %v", row.given, spec, err)
		}
	}
}
