package view

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// grow makes a nested value of bytes: each says what comes next. It returns the bytes that are left.
func grow(b []byte, depth int) (any, []byte) {
	if len(b) == 0 || depth > 200 {
		return nil, nil
	}
	kind, b := b[0], b[1:]
	n := int(kind >> 3)
	switch kind & 7 {
	case 0:
		return int64(int8(kind)), b
	case 1:
		return float64(n) / 3, b
	case 2:
		n = min(n, len(b))
		return string(b[:n]), b[n:]
	case 3:
		n = min(n, len(b))
		return b[:n], b[n:]
	case 4:
		return []any{nil, true, uint64(1 << 63), int64(-1)}[n&3], b
	case 5:
		m := make(converters.Map, n&7)
		for i := range m {
			m[i].Key, b = grow(b[:min(len(b), 1)], 201)
			m[i].Value, b = grow(b, depth+1)
		}
		return m, b
	}
	list := make([]any, n)
	for i := range list {
		list[i], b = grow(b, depth+1)
	}
	if kind == 0xff {
		return converters.Column{Type: "x", Values: list}, b
	}
	return list, b
}

// FuzzFields: whatever a sample holds, what is shown is bounded and has no character that cannot be seen; what a page may show is on the list; JSON is what
// it was.
func FuzzFields(f *testing.F) {
	for _, seed := range [][]byte{
		nil, []byte("a\r\n\u202e\x00"), []byte(`{"a":[1,{},[[]],"\"]"]}`), []byte(mp3), []byte(page("OpusHead")), picturetest.GIF(1), picturetest.PNGOf(1e5, 1e5), picturetest.WebP(),
		npy("<f4", true, "(2, 1, 2)", []float32{1, 2, 3, 4}), npy("|O", false, "(1,)", []byte{1}), {0x1e, 0x1e, 0, 1, 0, 0x1e, 8, 0, 16}, {0x2d, 10, 2, 'a', 0xff, 0}, bytes.Repeat([]byte{0x0e}, 300),
	} {
		f.Add(seed, "a.json", uint16(4096))
		f.Add(seed, "", uint16(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, name string, most uint16) {
		nested, _ := grow(data, 0)
		s := &converters.Sample{Fields: []converters.Field{
			{Name: name, Value: converters.Bytes(data)}, {Name: name, Value: converters.Text(data)}, {Name: name, Value: converters.Nested(nested)}, {Name: name, Value: converters.ValueOf(nested)},
		}}
		check(t, Fields(s), CardOf(s))
		small := fieldsOf(s, bounds{Text: int(most), All: int(most) * 2, Nodes: 9, Rows: 2, Columns: 2, Hex: 20})
		check(t, small, Card{})
		for i, g := range small {
			if limit := max(1, int(most)); most > 0 && len(g.Text) > 2*limit && g.Kind != kindValue || len(g.Table) > 2 || len(g.Hex) > 2 {
				t.Errorf("field %d is shown with %d bytes, %d rows, %d lines", i, len(g.Text), len(g.Table), len(g.Hex))
			}
		}
		contentType, inline := Media(data)
		if allowed := slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp", "audio/wav", "audio/mpeg", "audio/flac", "audio/ogg", "audio/mp4", "video/mp4", "video/webm", "video/ogg"}, contentType); allowed != inline || !inline && contentType != "application/octet-stream" {
			t.Errorf("%s, %v", contentType, inline)
		}
		if json.Valid(data) {
			got, cut := indent(data, 1<<30)
			var want, back bytes.Buffer
			if json.Compact(&want, data) != nil || json.Compact(&back, got) != nil || want.String() != back.String() || cut {
				t.Errorf("indented as %q", got)
			}
		}
	})
}
