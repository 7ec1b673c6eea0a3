package csv

import (
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Integers that an inferred float64 does not hold are counted by Index, whatever the form of samples is.
func TestRounded(t *testing.T) {
	t.Parallel()
	need.Time(t, "millions of numbers")
	const big, even, huge = "9007199254740993", "9007199254740994", "18446744073709551615"
	for _, row := range []struct {
		name string
		opts Options
		part string
		want string
	}{
		{"held", Options{}, "9007199254740992,-9007199254740992\n" + even + ",10000000000000000000000\n+000000000000000000000000000001,0000000000000000000\n", ""},
		{"integers", Options{}, "1,2\n" + big + ",3\n-" + big + ",+" + big + "\n", `4 row 2, column c0 3 integers beyond 2^53 are rounded to float64, in the columns "c0", "c1"|option dtype int64 keeps them exact`},
		{"one, between quotes and blanks", Options{}, "1,2\n\" " + big + "\",3\n", `4 row 2, column c0 1 integer beyond 2^53 is rounded to float64, in the column "c0"|option dtype int64 keeps it exact`},
		{"beside decimals", Options{}, "1.5," + big + "\n2.5,3\n", `0 row 1, column c1 1 integer beyond 2^53 is rounded to float64, in the column "c1"|option dtype c1=int64 keeps it exact`},
		{"among decimals", Options{}, "1," + big + "\n2,3.5\n", `0 row 1, column c1 1 integer beyond 2^53 is rounded to float64, in the column "c1"|option dtype c1=str keeps it exact`},
		{"beyond int64", Options{}, "1," + huge + "\n" + big + ",3\n", `0 row 1, column c1 2 integers beyond 2^53 are rounded to float64, in the columns "c0", "c1"|option dtype c0=int64,c1=str keeps them exact`},
		{"beyond int64 behind the first rows", Options{}, "1,2\n" + many(inferSize, "1,2\n") + "3," + huge + "\n", `1048580 row 262146, column c1 1 integer beyond 2^53 is rounded to float64, in the column "c1"|option dtype c1=str keeps it exact`},
		{"beside text", Options{}, "a," + big + "\nb,3.5\n,\n", `0 row 1, column c1 1 integer beyond 2^53 is rounded to float64, in the column "c1"|option dtype c1=str keeps it exact`},
		{"beside text, exact", Options{}, "a," + big + "\nb,3\n", ""},
		{"a type that was named", Options{DType: "float64"}, big + ",1\n", ""},
		{"float32", Options{DType: "float32"}, big + ",1\n", ""},
		{"int64", Options{DType: "int64"}, big + ",1\n", ""},
		{"a type that was named, of the column", Options{DType: "c0=float64"}, big + ",1\n", ""},
		{"a column that is not kept", Options{Header: true, Columns: []string{"b", "c"}}, "a,b,c\n" + big + ",1,2\n", ""},
		{"decimals", Options{}, big + ".5," + big + "e0\n", ""},
	} {
		for _, form := range []Form{Auto, Fields, Table} {
			opts := row.opts
			opts.Form = form
			src := inMemory(t, opts, []byte(row.part))
			for range 2 { // a part that is indexed again is not counted twice
				for _, err := range src.Index(t.Context(), 0) {
					if err != nil {
						t.Fatal(row.name, err)
					}
				}
			}
			got := ""
			for _, d := range src.Doubts() {
				got += fmt.Sprint(d.Off, " ", d.Entry, " ", d.Text, "|", d.Hint)
			}
			if got != row.want {
				t.Errorf("%s, form %d:\ngot  %s\nwant %s", row.name, form, got, row.want)
			}
		}
	}
}

// many repeats a text to so many bytes at least.
func many(size int, text string) string {
	all := make([]byte, 0, size+len(text))
	for len(all) < size {
		all = append(all, text...)
	}
	return string(all)
}
