package text

import "testing"

func TestLines(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                             "",
		"a\tb\nc":                      "a\tb\nc",
		"a\r\nb\rc":                    "a\nb\\rc",
		"猫\u3000 \u00a0é":              "猫\u3000 \u00a0é",
		"\u0645\u06cc\u200c\u062e":     "\u0645\u06cc\u200c\u062e", // Persian, with a joiner
		"👩\u200d💻\ufe0f":               "👩\u200d💻\ufe0f",
		"\x00\x1b[31m\x7f\u0085":       `\x00\x1b[31m\x7f\u0085`,
		"\u202egpj.exe\u2066\u200f":    `\u202egpj.exe\u2066\u200f`,
		"\u2028\u2029\ufeff\u200b":     `\u2028\u2029\ufeff\u200b`,
		"\xff\xed\xa0\x80\U000e0041":   `\xff\xed\xa0\x80\U000e0041`,
		"<script>&amp;\"'</script>\\n": "<script>&amp;\"'</script>\\n",
	} {
		if got := Lines(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
