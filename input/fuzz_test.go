package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzExpand asserts that no pattern panics or hangs, that a name is never longer
// than its pattern, that the number of names is the one that was checked against the
// limit, and that a name expands, escaped, to itself.
func FuzzExpand(f *testing.F) {
	for _, tt := range braceTable {
		f.Add(tt.pattern)
	}
	escape := strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`, ",", `\,`, "<", `\<`, ":", `\:`, "$", `\$`)
	f.Fuzz(func(t *testing.T, pattern string) {
		opts := ExpandOptions{Max: 1000, LookupEnv: func(string) (string, bool) { return "", false }}
		names, err := collect(Expand(pattern, opts))
		if err != nil {
			if !errors.Is(err, ErrPattern) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q: %v", pattern, err)
			}
			return
		}
		seqs, err := parsePatterns(pattern, opts)
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		for _, s := range seqs {
			want += s.count()
		}
		if int64(len(names)) != want {
			t.Fatalf("%q: %d names, counted %d", pattern, len(names), want)
		}
		for _, name := range names {
			if len(name) > len(pattern) {
				t.Fatalf("%q: longer name %q", pattern, name)
			}
			again, err := collect(Expand(escape.Replace(name), opts))
			if err != nil || len(again) != 1 || again[0] != name {
				t.Fatalf("%q: escaped, %q expands to %q, %v", pattern, name, again, err)
			}
		}
	})
}

// FuzzDecoders asserts that no compressed bytes panic, hang or exhaust memory.
func FuzzDecoders(f *testing.F) {
	for _, c := range []string{"gzip", "zstd", "bzip2", "xz"} {
		f.Add(compress(f, c, smallTar(f)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		compression, err := sniff(data[:min(len(data), sniffLen)])
		if err != nil || compression == "" {
			return
		}
		r, err := decoder(compression, bufio.NewReader(bytes.NewReader(data)), DefaultMaxWindow)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		io.Copy(io.Discard, io.LimitReader(r, 16<<20))
	})
}
