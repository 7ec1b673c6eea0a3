package csv

import (
	"fmt"
	"strings"
	"testing"
)

// With FindHeader what looks like a header is one, also where it would be refused as a row.
func TestFindHeader(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		opts  Options
		part  string
		found bool
	}{
		{Options{FindHeader: true}, "x,y\n1,2\n", true},
		{Options{FindHeader: true, Form: Packed}, "x,y\n1,2\n", true},
		{Options{FindHeader: true, DType: "y=str"}, "x,y\n1,2\n", true},
		{Options{FindHeader: true}, "x\n1\n", true},
		{Options{FindHeader: true}, "1,2\n3,4\n", false},
		{Options{FindHeader: true}, "a,b\na,c\n", false},
		{Options{FindHeader: true, Columns: []string{"a", "b"}}, "x,y\n1,2\n", false},
		{Options{}, "x,y\n1,2\n", false},
	} {
		src := inMemory(t, row.opts, []byte(row.part))
		says := src.Describe()
		if says.HeaderFound != row.found || row.found != (says.Columns[0].Name == "x") {
			t.Errorf("%+v: %+v", row.opts, says)
		}
		n := 0
		for span, err := range src.Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if span.Shape != nil {
				n++
			}
		}
		if want := strings.Count(row.part, "\n"); n != want && !row.found || row.found && n != want-1 {
			t.Errorf("%+v: %d rows", row.opts, n)
		}
		if again := src.WithParts(0, src.Parts()).(*source); again.Describe().HeaderFound != row.found {
			t.Errorf("%+v: not with other parts", row.opts)
		}
	}
}

// What of a table may not be meant, by its first rows.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		opts Options
		part string
		want string
	}{
		{"numbers", Options{}, "1,2\n3,4\n", ""},
		{"text", Options{}, "a,b\nc,d\n", ""},
		{"a header", Options{}, "x,y\n1,2\n", `0 it looks like a header, and becomes a row: "x", "y"|option header takes it for the names of the columns`},
		{"behind an empty line", Options{}, "\nx,y\n1,a\n,b\n", `1 it looks like a header, and becomes a row: "x", "y"|option header takes it for the names of the columns`},
		{"a header that is one", Options{Header: true}, "x,y\n1,2\n", ""},
		{"one row", Options{}, "x,y\n", ""},
		{"a number in the first row", Options{}, "x,1\n2,3\n", ""},
		{"no column of numbers", Options{}, "x,y\n1,a\nb,2\n", ""},
		{"a column of numbers and an empty value below the first row", Options{}, "x,y\n,a\n1,b\n", ""},
		{"numbers of all kinds", Options{}, "x,y\n-1.5,a\n1e39,b\n 0x1p3,c\n\"2.5\",d\n,e\n", `0 it looks like a header, and becomes a row: "x", "y"|option header takes it for the names of the columns`},
		{"semicolons in some rows, then as in the first", Options{}, "a;1\nb\nc;2\n", `0 every row is one column|option delimiter, if something else than ',' stands between values`},
		{"one name twice", Options{}, "x,x\n1,2\n", ""},
		{"an empty name", Options{}, "x,\n1,2\n", ""},
		{"one column", Options{}, "1\n2\n", `0 every row is one column|option delimiter, if something else than ',' stands between values`},
		{"one column of a header", Options{Header: true}, "x\n1\n2\n", `2 every row is one column|option delimiter, if something else than ',' stands between values`},
		{"semicolons", Options{}, "a;1;2\nb;3;4\n", `0 every row is one column, and has ';' in it|option delimiter ';'`},
		{"semicolons in some rows", Options{}, "a;1\nb\n", `0 every row is one column|option delimiter, if something else than ',' stands between values`},
		{"tabulators", Options{}, "a\t1\nb\t2\n", `0 every row is one column, and has '\t' in it|option delimiter tab`},
		{"commas", Options{Delimiter: '\t'}, "a,1\nb,2\n", `0 every row is one column, and has ',' in it|option delimiter ','`},
		{"no rows", Options{}, "\n", ""},
	} {
		src := inMemory(t, row.opts, []byte(row.part))
		got := ""
		for _, d := range src.Doubts() {
			got += fmt.Sprint(d.Off, " ", d.Text, "|", d.Hint)
			if d.Part != "part-0" || d.Entry != "row 1" {
				t.Errorf("%s: %+v", row.name, d)
			}
		}
		if got != row.want {
			t.Errorf("%s:\ngot  %s\nwant %s", row.name, got, row.want)
		}
	}
}
