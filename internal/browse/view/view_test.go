package view

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

func sampleOf(values ...converters.Value) *converters.Sample {
	s := &converters.Sample{Key: "k"}
	for i, v := range values {
		s.Fields = append(s.Fields, converters.Field{Name: string(rune('a' + i)), Value: v})
	}
	return s
}

func list(x ...any) []any { return x }

// Each row is a value and what a page says of it.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		value converters.Value
		want  Field
	}{
		{"int", converters.Int(-7), Field{Kind: kindValue, Type: "int", Text: "-7"}},
		{"float", converters.Float(2), Field{Kind: kindValue, Type: "float", Text: "2.0"}},
		{"null", converters.Nested(nil), Field{Kind: kindValue, Type: "null", Text: "null"}},
		{"bool", converters.Nested(true), Field{Kind: kindValue, Type: "bool", Text: "true"}},
		{"large", converters.Nested(uint64(1 << 63)), Field{Kind: kindValue, Type: "int", Text: "9223372036854775808"}},
		{"text", converters.Text([]byte("猫 a\u3000b\n")), Field{Kind: kindText, Type: "UTF-8 text", Text: "猫 a\u3000b\n", Size: 10}},
		{"bytes that are text", converters.Bytes([]byte("cat\r\n")), Field{Kind: kindText, Type: "UTF-8 text", Text: "cat\n", Size: 5}},
		{"empty bytes", converters.Bytes(nil), Field{Kind: kindHex, Type: "bytes"}},
		{"empty text", converters.Text(nil), Field{Kind: kindText, Type: "UTF-8 text"}},
		{"unread", converters.Opaque(9), Field{Kind: kindValue, Type: "bytes", Text: "not read", Size: 9}},
		{"markup", converters.Text([]byte("<script>alert(1)</script>")), Field{Kind: kindText, Type: "UTF-8 text", Text: "<script>alert(1)</script>", Size: 25}},
		{"SVG", converters.Bytes([]byte("<svg onload='alert(1)'/>")), Field{Kind: kindText, Type: "UTF-8 text", Text: "<svg onload='alert(1)'/>", Size: 24}},
		{"control", converters.Text([]byte("a\x00\x1b[2J\u202eb")), Field{Kind: kindText, Type: "UTF-8 text", Text: `a\x00\x1b[2J\u202eb`, Size: 10}},
		{"not UTF-8", converters.Text([]byte("a\xffb")), Field{Kind: kindText, Type: "UTF-8 text", Text: `a\xffb`, Size: 3}},
		{"JSON", converters.Bytes([]byte(`{"a":[1,{}, [ ]],"b":"x,\"{"}`)), Field{Kind: kindJSON, Type: "JSON", Size: 29,
			Text: "{\n  \"a\": [\n    1,\n    {},\n    []\n  ],\n  \"b\": \"x,\\\"{\"\n}"}},
		{"JSON, almost", converters.Bytes([]byte(`{"a":}`)), Field{Kind: kindText, Type: "UTF-8 text", Text: `{"a":}`, Size: 6}},
		{"bytes", converters.Bytes([]byte("\x00\x01~\x7f")), Field{Kind: kindHex, Type: "bytes", Size: 4, Hex: []HexLine{{"00000000", "00 01 7e 7f", "..~."}}}},
		{"PDF", converters.Bytes([]byte("%PDF-1.7\n\xff\xfe")), Field{Kind: kindHex, Type: "bytes", Size: 11, Hex: []HexLine{{"00000000", "25 50 44 46 2d 31 2e 37 0a ff fe", "%PDF-1.7..."}}}},
		{"picture", converters.Bytes(picturetest.GIF(2)), Field{Kind: KindImage, Type: "GIF", Width: 8, Height: 6, Media: "image/gif", Size: int64(len(picturetest.GIF(2)))}},
		{"bomb", converters.Bytes(picturetest.PNGOf(100_000, 100_000)), Field{Kind: KindImage, Type: "PNG", Width: 100_000, Height: 100_000, Size: int64(len(picturetest.PNGOf(1, 1))),
			Problem: "not decoded: the image is too large: 100000 × 100000, all in all 10000000000 pixels"}},
		{"numbers", converters.Nested(list(int64(1), 2.5)), Field{Kind: kindNumbers, Type: "numbers", Shape: "2", Table: [][]string{{"1", "2.5"}}}},
		{"rows of numbers", converters.Nested(list(list(int64(1), int64(2)), list(int64(3), int64(4)))), Field{Kind: kindNumbers, Type: "numbers", Shape: "2 × 2", Table: [][]string{{"1", "2"}, {"3", "4"}}}},
		{"two slices", converters.Nested(list(list(list(int64(1), int64(2))), list(list(int64(3), int64(4))))), Field{Kind: kindNumbers, Type: "numbers", Shape: "2 × 1 × 2", Table: [][]string{{"1", "2"}}, Cut: true}},
		{"column", converters.Nested(converters.Column{Type: "int64", Values: list(int64(1), int64(2))}), Field{Kind: kindNumbers, Type: "int64", Shape: "2", Table: [][]string{{"1", "2"}}}},
		{"ragged", converters.Nested(list(list(int64(1)), list())), Field{Kind: kindTree, Type: "list", Tree: &node{Type: "list", Count: 2, Children: []*node{
			{Key: "0", Type: "list", Count: 1, Children: []*node{{Key: "0", Type: "int", Text: "1"}}}, {Key: "1", Type: "list"}}}}},
		{"map", converters.Nested(converters.Map{{Key: "x\n", Value: []byte("ab")}, {Key: int64(3), Value: "t"}}), Field{Kind: kindTree, Type: "map", Tree: &node{Type: "map", Count: 2, Children: []*node{
			{Key: `x\n`, Type: "bytes", Text: "2 bytes: 61 62"}, {Key: "3", Type: "text", Text: "t"}}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.want.Name = "a"
			if got := Fields(sampleOf(row.value))[0]; show(got) != show(row.want) {
				t.Errorf("got  %s\nwant %s", show(got), show(row.want))
			}
		})
	}
}

func TestHex(t *testing.T) {
	t.Parallel()
	data := []byte(strings.Repeat("0123456789abcdef", 3))
	want := []HexLine{{"00000000", "30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66", "0123456789abcdef"}, {"00000010", "30", "0"}}
	if got := Hex(data, 17); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := Hex(data, 0); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if got := Hex(data, 1<<30); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// The card is of the picture; without one of the text.
func TestCard(t *testing.T) {
	t.Parallel()
	number, words, jpeg := converters.Int(3), converters.Text([]byte("a  cat\non "+strings.Repeat("x", 1000))), converters.Bytes(picturetest.JPEG(picturetest.Picture()))
	if c := CardOf(sampleOf(number, words, jpeg, jpeg)); c.Index != 2 || c.Field != "c" || c.Kind != KindImage {
		t.Errorf("%+v", c)
	}
	if c := CardOf(sampleOf(number, words)); c.Index != 1 || c.Kind != kindText || !strings.HasPrefix(c.Text, "a cat on xxx") || len([]rune(c.Text)) != maxCard {
		t.Errorf("%+v %d", c, len([]rune(c.Text)))
	}
	if c := CardOf(sampleOf(converters.Nested(list(1.5, 2.5)), number)); c.Index != 0 || c.Text != "2: 1.5 2.5" {
		t.Errorf("%+v", c)
	}
	if c := CardOf(sampleOf()); c.Index != -1 {
		t.Errorf("%+v", c)
	}
}

// show returns a field as text, trees too.
func show(f Field) string {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	return string(b)
}
