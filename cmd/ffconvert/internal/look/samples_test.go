package look

import (
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
)

func TestData(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		v    converters.Value
		want string
	}{
		{converters.Bytes([]byte{0, 255}), "\x00\xff"},
		{converters.Text([]byte("grüß\n")), "grüß\n"},
		{converters.Int(-7), "-7"},
		{converters.Float(3), "3.0"},
		{converters.Float(math.Inf(1)), "inf"},
		{converters.Nested([]any{int64(1), "x"}), `[1,"x"]`},
	} {
		got, err := fieldData(&row.v)
		if err != nil || string(got) != row.want || size(&row.v) != int64(len(row.want)) {
			t.Errorf("%q, %v, %d bytes; want %q", got, err, size(&row.v), row.want)
		}
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": true, "grüß\r\n\t": true, "\x1b[2J": false, "\xff": false, "\u009b": false, "\x7f": false, "a\x00": false} {
		if readable([]byte(text)) != want {
			t.Errorf("%q: %t", text, !want)
		}
	}
}

// Names cannot control a terminal, in either form.
func TestLine(t *testing.T) {
	t.Parallel()
	s := &converters.Sample{Fields: []converters.Field{{Name: "f\x1b\n", Value: converters.Int(7)}}}
	for _, json := range []bool{false, true} {
		line := string(appendLine(nil, &lookup.Row{Number: 3, Key: "a\x1b\u009b\nb", Placed: true}, s, json))
		if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\x1b\u009b") {
			t.Errorf("%q", line)
		}
	}
	r := &lookup.Row{Number: 3, Key: "a b", Label: -2, Labeled: true}
	r.At.Size = 1024
	if got, want := string(appendLine(nil, r, nil, false)), "        1024  a b  label=-2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
