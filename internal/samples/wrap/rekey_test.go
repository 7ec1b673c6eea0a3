package wrap

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/text"
)

// source has parts of samples with these keys, each with a field of one byte.
func source(parts ...string) *memsource.Source {
	m := &memsource.Source{}
	for _, keys := range parts {
		var part []converters.Sample
		for _, key := range strings.Fields(keys) {
			part = append(part, converters.Sample{Key: strings.Trim(key, "-"), Fields: []converters.Field{{Name: "x", Value: converters.Bytes([]byte("1"))}}})
		}
		m.Data = append(m.Data, part)
	}
	return m
}

// walk indexes and reads all of a source, which must agree, and returns a line a sample.
func walk(t *testing.T, src converters.Source) (lines []string, err error) {
	t.Helper()
	for p := range src.Parts() {
		var indexed []string
		for span, err := range src.Index(t.Context(), p) {
			if err != nil {
				return nil, err
			}
			indexed = append(indexed, span.Shape.Key)
		}
		i := 0
		for s, err := range src.Read(t.Context(), converters.Run{Part: p, Count: int64(len(indexed))}) {
			if err != nil {
				return nil, err
			}
			if s.Key != indexed[i] {
				t.Errorf("indexed as %q, read as %q", indexed[i], s.Key)
			}
			i++
			line := s.Key
			for j := range s.Fields[1:] {
				v := &s.Fields[1+j].Value
				line += fmt.Sprintf(" %s=%s%d/%v", s.Fields[1+j].Name, v.Data(), v.Int(), v.Nested())
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func rules(t *testing.T, pairs ...string) (all []*text.Rule) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		r, err := text.ParseRule(pairs[i], pairs[i+1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestKeys(t *testing.T) {
	t.Parallel()
	src := Rekey(source("a/1 a/2", "b/1"), Keys{
		Rules:  rules(t, `^./`, "", `(\d)`, `n\1`),
		Prefix: func(part int) string { return fmt.Sprintf("p%d/", part) },
		Unique: true,
	})
	got, err := walk(t, src)
	if want := "p0/n1 p0/n2 p1/n1"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%v, %v; want %s", got, err, want)
	}
	if err := src.(divisibleRekeyed).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKeysRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		src  *memsource.Source
		opts Keys
		want error
		text string
	}{
		{"clash of parts", source("a b", "c a"), Keys{Unique: true}, converters.ErrDuplicate, `part-1: offset 1: "a": duplicate key, which a sample of part-0 has as well`},
		{"clash in a part", source("a b"), Keys{Unique: true, Rules: rules(t, ".", "x")}, converters.ErrDuplicate, "duplicate key"},
		{"nothing left", source("a"), Keys{Rules: rules(t, "a", "")}, converters.ErrUnsupported, "nothing is left of its key"},
		{"no key", source("--"), Keys{Rules: rules(t, "a", "")}, converters.ErrUnsupported, "no key"},
	} {
		src := Rekey(row.src, row.opts)
		_, err := walk(t, src)
		if err == nil {
			err = src.(divisibleRekeyed).Check(t.Context())
		}
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v; want %q", row.name, err, row.text)
		}
	}
}

func table(t *testing.T, csv string) *Table {
	t.Helper()
	x, err := ReadRows(strings.NewReader(csv), "t.csv", "label", Rows{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestTables(t *testing.T) {
	t.Parallel()
	lines, err := ReadJSONL(strings.NewReader(`{"key": "a", "caption": {"en": "x"}}`+"\n\n"+`{"caption": "y", "key": "b"}`), "t.jsonl", "caption")
	if err != nil {
		t.Fatal(err)
	}
	src := Rekey(source("a", "b"), Keys{Tables: []*Table{table(t, "id,label\nb,7\na,-1\n"), lines}})
	got, err := walk(t, src)
	if want := "a label=-1/<nil> caption=0/[{en x}];b label=7/<nil> caption=y1/<nil>"; err != nil || strings.Join(got, ";") != want {
		t.Errorf("%v, %v; want %s", strings.Join(got, ";"), err, want)
	}
	if err := src.(divisibleRekeyed).Check(t.Context()); err != nil {
		t.Error(err)
	}
	for text, want := range map[string]string{"k,label\na,1\nb,2.5\n": "a label=1.0", "k,label\na,1\nb,x\n": "a label=1"} {
		v, _ := table(t, text).find("b")
		if want == "a label=1" && string(v.Data()) != "x" || want != "a label=1" && v.Float() != 2.5 {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

// What does not match on either side is counted, and refused unless it is allowed.
func TestUnmatched(t *testing.T) {
	t.Parallel()
	for _, allowed := range []bool{false, true} {
		src := Rekey(source("a b", "c"), Keys{Tables: []*Table{table(t, "k,label\nd,1\na,2\ne,3\n")}, Unmatched: allowed}).(divisibleRekeyed)
		if _, err := walk(t, src); err != nil {
			t.Fatal(err)
		}
		if allowed && len(src.Doubts()) > 0 {
			t.Error("there are doubts before all was indexed")
		}
		err := src.Check(t.Context())
		text := fmt.Sprint(err)
		for _, d := range src.Doubts() {
			text += d.Text
		}
		if (err == nil) != allowed {
			t.Errorf("allowed %t: %v", allowed, err)
		}
		for _, want := range []string{`no row for 2 samples, the first has the key "b"`, `2 of its rows are of no sample, the first has the key "d"`} {
			if !strings.Contains(text, want) {
				t.Errorf("allowed %t: %q lacks %q", allowed, text, want)
			}
		}
	}
}

// An empty list of columns, as an empty variable of a script makes it, is none: the first line names them.
func TestNoColumns(t *testing.T) {
	t.Parallel()
	x, err := ReadRows(strings.NewReader("k,label\na,1\n"), "t.csv", "label", Rows{Columns: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := x.find("a"); !ok || v.Int() != 1 {
		t.Errorf("%+v, %t", v, ok)
	}
}

func TestTableRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                    "empty",
		"k,other\na,1\n":      `no column "label"`,
		"k,label\na,1\na,2\n": `line 3: duplicate key "a"`,
		"k,label\na,1,2\n":    "line 2",
		"k,label\na,\xe9\n":   `line 2: malformed: column "label" has "\xe9", which is not UTF-8`,
		"k,label\n\xe9,a\n":   "line 2: malformed",
		"k,label\n\"a,1\n":    "line 2",
	} {
		if _, err := ReadRows(strings.NewReader(text), "t.csv", "label", Rows{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"[1]":          "line 1: malformed: not an object",
		`{"key": "a"}`: `a value in "label"`,
		`{"label": 1}`: `a text in the member "key"`,
		"{":            "line 1: malformed",
		`{"key":"a","label":1}` + "\n" + `{"key":"a","label":1}`: "line 2: duplicate",
	} {
		if _, err := ReadJSONL(strings.NewReader(text), "t.jsonl", "label"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
