package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	const n = 40
	for _, tt := range []struct {
		how            string
		dropped, added int64
		key            func(key string, i, of int) string
	}{
		{"itself", 0, 0, nil},
		{"unflushed", 0, 0, nil},
		{"at the end", 0, 0, nil},
		{"batches:7", 0, 0, nil},
		{"third", n / 10 * 3, 0, nil},
		{"nothing kept", n, 0, nil},
		{"two", 0, n, nil},
		{"two without keys", 0, n, func(key string, i, _ int) string { return key + []string{"", "-1"}[i] }},
		{"no key", 0, 0, nil},
		{"indefinite", 0, 0, nil},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			inner := memsource.New(3, 3, n, 3000)
			inner.Skips = []converters.Span{{Skip: "directory", Entries: 1}, {Skip: "directory", Entries: 2}, {Skip: "odd", Accepted: true}}
			src := open(t, inner, tt.how, 2)
			for p := range inner.Data {
				got, err := index(t.Context(), src, p)
				must(t, err)
				before, err := index(t.Context(), inner, p)
				must(t, err)
				if got.entries != before.entries || got.skipped["directory"] != 3 || got.skipped["odd"] != 1 {
					t.Errorf("part %d: %d entries, skipped %v; want %d", p, got.entries, got.skipped, before.entries)
				}
				is := src.Source.(converters.Filtering).Filtered(p)
				if is.Samples != n || is.Dropped != tt.dropped || is.Added != tt.added || int64(len(got.spans)) != n-tt.dropped+tt.added {
					t.Errorf("part %d: %+v, %d samples", p, is, len(got.spans))
				}
				if (got.skipped[dropped] > 0) != (tt.dropped > 0) {
					t.Errorf("part %d: skipped %v", p, got.skipped)
				}
				again, err := index(t.Context(), src, p)
				if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
					t.Errorf("part %d: indexed again: %v", p, err)
				}
				checkKeys(t, inner.Data[p], keysOf(t, src, p, got), tt.how, tt.key)
			}
			must(t, src.Finish(t.Context()))
			src.close(t)
		})
	}
}

// checkKeys compares samples with those that a filter was given.
func checkKeys(t *testing.T, given []converters.Sample, got []string, how string, key func(string, int, int) string) {
	t.Helper()
	var want []string
	for i, s := range given {
		fields := ""
		for _, f := range s.Fields {
			fields += fmt.Sprintf(" %s=%d", f.Name, f.Value.Len())
		}
		switch {
		case how == "nothing kept" || how == "third" && i%10%3 == 2:
		case strings.HasPrefix(how, "two"):
			for k := range 2 {
				one := s.Key
				if key != nil {
					one = key(one, k, 2)
				}
				want = append(want, one+fields)
			}
		case how == "indefinite":
			want = append(want, s.Key+" a=2 n=0")
		default:
			want = append(want, s.Key+fields)
		}
	}
	sorted := func(all []string) string { // a Go map has no order of fields
		text := strings.Join(all, "\n")
		for range all {
			text = strings.ReplaceAll(text, "  ", " ")
		}
		return text
	}
	for i := range got {
		if f := strings.Fields(got[i]); len(f) == 3 && f[1] > f[2] {
			got[i] = f[0] + " " + f[2] + " " + f[1]
		}
	}
	if sorted(got) != sorted(want) {
		t.Errorf("got %.200q\nwant %.200q", got, want)
	}
}
