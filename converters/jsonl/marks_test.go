package jsonl

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// A stream with marks has the samples of the stream without them; one whose marks say something else is refused.
func TestMarks(t *testing.T) {
	t.Parallel()
	const begin, lines = `{"__begin__": {}}` + "\n", "{\"a\": 1}\n{\"a\": 2}\n"
	end := func(before string, n int) string {
		sum := sha256.Sum256([]byte(before))
		return before + fmt.Sprintf(`{"__end__": {"count": %d, "sha256": "%s"}}`, n, fmt.Sprintf("%x", sum))
	}
	want, err := contents(t, memory(Options{}, lines))
	if err != nil || len(want) != 2 {
		t.Fatal(want, err)
	}
	malformed, truncated := converters.ErrMalformed, converters.ErrTruncated
	for _, row := range []struct {
		name, data string
		optional   error // without Options.RequireEnd
		required   error
		text       string
	}{
		{"no mark", lines, nil, truncated, "2 samples and no end mark"},
		{"both", end(begin+lines, 2), nil, nil, ""},
		{"an end", end(lines, 2) + "\n", nil, nil, ""},
		{"an end that says nothing", lines + `{"__end__": {}}`, nil, nil, ""},
		{"a byte order mark", end("\uFEFF"+begin+lines, 2), nil, nil, ""},
		{"blank lines around", end("\n"+begin+lines+"\r\n", 2) + "\r\n \n", nil, nil, ""},
		{"a begin alone", begin + lines, truncated, truncated, "did not finish"},
		{"more counted", end(begin+lines, 3), malformed, malformed, "the end mark counts \"3\" samples, before it there are 2"},
		{"a count that is no integer", lines + `{"__end__": {"count": 2.5}}`, malformed, malformed, "counts"},
		{"a byte differs", strings.Replace(end(begin+lines, 2), "1", "7", 1), malformed, malformed, "SHA-256"},
		{"a line is missing", strings.Replace(end(begin+lines, 1), "{\"a\": 2}\n", "", 1), malformed, malformed, "SHA-256"},
		{"a sample after the end", end(lines, 2) + "\n" + `{"a": 3}`, malformed, malformed, "a sample after the end mark"},
		{"two ends", end(lines, 2) + "\n" + `{"__end__": {}}`, malformed, malformed, "a mark after the end mark"},
		{"two streams", end(begin+lines, 2) + "\n" + end(begin+lines, 2), malformed, malformed, "a mark after the end mark"},
		{"two streams, the first was killed", begin + lines + begin + lines, malformed, malformed, "a begin mark after 2 samples"},
		{"an unknown entry", lines + `{"__end__": {"crc": 1}}`, converters.ErrUnsupported, converters.ErrUnsupported, "crc"},
		{"a mark that is a number", lines + `{"__end__": 2}`, malformed, malformed, "not a map"},
	} {
		for _, require := range []bool{false, true} {
			refused := row.optional
			if require {
				refused = row.required
			}
			got, err := contents(t, memory(Options{RequireEnd: require}, row.data))
			if refused != nil {
				if !errors.Is(err, refused) || !strings.Contains(err.Error(), row.text) {
					t.Errorf("%s, required %v: %v, want %v: %s", row.name, require, err, refused, row.text)
				}
			} else if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, required %v: %q, %v", row.name, require, got, err)
			}
		}
	}
	whole := end(begin+lines, 2)
	for n := 1; n < len(whole); n++ {
		if got, err := contents(t, memory(Options{}, whole[:n])); err == nil {
			t.Errorf("cut at %d of %d: %q is accepted", n, len(whole), got)
		}
	}
}
