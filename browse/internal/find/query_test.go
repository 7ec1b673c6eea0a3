package find

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/choose"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Query
		to   string // the canonical text; "": text
	}{
		{"", Query{}, ""},
		{"class=cat", Query{Class: "cat"}, ""},
		{"class=-&max=1MiB&min=16KiB", Query{Class: "-", Min: 16 << 10, Max: 1 << 20}, ""},
		{"field=jpg&prefix=a%2Fb+c%0A&shard=PART_00000.ffr&source=x.tar", Query{Field: "jpg", Prefix: "a/b c\n", Shard: "PART_00000.ffr", Source: "x.tar"}, ""},
		{"min=1000&from=7&min=5", Query{Min: 1000}, "min=1000"},
		{"min=0&max=0&class=", Query{}, " "},
		{"min=1.5kB&max=2048", Query{Min: 1500, Max: 2048}, "max=2KiB&min=1500"},
		{"max=9223372036854775807", Query{Max: 1<<63 - 1}, ""},
	} {
		v, err := url.ParseQuery(row.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(v)
		if err != nil || got != row.want || got.Empty() != (row.want == Query{}) {
			t.Errorf("%s: %+v, %v", row.text, got, err)
		}
		want := row.text
		if row.to != "" {
			want = strings.TrimSpace(row.to)
		}
		again, err := Parse(got.Values())
		if got.Values().Encode() != want || again != got || err != nil {
			t.Errorf("%s becomes %s, want %s", row.text, got.Values().Encode(), want)
		}
	}
	for text, want := range map[string]string{
		"min=x": "min: \"x\" is not a number of bytes", "max=-1": "max: \"-1\" is not", "min=2&max=1": "min: 2 is more than max, 1", "min=1EiB&max=1KiB": "is more than max, 1KiB",
		"max=99999999999999999999": "is not a number", "prefix=" + strings.Repeat("x", longestWord+1): "prefix: it has 4097 bytes", "min=%0Ax": "\\nx",
	} {
		v, _ := url.ParseQuery(text)
		if _, err := Parse(v); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// What is parsed is parsed again from its canonical form, whatever it is.
func FuzzParse(f *testing.F) {
	f.Add("class=cat&min=1KiB")
	f.Add("max=%00&prefix=%ff")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := Parse(v)
		if err != nil {
			return
		}
		if again, err := Parse(q.Values()); err != nil || again != q {
			t.Errorf("%+v becomes %+v, %v", q, again, err)
		}
	})
}

// An expression asks for the begin of a key as a page does, and a shell takes it as it is.
func FuzzPrefix(f *testing.F) {
	f.Add("a.b", "a.bc")
	f.Add("it's \"x\"\n", "it's \"x\"\nx")
	f.Add("\\Q(?i)ä$", "\\Q(?i)Ä$")
	f.Add("\xff", "\ufffd")
	f.Fuzz(func(t *testing.T, prefix, key string) {
		x := filter{Query: Query{Prefix: prefix}}
		where, cannot := x.expression()
		if cannot != "" || prefix == "" {
			return
		}
		c, err := choose.New(choose.Options{Where: where}, nil)
		if err != nil || text.Line(where) != where || strings.ContainsAny(where, "'\" \t") {
			t.Fatalf("%q: %q, %v", prefix, where, err)
		}
		for _, key := range []string{key, prefix, prefix + key} {
			left, err := c.Part("x").Leave(&converters.Sample{Key: key})
			if err != nil || (left == "") != strings.HasPrefix(key, prefix) {
				t.Errorf("%s of %q: %q, %v", where, key, left, err)
			}
		}
	})
}
