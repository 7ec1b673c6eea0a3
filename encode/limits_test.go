package encode

import (
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Limits move what is decoded, and nothing else: a record is the same under any that
// admit it.
func TestLimits(t *testing.T) {
	t.Parallel()
	list := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for _, row := range []struct {
		name   string
		limits Limits
		field  converters.Field
		hint   string // the limit in the hint; "": accepted
	}{
		{"at the limit", Limits{MaxDecode: 8}, field("json", "12345678"), ""},
		{"over it", Limits{MaxDecode: 8}, field("json", "123456789"), "Limits.MaxDecode"},
		{"over it, not read", Limits{MaxDecode: 8}, converters.Field{Name: "mp", Value: converters.Opaque(9)}, "Limits.MaxDecode"},
		{"text has none", Limits{MaxDecode: 8}, field("txt", "123456789"), ""},
		{"bytes have none", Limits{MaxDecode: 8}, field("jpg", "123456789"), ""},
		{"depth by default", Limits{}, field("json", list(33)), "Limits.MaxDepth"},
		{"deeper", Limits{MaxDepth: 33}, field("json", list(33)), ""},
		{"deeper, of CBOR", Limits{MaxDepth: 33}, field("cbor", strings.Repeat("\x81", 33)+"\x01"), ""},
		{"deeper, of MessagePack", Limits{MaxDepth: 33}, field("mp", strings.Repeat("\x91", 33)+"\x01"), ""},
		{"flatter", Limits{MaxDepth: 4}, field("json", list(5)), "Limits.MaxDepth"},
		{"flatter, of CBOR", Limits{MaxDepth: 4}, field("cbor", strings.Repeat("\x81", 5)+"\x01"), "Limits.MaxDepth"},
		{"flatter, of MessagePack", Limits{MaxDepth: 4}, field("mp", strings.Repeat("\x91", 5)+"\x01"), "Limits.MaxDepth"},
		{"deepest", Limits{MaxDepth: mostDepth}, field("json", list(mostJSONDepth)), ""},
		{"deepest, and one more", Limits{MaxDepth: mostDepth}, field("json", list(mostJSONDepth+1)), undecoded},
		{"deepest, of CBOR", Limits{MaxDepth: mostDepth}, field("cbor", strings.Repeat("\x81", mostDepth)+"\x01"), ""},
	} {
		_, err := newEncoder(t, Options{Decode: true, Limits: row.limits}).Encode(&converters.Sample{Fields: []converters.Field{row.field}})
		if (err == nil) != (row.hint == "") || err != nil && (!errors.Is(err, converters.ErrLimit) || !strings.Contains(Hint(err), row.hint)) {
			t.Errorf("%s: %.200v, want %q", row.name, err, row.hint)
		}
	}
}

// A limit that is the default leaves no trace in the options, and one that cannot be kept
// is refused.
func TestLimitsOptions(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		given, want Limits
		refused     bool
	}{
		{Limits{}, Limits{}, false},
		{Limits{MaxDecode: DefaultMaxDecode, MaxDepth: DefaultMaxDepth}, Limits{}, false},
		{Limits{MaxDecode: DefaultMaxDecode, MaxDepth: 40}, Limits{MaxDepth: 40}, false},
		{Limits{MaxDecode: 1}, Limits{MaxDecode: 1}, false},
		{given: Limits{MaxDecode: -1}, refused: true},
		{given: Limits{MaxDepth: -1}, refused: true},
		{given: Limits{MaxDepth: 3}, refused: true},
		{given: Limits{MaxDepth: 65536}, refused: true},
	} {
		spec, err := Parse(Options{Limits: row.given})
		if (err != nil) != row.refused || err == nil && spec.Options().Limits != row.want {
			t.Errorf("%+v: %+v, error %v", row.given, spec, err)
		}
	}
}
