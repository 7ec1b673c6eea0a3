package csv

import (
	"errors"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// refusal opens, indexes and reads all parts, and returns the first error.
func refusal(t testing.TB, opts Options, parts ...[]byte) error {
	src, err := openMemory(opts, parts...)
	for p := 0; err == nil && p < len(parts); p++ {
		for _, err = range src.Index(t.Context(), p) {
			if err != nil {
				break
			}
		}
	}
	return err
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	header := Options{Header: true}
	int64Rows := Options{DType: "int64"}
	for _, c := range []struct {
		name  string
		opts  Options
		parts string // joined by |
		err   error
		want  string // the whole error
	}{
		{"unclosed quote", Options{}, "1,2\n3,\"4\n5,6\n", converters.ErrTruncated, `part-0: offset 6: "row 2": truncated: a quote is opened here and never closed`},
		{"unclosed quote at the end", Options{}, "1\n\"", converters.ErrTruncated, `part-0: offset 2: "row 2": truncated: a quote is opened here and never closed`},
		{"NUL", Options{}, "1,2\n3,\x004\n", converters.ErrMalformed, `part-0: offset 6: "row 2": malformed: a NUL byte in column 2`},
		{"NUL between quotes", Options{}, "a\n\n\"b\x00\"\n", converters.ErrMalformed, `part-0: offset 5: "row 2": malformed: a NUL byte in column 1`},
		{"zeros behind the end", Options{}, "1\n\x00\x00\x00\x00", converters.ErrMalformed, `part-0: offset 2: "row 2": malformed: a NUL byte in column 1`},
		{"CR", Options{}, "1\r2\r", converters.ErrMalformed, `part-0: offset 1: "row 1": malformed: a CR without LF in column 1 (lines end in LF or CR LF)`},
		{"CR CR LF", Options{}, "1\n2\r\r\n", converters.ErrMalformed, `part-0: offset 3: "row 2": malformed: a CR without LF in column 1 (lines end in LF or CR LF)`},
		{"quote in a value", Options{}, "a,b\n1,x\"y\n", converters.ErrMalformed, `part-0: offset 7: "row 2": malformed: a quote inside a value that does not begin with one in column 2 (such a value stands between quotes, its own quotes written twice)`},
		{"text behind a quote", Options{}, "a\n\"b\"c\n", converters.ErrMalformed, `part-0: offset 5: "row 2": malformed: 'c' behind a closing quote in column 1 (a quote among quoted text is written twice)`},
		{"blank behind a quote", Options{}, "\"b\" ,1\n", converters.ErrMalformed, `part-0: offset 3: "row 1": malformed: ' ' behind a closing quote in column 1 (a quote among quoted text is written twice)`},
		{"less columns", Options{}, "1,2\n\n3\n", converters.ErrMalformed, `part-0: offset 5: "row 2": malformed: it has 1 column, the dataset has 2`},
		{"more columns", Options{}, "1,2\n3,4,\n", converters.ErrMalformed, `part-0: offset 4: "row 2": malformed: it has 3 columns, the dataset has 2`},
		{"other columns in another part", Options{}, "1,2\n|3,4\n5\n", converters.ErrMalformed, `part-1: offset 4: "row 2": malformed: it has 1 column, the dataset has 2`},
		{"other columns of text", Options{}, "a\n|b,c\n", converters.ErrMalformed, `part-1: offset 0: "row 1": malformed: it has 2 columns, the dataset has 1`},
		{"row over the limit", Options{MaxRow: 8}, "1234567\n12345678\n", converters.ErrLimit, `part-0: offset 8: "row 2": over a limit: it has more than 8 bytes; a quote that is never closed may be why (option max-row-size)`},
		{"quoted row over the limit", Options{MaxRow: 8}, "\"1\"\n\"1234567\n", converters.ErrTruncated, `part-0: offset 4: "row 2": truncated: a quote is opened here and never closed`},
		{"no number", Options{}, "1,2\n|3,4\n5,abc\n", converters.ErrMalformed, `part-1: offset 6: "row 2, column c1": malformed: "abc" is not float64 (option dtype c1=str)`},
		{"no number, by name", header, "x,y\n1,2\n|x,y\n\n3,4_0\n", converters.ErrMalformed, `part-1: offset 7: "row 1, column y": malformed: "4_0" is not float64 (option dtype y=str)`},
		{"no number, between quotes", Options{}, "1\n|\"a\"\"b\"\n", converters.ErrMalformed, `part-1: offset 1: "row 1, column c0": malformed: "a\"b" is not float64 (option dtype c0=str)`},
		{"empty number of a column named by two lines", header, "x,\"y\r\n\x1b[m\"\n1,2\n|x,\"y\r\n\x1b[m\"\n3,\n", converters.ErrMalformed, `part-1: offset 13: "row 1, column y\r\n\x1b[m": malformed: it is empty, which no number is (option dtype "y\r\n\x1b[m"=float64 makes it null)`},
		{"empty number", Options{}, "1,2\n|3,\n", converters.ErrMalformed, `part-1: offset 2: "row 1, column c1": malformed: it is empty, which no number is (option dtype c1=float64 makes it null)`},
		{"long value", Options{}, "1\n|" + strings.Repeat("x", 100), converters.ErrMalformed, `part-1: offset 0: "row 1, column c0": malformed: "` + strings.Repeat("x", 40) + `" is not float64 (option dtype c0=str)`},
		{"over a float64", Options{}, "1,2\n3,1e400\n", converters.ErrMalformed, `part-0: offset 6: "row 2, column c1": malformed: "1e400" is over the range of float64 (option dtype c1=str)`},
		{"over a float64, in the first row", Options{}, "-1e309\n", converters.ErrMalformed, `part-0: offset 0: "row 1, column c0": malformed: "-1e309" is over the range of float64 (option dtype c0=str)`},
		{"over a float64, of many digits", Options{}, "0.5\n1" + strings.Repeat("0", 309) + "\n", converters.ErrMalformed, `part-0: offset 4: "row 2, column c0": malformed: "1` + strings.Repeat("0", 39) + `" is over the range of float64 (option dtype c0=str)`},
		{"over a float64, in hexadecimal", Options{}, "0.5\n0x1p1024\n", converters.ErrMalformed, `part-0: offset 4: "row 2, column c0": malformed: "0x1p1024" is over the range of float64 (option dtype c0=str)`},
		{"over a float32", Options{DType: "float32"}, "1e38\n1e39\n", converters.ErrMalformed, `part-0: offset 5: "row 2, column c0": malformed: "1e39" is over the range of float32 (option dtype c0=float64)`},
		{"just over a float32", Options{DType: "float32"}, "340282350000000000000000000000000000000\n340282360000000000000000000000000000000\n", converters.ErrMalformed, `part-0: offset 40: "row 2, column c0": malformed: "340282360000000000000000000000000000000" is over the range of float32 (option dtype c0=float64)`},
		{"over a float32, in a column of a table", Options{Form: Table, DType: "c0=float32"}, "1,a\n3.5e38,b\n", converters.ErrMalformed, `part-0: offset 4: "row 2, column c0": malformed: "3.5e38" is over the range of float32 (option dtype c0=float64)`},
		{"over a float64, in a typed column", Options{}, "1.5,a\n1e400,b\n", converters.ErrMalformed, `part-0: offset 6: "row 2, column c0": malformed: "1e400" is over the range of float64 (option dtype c0=str)`},
		{"no float32", Options{DType: "float32"}, "1\nx\n", converters.ErrMalformed, `part-0: offset 2: "row 2, column c0": malformed: "x" is not float32 (option dtype c0=str)`},
		{"no int64", int64Rows, "1\n2.0\n", converters.ErrMalformed, `part-0: offset 2: "row 2, column c0": malformed: "2.0" is not int64 (option dtype c0=str)`},
		{"out of range", int64Rows, "1\n9223372036854775808\n", converters.ErrMalformed, `part-0: offset 2: "row 2, column c0": malformed: "9223372036854775808" is out of the range of int64 (option dtype c0=str)`},
		{"no int64 of a typed column", Options{}, "1,a\n|1.5,b\n", converters.ErrMalformed, `part-1: offset 0: "row 1, column c0": malformed: "1.5" is not int64 (option dtype c0=str)`},
		{"no bool", Options{}, "true\n|1\n", converters.ErrMalformed, `part-1: offset 0: "row 1, column c0": malformed: "1" is not bool (option dtype c0=str)`},
		{"empty text is no int64", Options{}, "1,a\n|\"\",b\n", converters.ErrMalformed, `part-1: offset 1: "row 1, column c0": malformed: "" is not int64 (option dtype c0=str)`},
		{"not UTF-8", Options{}, "a\n\xff\n", converters.ErrMalformed, `part-0: offset 2: "row 2, column c0": malformed: "\xff" is not UTF-8`},
		{"not a UTF-8 number", Options{}, "1\n\xff\n", converters.ErrMalformed, `part-0: offset 2: "row 2, column c0": malformed: "\xff" is not UTF-8`},
		{"no header", header, "|x\n1\n", converters.ErrTruncated, `part-0: offset 0: "header": truncated: there is no first line to name the columns`},
		{"empty header", header, "\nx\n", converters.ErrTruncated, `part-0: offset 0: "header": truncated: there is no first line to name the columns`},
		{"no header in another part", header, "x\n1\n|", converters.ErrTruncated, `part-1: offset 0: "header": truncated: there is no first line to name the columns`},
		{"another header", header, "x,y\n1,2\n|y,x\n1,2\n", converters.ErrMalformed, `part-1: offset 0: "header": malformed: its columns are not those of the first part: they are "y", "x", there "x", "y"`},
		{"a shorter header", header, "x,y\n1,2\n|x\n1\n", converters.ErrMalformed, `part-1: offset 0: "header": malformed: its columns are not those of the first part: they are "x", there "x", "y"`},
		{"a header that is not UTF-8", header, "x,\xff\n1,2\n", converters.ErrMalformed, `part-0: offset 2: "header": malformed: the name "\xff" is not UTF-8`},
		{"doubled name", header, "x,y,x\n1,2,3\n", converters.ErrDuplicate, `part-0: offset 0: "header": duplicate: two columns are named "x" (option columns)`},
		{"doubled name, selected", Options{Header: true, Columns: []string{"x"}}, "x,y,x\n1,2,3\n", converters.ErrDuplicate, `part-0: offset 0: "header": duplicate: two columns are named "x" (option columns)`},
		{"selected twice", Options{Header: true, Columns: []string{"x", "x"}}, "x,y\n1,2\n", converters.ErrDuplicate, `part-0: offset 0: "header": duplicate: the column "x" is selected twice (option columns)`},
		{"unknown name", Options{Header: true, Columns: []string{"z"}}, "a,b,c,d,e,f,g,h,i,j\n", converters.ErrUnsupported, `part-0: offset 0: "header": not supported: there is no column "z"; there are "a", "b", "c", "d", "e", "f", "g", "h" and 2 more (option columns)`},
		{"more names than columns", Options{Columns: []string{"a", "b"}}, "1\n", converters.ErrUnsupported, `part-0: offset 0: "row 1": not supported: it has 1 column, 2 names are given, and without a header they name all columns (option header, where the first line names them)`},
		{"packed text", Options{Form: Packed}, "1,2\n3,x\n", converters.ErrUnsupported, `part-0: offset 6: "row 2, column c1": not supported: raw records are numbers, and "x" is not a number (option encode msgpack)`},
		{"packed null", Options{Form: Packed}, "1,\n", converters.ErrUnsupported, `part-0: offset 2: "row 1, column c1": not supported: raw records are numbers, and a value is empty (option encode msgpack)`},
		{"packed types", Options{Form: Packed, DType: "c0=int64"}, "1\n", converters.ErrUnsupported, `part-0: offset -1`},
		{"packed sample over the limit", Options{RowsPerSample: 3, MaxSample: 16}, "1\n2\n3\n", converters.ErrLimit, `part-0: offset 4: over a limit: with this row the sample has more than 16 bytes (option max-sample-size, or less option rows-per-sample)`},
		{"table over the limit", Options{RowsPerSample: 3, MaxSample: 60}, "a,x\nbcde,xyz\nf,y\n", converters.ErrLimit, `part-0: offset 4: over a limit: with this row the sample has more than 60 bytes (option max-sample-size, or less option rows-per-sample)`},
		{"table of numbers over the limit", Options{RowsPerSample: 3, Form: Table, MaxSample: 71}, "1\n2\n3\n", converters.ErrLimit, `part-0: offset 4: over a limit: with this row the sample has more than 71 bytes (option max-sample-size, or less option rows-per-sample)`},
		{"columns over a limit of their own", Options{MaxColumns: 2}, "1,2,3\n", converters.ErrLimit, `part-0: offset 0: "row 1": over a limit: it has 3 columns, at most 2 are read (option max-columns, if option delimiter is right)`},
		{"columns over the limit", Options{}, strings.Repeat(",", DefaultMaxColumns), converters.ErrLimit, `part-0: offset 0: "row 1": over a limit: it has 65537 columns, at most 65536 are read (option max-columns, if option delimiter is right)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var parts [][]byte
			for part := range strings.SplitSeq(c.parts, "|") {
				parts = append(parts, []byte(part))
			}
			err := refusal(t, c.opts, parts...)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			var placed *converters.Error
			if strings.HasSuffix(c.want, "-1") { // of the options, not of a part
				if errors.As(err, &placed) {
					t.Errorf("placed error %v", err)
				}
				return
			}
			if err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if !errors.As(err, &placed) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%#v has no place", err)
			}
		})
	}
}

func TestRefuseOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{Delimiter: '"'}, "delimiter"}, {Options{Delimiter: '\n'}, "delimiter"}, {Options{Delimiter: '\r'}, "delimiter"},
		{Options{Delimiter: '5'}, "delimiter"}, {Options{Delimiter: '.'}, "delimiter"}, {Options{Delimiter: 'e'}, "delimiter"},
		{Options{Delimiter: 0xE9}, "delimiter"}, {Options{Form: 9}, "form"},
		{Options{DType: "float16"}, "float16"}, {Options{DType: "str"}, "str"}, {Options{DType: "c0=float16"}, "float16"}, {Options{DType: "c0="}, "c0="},
		{Options{DType: "c0=int64,x"}, "NAME=TYPE"}, {Options{DType: "c0=int64,c0=str"}, "two types"}, {Options{DType: "z=int64"}, `no column "z"`},
	} {
		if err := refusal(t, c.opts, []byte("1\n")); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: error %v, want %q in it", c.opts, err, c.want)
		}
	}
}

// A byte of numbers that becomes a quote, a NUL, a CR or a letter is found wherever it is.
func TestDamage(t *testing.T) {
	t.Parallel()
	const sound = "1.5,-2\n3,4e5\n6.25,7\n"
	for _, damage := range []byte{'"', 0, '\r', 'x'} {
		for at := range sound {
			b := []byte(sound)
			b[at] = damage
			err := refusal(t, Options{DType: "float64"}, b)
			if good := damage == '\r' && at == len(sound)-1; good != (err == nil) {
				t.Errorf("%q: error %v", b, err)
			}
		}
	}
}
