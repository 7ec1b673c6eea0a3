package csv

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	src, err := Open(convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func writeParts(t testing.TB, parts ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for i, data := range parts {
		path := filepath.Join(dir, fmt.Sprintf("part-%d", i))
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func TestSource(t *testing.T) {
	t.Parallel()
	numbers := []string{"1,2\n\n3.5,4e3\r\n 5,\"6\"\n7,8\n9,-0\n", "", "10,20", "\n\n"}
	mixed := "id,name,x\n1,a,\n2,\"\",0.5\n\n,\"two\r\nlines\",1\n4,,2\n5,\"the \"\"end\"\",\nat last\",3"
	typed := []string{mixed, "id,name,x\r\n6,f,1\r\n"}
	cuts := []int64{0, 1, 8} // and inside the last quotes
	for n := strings.Index(mixed, "\"the") + 1; n <= strings.LastIndex(mixed, "\""); n++ {
		if mixed[n-1] != '"' || n == strings.Index(mixed, "\"the")+1 {
			cuts = append(cuts, int64(n))
		}
	}
	for _, c := range []struct {
		name  string
		opts  Options
		parts []string
		cuts  []int64
	}{
		{name: "numbers", parts: numbers},
		{name: "numbers, two rows a sample", opts: Options{RowsPerSample: 2}, parts: numbers},
		{name: "float32", opts: Options{DType: "float32"}, parts: numbers},
		{name: "int64", opts: Options{DType: "int64", Form: Fields}, parts: []string{"1\n2\n3\n", "-4\n"}},
		{name: "fields of numbers", opts: Options{Form: Fields}, parts: numbers},
		{name: "tables of numbers", opts: Options{Form: Table, RowsPerSample: 2}, parts: numbers},
		{name: "typed", opts: Options{Header: true}, parts: typed, cuts: cuts},
		{name: "tables", opts: Options{Header: true, RowsPerSample: 2, Columns: []string{"x", "name"}}, parts: typed, cuts: cuts},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				paths := writeParts(t, c.parts...)
				return convertertest.Fixture{
					Source: openFiles(t, c.opts, paths...), Files: paths, Cuts: c.cuts,
					Reopen: func(t *testing.T) converters.Source {
						if st, err := os.Stat(paths[0]); err == nil && st.Size() < int64(len(c.parts[0])) {
							src := openFiles(t, c.opts, paths[1:]...) // Open would refuse some cuts itself
							return src.with(slices.Insert(src.Parts(), 0, converters.Part{Name: "part-0", Path: paths[0], Size: st.Size()}))
						}
						return openFiles(t, c.opts, paths...)
					},
				}
			})
		})
	}
}

// inFields puts the samples of all parts into words: "offset: name=value …".
func inFields(t testing.TB, src *source) (all []string) {
	t.Helper()
	for p := range src.Parts() {
		skipped, err := collect(t, src, p, func(s *converters.Sample) {
			words := fmt.Sprintf("%d:", s.Off)
			for _, f := range s.Fields {
				value := inWords(f.Value)
				if f.Value.Kind() == converters.KindBytes {
					value = hex.EncodeToString(f.Value.Data())
				}
				words += " " + f.Name + "=" + value
			}
			all = append(all, words)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"header line", "empty line"} {
			if n := skipped[what]; n > 0 {
				all = append(all, fmt.Sprintf("%d %s", n, what))
			}
		}
	}
	return all
}

func TestSamples(t *testing.T) {
	t.Parallel()
	const one, two, half = "000000000000f03f", "0000000000000040", "000000000000e03f"
	for _, c := range []struct {
		name  string
		opts  Options
		parts string // joined by |
		want  []string
		desc  string // encoding shape columns
	}{
		{"a row", Options{}, "1,2\n", []string{"0: row=" + one + two}, "raw [2] c0:float64 c1:float64"},
		{"parts do not merge", Options{}, "1,2|2,1", []string{"0: row=" + one + two, "0: row=" + two + one}, "raw [2] c0:float64 c1:float64"},
		{"rows", Options{RowsPerSample: 2}, "1\n2\n.5\n|2", []string{"0: rows=" + one + two, "4: rows=" + half, "0: rows=" + two}, "raw [2 1] c0:float64"},
		{"an empty line among rows", Options{RowsPerSample: 2}, "1\n\n2\n", []string{"0: rows=" + one + two, "1 empty line"}, "raw [2 1] c0:float64"},
		{"float32", Options{DType: "float32"}, "1,2\n", []string{"0: row=0000803f00000040"}, "raw [2] c0:float32 c1:float32"},
		{"int64", Options{DType: "int64"}, "1,-1\n", []string{"0: row=0100000000000000ffffffffffffffff"}, "raw [2] c0:int64 c1:int64"},
		{"NaN", Options{}, "nan,-nan\n", []string{"0: row=000000000000f87f000000000000f8ff"}, "raw [2] c0:float64 c1:float64"},
		{"mark and header", Options{Header: true}, "\uFEFFx,y\n1,2\n|x,\"y\"\n2,1\n", []string{"7: row=" + one + two, "1 header line", "6: row=" + two + one, "1 header line"}, "raw [2] x:float64 y:float64"},
		{"columns in their order", Options{Header: true, Columns: []string{"z", "x"}}, "x,y,z\n1,text,2\n2,,1\n", []string{"6: row=" + two + one, "15: row=" + one + two, "1 header line"}, "raw [2] z:float64 x:float64"},
		{"a quoted value that is not kept", Options{Header: true, Columns: []string{"x"}}, "x,y\n1,\"a\nb\"\n2,c\n", []string{"4: row=" + one, "12: row=" + two, "1 header line"}, "raw [1] x:float64"},
		{"a doubled name that is not selected", Options{Header: true, Columns: []string{"x"}}, "y,x,y\n0,1,0\n", []string{"6: row=" + one, "1 header line"}, "raw [1] x:float64"},
		{"names without header", Options{Columns: []string{"a", "b"}}, "1,2\n", []string{"0: row=" + one + two}, "raw [2] a:float64 b:float64"},
		{"fields of numbers", Options{Form: Fields}, "1,2\n", []string{"0: c0=float 3ff0000000000000 c1=float 4000000000000000"}, "msgpack [] c0:float64 c1:float64"},
		{"fields of float32", Options{Form: Fields, DType: "float32"}, "0.1\n", []string{"0: c0=float 3fb99999a0000000"}, "msgpack [] c0:float32"},
		{"fields of integers", Options{Form: Fields, DType: "int64"}, "-1\n", []string{"0: c0=int -1"}, "msgpack [] c0:int64"},
		{"a table of numbers", Options{Form: Table, DType: "int64", RowsPerSample: 2}, "1,2\n3,4\n5,6\n", []string{"0: c0={int64 [1 3]} c1={int64 [2 4]}", "8: c0={int64 [5]} c1={int64 [6]}"}, "msgpack [] c0:int64 c1:int64"},
		{"many rows of fields are a table", Options{Form: Fields, DType: "int64", RowsPerSample: 2}, "1\n3\n", []string{"0: c0={int64 [1 3]}"}, "msgpack [] c0:int64"},
		{"a table of one row", Options{Form: Table}, "a\n", []string{"0: c0={str [a]}"}, "msgpack [] c0:str"},
		{"types", Options{}, "1,1,true,a,1\n-2, 2.5 ,FALSE,2,\n", []string{
			"0: c0=int 1 c1=float 3ff0000000000000 c2=true c3=text a c4=int 1", "13: c0=int -2 c1=float 4004000000000000 c2=false c3=text 2 c4=<nil>",
		}, "msgpack [] c0:int64 c1:float64 c2:bool c3:str c4:int64"},
		{"null and empty", Options{}, "a,\n\"\",\n,\n", []string{"0: c0=text a c1=<nil>", "3: c0=text  c1=<nil>", "7: c0=<nil> c1=<nil>"}, "msgpack [] c0:str c1:str"},
		{"blanks are text", Options{}, "a, \n", []string{"0: c0=text a c1=text  "}, "msgpack [] c0:str c1:str"},
		{"integers of many digits stay text", Options{}, "9223372036854775808,x\n", []string{"0: c0=text 9223372036854775808 c1=text x"}, "msgpack [] c0:str c1:str"},
		{"unless others have a point", Options{}, "9223372036854775808,x\n0.5,y\n", []string{
			"0: c0=float 43e0000000000000 c1=text x", "22: c0=float 3fe0000000000000 c1=text y",
		}, "msgpack [] c0:float64 c1:str"},
		{"given types", Options{DType: "c0=str,c1=float32,c2=bool"}, "1,0.1,true,7\n", []string{"0: c0=text 1 c1=float 3fb99999a0000000 c2=true c3=int 7"}, "msgpack [] c0:str c1:float32 c2:bool c3:int64"},
		{"numbers that Arrow does not take", Options{DType: "c0=float64,c1=float32"}, "0x1.8,0x1p3\n-inf,nan(1)\nInf,-INFINITY\n,+1\n", []string{
			"0: c0=float 3ff8000000000000 c1=float 4020000000000000", "12: c0=float fff0000000000000 c1=float 7ff8000000000000",
			"24: c0=float 7ff0000000000000 c1=float fff0000000000000", "38: c0=<nil> c1=float 3ff0000000000000",
		}, "msgpack [] c0:float64 c1:float32"},
		{"line ends in text", Options{}, "\"a\r\nb\",\"\r\"\n\"\r\n\",\"\n\n\"\r\n", []string{"0: c0=text a\r\nb c1=text \r", "11: c0=text \r\n c1=text \n\n"}, "msgpack [] c0:str c1:str"},
		{"the last CR without LF", Options{}, "1\n2\r", []string{"0: row=" + one, "2: row=" + two}, "raw [1] c0:float64"},
		{"tabulators", Options{Delimiter: '\t'}, "1\t2\n a\t\"b\"\n", []string{"0: c0=text 1 c1=text 2", "4: c0=text  a c1=text b"}, "msgpack [] c0:str c1:str"},
		{"blanks between values", Options{Delimiter: ' '}, "1 2\n", []string{"0: row=" + one + two}, "raw [2] c0:float64 c1:float64"},
		{"the first part has no rows", Options{}, "|\n|1\n", []string{"1 empty line", "0: row=" + one}, "raw [1] c0:float64"},
		{"no rows at all", Options{}, "|\n\n", []string{"2 empty line"}, "raw [0]"},
		{"a header and no rows", Options{Header: true}, "x,y\n", []string{"1 header line"}, "raw [2] x:float64 y:float64"},
		{"the first part has a header alone", Options{Header: true}, "x,y\n|x,y\n1,2\n", []string{"1 header line", "4: row=" + one + two, "1 header line"}, "raw [2] x:float64 y:float64"},
		{"names and no rows", Options{Columns: []string{"x"}}, "", nil, "raw [1] x:float64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var parts [][]byte
			for part := range strings.SplitSeq(c.parts, "|") {
				parts = append(parts, []byte(part))
			}
			src := inMemory(t, c.opts, parts...)
			if got := inFields(t, src); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			d := src.Describe()
			desc := fmt.Sprint(d.Encoding, " ", d.Shape)
			for _, col := range d.Columns {
				desc += " " + col.Name + ":" + col.DType
			}
			if desc != c.desc {
				t.Errorf("described as %q, want %q", desc, c.desc)
			}
		})
	}
}

// Rows that lie across the edges of the window, and rows that do not fit it.
func TestWindowEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		row  func(i int) string
		rows int
	}{
		{"numbers", func(i int) string { return fmt.Sprintf("%d,%d.5,%0200d\n", i, i, i) }, 10_000},
		{"quoted", func(i int) string { return fmt.Sprintf("%d,\"a\n\"\"%0200d\"\n", i, i) }, 10_000},
		{"text", func(i int) string { return fmt.Sprintf("%d,x%0*d\r\n", i, i%300, i) }, 10_000},
		{"large", func(i int) string { return fmt.Sprintf("%d,\"%s\"\r\n", i, strings.Repeat("x\n\"\",", i*99_000)) }, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			var offs []int64
			for i := range c.rows {
				offs = append(offs, int64(b.Len()))
				b.WriteString(c.row(i))
			}
			src := inMemory(t, Options{Form: Fields}, []byte(b.String()))
			n := 0
			if _, err := collect(t, src, 0, func(s *converters.Sample) {
				number := inWords(s.Fields[0].Value)
				if want := inWords(converters.Int(int64(n))); src.schema.numeric {
					want = inWords(converters.Float(float64(n)))
					if number != want {
						t.Fatalf("row %d is %s", n, number)
					}
				} else if number != want {
					t.Fatalf("row %d is %s", n, number)
				}
				if s.Off != offs[n] {
					t.Fatalf("row %d is at %d, want %d", n, s.Off, offs[n])
				}
				n++
			}); err != nil || n != c.rows {
				t.Errorf("%d rows, error %v", n, err)
			}
		})
	}
}

// Rows of numbers are alike, unless their number differs or integers are fields.
func TestAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		opts Options
		want string
	}{
		{Options{}, "n y y y y"}, {Options{RowsPerSample: 2}, "n y n"}, {Options{Form: Fields}, "n y y y y"},
		{Options{Form: Fields, DType: "int64"}, "n n n n n"}, {Options{Form: Table}, "n n n n n"}, {Options{DType: "c0=int64"}, "n n n n n"},
	} {
		got := ""
		for span, err := range inMemory(t, c.opts, []byte("1\n2\n3\n4\n5\n")).Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got += map[bool]string{true: "y", false: "n"}[span.Alike]
		}
		if want := strings.ReplaceAll(c.want, " ", ""); got != want {
			t.Errorf("%+v: %s, want %s", c.opts, got, want)
		}
	}
}

// The first mebibyte decides on the types, and no row behind it.
func TestInferSize(t *testing.T) {
	t.Parallel()
	row := strings.Repeat("1", 63) + "\n"
	first := strings.Repeat(row, inferSize/len(row))
	if src := inMemory(t, Options{}, []byte(first+"text\n")); !src.schema.numeric {
		t.Error("a row behind the first MiB decides")
	}
	if src := inMemory(t, Options{}, []byte(first[:len(first)-5]+"\nabc\n")); src.schema.numeric {
		t.Error("the last row of the first MiB does not decide")
	}
	if src := inMemory(t, Options{}, []byte("\""+strings.Repeat("a", 2*inferSize)+"\"\n1\n")); src.schema.numeric {
		t.Error("a first row of more than a MiB does not decide")
	}
}

// Samples come from past the page cache as they come from it: rows, and tables of 100 kB.
func TestCold(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := 0; b.Len() < 2_500_000; i++ {
		fmt.Fprintf(&b, "%d,%d.5,-%d\n", i, i*i, i)
	}
	for _, opts := range []Options{{}, {Form: Table, RowsPerSample: 4000}} {
		convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source { return openFiles(t, opts, paths...) }, []byte(b.String()))
	}
}
