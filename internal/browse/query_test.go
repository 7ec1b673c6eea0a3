package browse

import (
	"net/url"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Query
		to   string // the canonical text
	}{
		{"", Query{}, ""},
		{"where=label%3D3&from=7&class=cat", Query{Where: "label=3"}, "where=label%3D3"},
		{"where=+size%3E1KiB+&shard=PART_00000.ffr&source=x.tar", Query{Where: "size>1KiB", Shard: "PART_00000.ffr", Source: "x.tar"}, "shard=PART_00000.ffr&source=x.tar&where=size%3E1KiB"},
		{"where=&shard=", Query{}, ""},
	} {
		v, err := url.ParseQuery(row.text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseQuery(v)
		if err != nil || got != row.want || got.Values().Encode() != row.to {
			t.Errorf("%s: %+v, %s, %v", row.text, got, got.Values().Encode(), err)
		}
	}
	for text, want := range map[string]string{
		"where=size%3Ex": "where size>x: column 6: \"x\" is not a number of bytes", "where=%0Akey": `want one of`, "where=key%3D%27": "the quote is not closed", "where=" + strings.Repeat("x", longestWhere+1): "it has 4097 bytes",
	} {
		v, _ := url.ParseQuery(text)
		if _, err := parseQuery(v); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// What is parsed is parsed again from its canonical form, whatever it is.
func FuzzParse(f *testing.F) {
	f.Add("where=class%3Dcat+and+size%3E1KiB")
	f.Add("shard=%00&where=key%3D%ff")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		q, err := parseQuery(v)
		if err != nil {
			return
		}
		if again, err := parseQuery(q.Values()); err != nil || again != q {
			t.Errorf("%+v becomes %+v, %v", q, again, err)
		}
	})
}

// The expression for a class chooses its samples alone, and that for a field the samples that have it, whatever their names.
func FuzzNames(f *testing.F) {
	f.Add("cat")
	f.Add("it's a \"dog\"")
	f.Add("\xff and")
	f.Add("=7 ")
	f.Fuzz(func(t *testing.T, name string) {
		holds := func(where string, s *converters.Sample) bool {
			c, err := choose.New(choose.Options{Where: where}, []string{"other", name})
			if err != nil {
				t.Fatalf("%q: %s: %v", name, where, err)
			}
			left, err := c.Part("x").Leave(s)
			if err != nil {
				t.Fatalf("%q: %s: %v", name, where, err)
			}
			return left == ""
		}
		for label := range int64(2) {
			s := converters.Sample{Fields: []converters.Field{{Name: "cls", Value: converters.Int(label)}}}
			if name != "other" && holds(whereClass(1, name), &s) != (label == 1) {
				t.Errorf("class %q: %s: label %d", name, whereClass(1, name), label)
			}
		}
		where := whereField(name)
		if where == "" {
			return
		}
		if !holds(where, &converters.Sample{Fields: []converters.Field{{Name: name}}}) || holds(where, &converters.Sample{Fields: []converters.Field{{Name: name + "x"}}}) {
			t.Errorf("field %q: %s", name, where)
		}
	})
}
