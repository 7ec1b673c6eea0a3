package choose

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// picture is a sample with one of each kind of value.
func picture() *converters.Sample {
	return &converters.Sample{Key: "dogs/0007", Fields: []converters.Field{
		{Name: "jpg", Value: converters.Opaque(2 << 20)},
		{Name: "cls", Value: converters.Bytes([]byte(" 3\n"))},
		{Name: "txt", Value: converters.Text([]byte("a dog and a cat"))},
		{Name: "score", Value: converters.Float(0.75)},
		{Name: "big", Value: converters.Int(1<<53 + 1)},
		{Name: "good", Value: converters.Nested(true)},
		{Name: "none", Value: converters.Nested(nil)},
		{Name: "size", Value: converters.Bytes([]byte("L"))},
		{Name: "a.size", Value: converters.Bytes([]byte("xl"))},
	}}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	for expr, want := range map[string]bool{
		"key=dogs/0007": true, "key!=dogs/0007": false, "key~^dogs/": true, "key ~ '^cats/'": false, "key<e": true, "key>=e": false,
		"label=3": true, "label != 3": false, "label>2 and label<4": true, "label>2 and label<3": false, "label=3 and key~cat": false,
		"class=dog": true, "class~^d": true, "class=cat": false,
		"jpg.size=2MiB": true, "jpg.size>2097151": true, "jpg.size<2MB": false, "size>2MiB": true, "size<1GiB": true,
		"cls=3": true, "cls=03": true, "cls='03'": false, "cls='3'": true, "cls>2.5": true, "cls<1e1": true,
		"txt='a dog and a cat'": true, `txt="a dog and a cat"`: true, "txt~dog.*cat": true, "txt=3": false, "txt!=3": true,
		"score=0.75": true, "score>0.7 and score<0.8": true, "score=.75": true, "score>1": false,
		"big=9007199254740993": true, "big=9007199254740992": false, "big>9007199254740992": true,
		"good=true": true, "good=false": false, "none=x": false,
		"'size'=L": true, `"a.size"=xl`: true, "a.size.size=2B": true,
		"png.size>0": false, "png!=x": false, "png.size=0": false,
	} {
		c, err := New(Options{Where: expr}, []string{"ant", "bee", "cat", "dog"})
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		reason, err := c.Part("x").Leave(picture())
		if err != nil || reason != map[bool]string{true: "", false: "where"}[want] {
			t.Errorf("%s: left out by %q, %v", expr, reason, err)
		}
	}
}

func TestWhereMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		expr string
		col  int
		want string
	}{
		{" ", 2, "want a name"},
		{"label", 6, "want one of ="},
		{"label is 3", 7, "want one of ="},
		{"label==3", 7, "want a value"},
		{"label=", 7, "want a value"},
		{"label=dog", 7, "not a whole number"},
		{"label~3", 7, "~ does not take"},
		{"=3", 1, "want a name"},
		{"key=a or key=b", 7, `not "or"`},
		{"key=a and", 10, "want a name"},
		{"txt=two words", 9, "stands in quotes"},
		{"ключ='a", 6, "the quote is not closed"},
		{"'key=a", 1, "the quote is not closed"},
		{"jpg.size<big", 10, "not a number of bytes"},
		{"key~a(", 5, "missing closing )"},
	} {
		_, err := parseWhere(row.expr)
		if err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("column %d: ", row.col)) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: %v; want column %d: %s", row.expr, err, row.col, row.want)
		}
	}
}

// What cannot be compared is an error, not false.
func TestWhereErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		expr    string
		classes []string
		field   converters.Field
		want    string
	}{
		{"jpg~x", nil, converters.Field{Name: "jpg", Value: converters.Opaque(5)}, `field "jpg": the index of such a source does not read it`},
		{"x=1", nil, converters.Field{Name: "x", Value: converters.Nested([]any{})}, "it is nested"},
		{"x=1", nil, converters.Field{Name: "x", Value: converters.Bytes(make([]byte, maxValue+1))}, "1048576 at most are compared"},
		{"label=1", nil, converters.Field{Name: "cls", Value: converters.Bytes([]byte("dog"))}, "not a whole number"},
		{"class=a", nil, converters.Field{Name: "cls", Value: converters.Int(1)}, "no classes with names"},
		{"class=a", []string{"a"}, converters.Field{Name: "cls", Value: converters.Int(1)}, "its label is 1, there are 1 classes"},
	} {
		c, err := New(Options{Where: row.expr}, row.classes)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Part("x").Leave(&converters.Sample{Key: "k", Fields: []converters.Field{row.field}})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v; want %s", row.expr, err, row.want)
		}
	}
}

// A field that no sample has is probably mistyped, and a label that none has is not asked in vain.
func TestWhereUnseen(t *testing.T) {
	t.Parallel()
	labelled := func(name string) *converters.Sample {
		return &converters.Sample{Key: "k", Fields: []converters.Field{{Name: name, Value: converters.Int(3)}}}
	}
	for _, row := range []struct {
		where  string
		sample *converters.Sample
		want   string // in the error; "": there is none
	}{
		{"lbel=3", picture(), `"lbel"`},
		{"label=3", labelled("class_id"), "label (a field cls or index or label)"},
		{"label=3", labelled("label"), ""},
		{"label=4", labelled("index"), ""},
	} {
		c, err := New(Options{Where: row.where}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Part("x").Leave(row.sample); err != nil {
			t.Fatal(err)
		}
		if err := c.Finish(); (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: Finish returned %v, want %q", row.where, err, row.want)
		}
	}
}

// write writes conditions in quotes; an error says that there is no quote for one.
func write(all []condition) (string, error) {
	quote := func(s string) (string, error) {
		for _, q := range []string{"'", `"`} {
			if !strings.Contains(s, q) {
				return q + s + q, nil
			}
		}
		return "", errors.New("both quotes")
	}
	var each []string
	for _, c := range all {
		name := c.subject.String()
		var err error
		if c.of == theField {
			name, err = quote(name)
		} else if c.of == theFieldSize && strings.ContainsAny(name, `'"`) {
			err = errors.New("a quote in a name without quotes")
		}
		value, failed := c.text, error(nil)
		if !c.num.ok || c.of != theField { // a number in quotes is a text
			value, failed = quote(value)
		}
		if err := errors.Join(err, failed); err != nil {
			return "", err
		}
		each = append(each, name+" "+c.op+" "+value)
	}
	return strings.Join(each, " and "), nil
}

// FuzzWhere: a mistake is told with a column of the text; what is read and written again is the same.
func FuzzWhere(f *testing.F) {
	for _, s := range []string{"label=3 and jpg.size<1MiB", "key~^a", "'a b'!=\"c\"", "x<=1e3", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseWhere(text)
		col := 0
		if err != nil {
			fmt.Sscanf(err.Error(), "column %d: ", &col)
		}
		if err != nil && (col < 1 || col > len([]rune(text))+1) {
			t.Errorf("%q: column %d", text, col)
		}
		if err != nil || text == "" {
			return
		}
		written, err := write(all)
		if err != nil {
			return
		}
		again, err := parseWhere(written)
		if err != nil {
			t.Fatalf("%q, written again as %q: %v", text, written, err)
		}
		if back, err := write(again); err != nil || back != written || len(again) != len(all) {
			t.Errorf("%q is %q, written again %q", text, written, back)
		}
	})
}

// An index row answers the comparisons of key, label, class and size; with the fields of the record all are.
func TestHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where               string
		compares, row, both bool
	}{
		{"", false, true, true},
		{"label=1", false, true, true},
		{"label=0", false, false, false},
		{"size >1KiB and class='a b' and key~^0", false, true, true},
		{"txt~'a b'", true, true, true},
		{"jpg.size>0 and 'key'=x and label=1", true, true, true},
		{"jpg.size>9 and label=1", true, true, false},
		{"jpg.size>0 and label=2", true, false, false},
		{"size<1KiB and txt~a", true, false, false},
	} {
		chooser, err := New(Options{Where: c.where}, []string{"c", "a b"})
		if err != nil {
			t.Fatal(err)
		}
		s := &converters.Sample{Fields: []converters.Field{
			{Name: "jpg", Value: converters.Opaque(9)}, {Name: "key", Value: converters.Text([]byte("x"))}, {Name: "txt", Value: converters.Text([]byte("a b"))},
		}}
		row, err := chooser.Holds("007", 2000, 1, true, nil)
		both, err2 := chooser.Holds("007", 2000, 1, true, s)
		if err != nil || err2 != nil || chooser.Compares() != c.compares || row != c.row || both != c.both {
			t.Errorf("%s: compares fields: %v, by the row %v, %v, by both %v, %v", c.where, chooser.Compares(), row, err, both, err2)
		}
	}
}
