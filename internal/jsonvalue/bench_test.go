package jsonvalue

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkParseJSON decodes a line as language models are trained from: texts, numbers, a nested map.
func BenchmarkParseJSON(b *testing.B) {
	line := fmt.Appendf(nil, `{"id": 123456, "text": %q, "title": "a \"quoted\" one", "score": 0.5231, "tags": ["x", "yy", "zzz"], "meta": {"lang": "de", "n": [1, 2, 3], "ok": true, "no": null}}`, strings.Repeat("lorem ipsum dolor sit amet ", 20))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	parse := New(0)
	for b.Loop() {
		if _, err := parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
