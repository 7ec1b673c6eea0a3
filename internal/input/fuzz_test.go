package input

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzExpand: no pattern panics or hangs; the names are those of the slow model, as many
// as were checked against the limit, none longer than its pattern; unbalanced braces are
// found where the model finds them; and a name expands, escaped, to itself.
func FuzzExpand(f *testing.F) {
	for _, tt := range braceTable {
		f.Add(tt.pattern)
	}
	escape := strings.NewReplacer(`\`, `\\`, "{", `\{`, "}", `\}`, ",", `\,`, "<", `\<`, ":", `\:`, "$", `\$`)
	f.Fuzz(func(t *testing.T, pattern string) {
		if len(pattern) > 1<<12 {
			return // a thousand names of a megabyte each are no use here
		}
		opts := Options{MaxNames: 1000, LookupEnv: testEnv}
		var names []string
		var err error
		// A thousand names; and under the race detector, which empties pools, a regular expression's
		// 10 KB wherever a byte may begin a range.
		fuzz.WantAllocated(t, 1<<20+20_000*len(pattern), func() { names, err = collect(Expand(pattern, opts)) })
		if err != nil {
			if !errors.Is(err, errPattern) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q: %v", pattern, err)
			}
			if errors.Is(err, errUnbalanced) && modelBalanced(pattern) {
				t.Fatalf("%q: %v, and they are balanced", pattern, err)
			}
			return
		}
		if want, ok := model(pattern); !ok || !slices.Equal(names, want) {
			t.Fatalf("%q: %q; the model has %q, %t", pattern, names, want, ok)
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

// FuzzLists: no list panics or hangs; its lines are those of a slow reading, none empty or
// longer than the limit; and what was read is a list of the same.
func FuzzLists(f *testing.F) {
	for _, row := range listRows {
		if len(row.text) < 1<<12 {
			f.Add([]byte(row.text))
		}
	}
	read := func(text []byte) (names []string, err error) {
		readList(context.Background(), "list", bytes.NewReader(text), func(a argument, e error) bool {
			if err = e; err == nil {
				names = append(names, a.text)
			}
			return err == nil
		})
		return names, err
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var names []string
		var err error
		fuzz.WantAllocated(t, 4<<20+200*len(text), func() { names, err = read(text) })
		if err != nil {
			if !errors.Is(err, errList) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatal(err)
			}
			return
		}
		var want []string
		for line := range strings.SplitSeq(strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n"), "\n") {
			if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
				want = append(want, line)
			}
		}
		if !slices.Equal(names, want) || len(names) == 0 {
			t.Fatalf("%q: %q, want %q", text, names, want)
		}
		again, err := read([]byte("#\r\n" + strings.Join(names, "\r\n\r\n") + "\r\n"))
		if err != nil || !slices.Equal(again, names) {
			t.Fatalf("%q, %v; again %q", names, err, again)
		}
	})
}
