package jsonl

import (
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

func TestRefuse(t *testing.T) {
	t.Parallel()
	malformed, truncated, unsupported, limit := converters.ErrMalformed, converters.ErrTruncated, converters.ErrUnsupported, converters.ErrLimit
	for _, row := range []struct {
		name, data string
		want       error
		off        int64  // of the error
		entry      string // "line 2"
		text, hint string
	}{
		{"a list", "{}\n[1]\n", malformed, 3, "line 2", "it is a list, an object is expected", ""},
		{"a JSON list", "[\n{}\n]\n", malformed, 2, "line 1", "ends too early", "jq"},
		{"a JSON list on a line", "[{}, {}]\n", malformed, 0, "line 1", "it is a list", "jq"},
		{"a text", "\"x\"\n", malformed, 0, "line 1", "it is a text", ""},
		{"a number", " 17\n", malformed, 0, "line 1", "it is a number", ""},
		{"null", "{}\n{}\n\nnull", malformed, 7, "line 4", "it is null", ""},
		{"true", "true", malformed, 0, "line 1", "it is a truth value", ""},
		{"no JSON", "{}\nhello\n", malformed, 3, "line 2", "bad JSON", ""},
		{"two objects", "{\"a\": 1} {}\n", malformed, 8, "line 1", "there is more after the JSON value", ""},
		{"objects over several lines", "{\"a\":\n1}\n", malformed, 6, "line 1", "ends too early", "jq -c . "},
		{"a comma", "{\"a\": 1,}\n", malformed, 7, "line 1", "bad JSON", ""},
		{"cut in a text", "{}\n{\"a\": \"x", truncated, 11, "line 2", "the last line is not complete", ""},
		{"cut in a literal", "{}\n{\"a\": tru", truncated, 12, "line 2", "the last line is not complete", ""},
		{"cut behind the brace", "{}\n{", truncated, 4, "line 2", "the last line is not complete", ""},
		{"a name twice", `{"a": 1, "b": {"c": 1, "c": 2}}`, malformed, 23, "line 1", `the key "c" comes twice`, ""},
		{"a field twice", `{"a": 1, "\u0061": 2}`, malformed, 9, "line 1", `the key "a" comes twice`, ""},
		{"the key twice", `{"__key__": "x", "__key__": "y"}`, malformed, 17, "line 1", `the key "__key__" comes twice`, ""},
		{"a key that is a number", "{}\n{\"__key__\": 1}", unsupported, 4, "line 2", `its "__key__", the key, is not a text, or empty`, ""},
		{"an empty key", `{"__key__": ""}`, unsupported, 1, "line 1", `its "__key__", the key, is not a text, or empty`, ""},
		{"no UTF-8", "{\"a\": \"\xff\"}", malformed, 7, "line 1", "invalid UTF-8", ""},
		{"no UTF-8 in a name", "{\"\xed\xa0\x80\": 1}", malformed, 2, "line 1", "invalid UTF-8", ""},
		{"half of a surrogate pair", `{"a": "x\ud83d"}`, malformed, 8, "line 1", "surrogate", ""},
		{"the other half", `{"a": ["\ude00"]}`, malformed, 8, "line 1", "surrogate", ""},
		{"a control character", "{\"a\": \"\x00\"}", malformed, 7, "line 1", "bad JSON", ""},
		{"2^64", `{"a": 18446744073709551616}`, unsupported, 6, "line 1", "does not fit into 64 bits", ""},
		{"-2^63-1", `{"a": [-9223372036854775809]}`, unsupported, 7, "line 1", "does not fit into 64 bits", ""},
		{"1e400", `{"a": 1e400}`, unsupported, 6, "line 1", "does not fit into a float64", ""},
		{"nan", `{"a": nan}`, malformed, 7, "line 1", "bad JSON", ""},
		{"a leading zero", `{"a": 01}`, malformed, 7, "line 1", "bad JSON", ""},
		{"nested too deep", "{}\n{\"a\": " + strings.Repeat("[", 33), limit, 3, "line 2", "nested more than 32 deep", "option max-depth"},
		{"a line that is too long", "{}\n{\"a\": \"" + strings.Repeat("x", 1000) + "\"}\n", limit, 3, "line 2", "the line has more than 1000 bytes", "option max-line-size"},
		{"too many values", "{\"a\": [" + strings.Repeat("1,", 70) + "1]}\n", limit, 0, "line 1", "more than 63 values", ""},
	} {
		_, _, _, err := indexed(t, memory(Options{MaxLine: 1000}, row.data))
		if err == nil {
			t.Errorf("%s: accepted", row.name)
			continue
		}
		placed := wantPlaced(t, err)
		if !errors.Is(err, row.want) || placed.Off != row.off || placed.Entry != row.entry || !strings.Contains(err.Error(), row.text) || (row.hint == "") != (placed.Hint == "") || !strings.Contains(placed.Hint, row.hint) {
			t.Errorf("%s: %v (hint %q); want %v at %d, %s, %q, hint %q", row.name, err, placed.Hint, row.want, row.off, row.entry, row.text, row.hint)
		}
	}
	for _, data := range []string{`{"a": 1}`, `{"id": null}`, `{"id": 1.5}`, `{"id": 1, "__key__": "x"}`} {
		if _, _, _, err := indexed(t, memory(Options{KeyField: "id"}, data)); err == nil {
			t.Errorf("%s: accepted with another key", data)
		}
	}
}

// Each cut of a small file, and each changed byte, is refused with its place, or the samples before it are the same.
func TestDamage(t *testing.T) {
	t.Parallel()
	want, err := contents(t, memory(Options{}, mixed))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(mixed) {
		got, err := contents(t, memory(Options{}, mixed[:n]))
		if err != nil {
			if !errors.Is(err, converters.ErrTruncated) && n >= len(mark) {
				t.Errorf("cut to %d bytes: %v", n, err)
			}
			wantPlaced(t, err)
			continue
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("cut to %d bytes: sample %d is %q", n, i, got[i])
			}
		}
	}
	for at := range len(mixed) {
		for _, flip := range []byte{0x01, 0x20, 0x80} {
			data := []byte(mixed)
			data[at] ^= flip
			if _, err := contents(t, memory(Options{}, string(data))); err != nil {
				wantPlaced(t, err)
			}
		}
	}
}

// Hostile input takes little memory. The test is not parallel: memory is counted.
func TestHostile(t *testing.T) {
	for name, data := range map[string]string{
		"no newline":   strings.Repeat("x", 8<<20),
		"lists":        `{"a": [` + strings.Repeat("[],", 2<<20) + `1]}`,
		"open lists":   `{"a": ` + strings.Repeat("[", 4<<20),
		"many members": "{" + strings.Repeat(`"":1,`, 1<<20) + "}",
	} {
		src := memory(Options{MaxLine: 1 << 20}, data)
		fuzz.WantAllocated(t, 8<<20, func() {
			if _, _, _, err := indexed(t, src); !errors.Is(err, converters.ErrLimit) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
