package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

const pictureSize = 40_000

// pictures are Examples with a picture, a label, a box, and a caption that makes what is before the picture as long as
// the smallest read.
func pictures(first, n int) []byte {
	var all [][]byte
	for i := first; i < first+n; i++ {
		all = append(all, example(
			entry(keyName, bytesList(fmt.Sprintf("%06d", i))),
			entry("caption", bytesList(strings.Repeat("c", 4000))),
			entry("label", ints(int64(i))),
			entry("box", floats(0, 1, float32(i))),
			entry("jpg", bytesList(string(bytes.Repeat([]byte{byte(i)}, pictureSize)))),
		))
	}
	return framed(all...)
}

const keyName = "__key__"

// mixed are records of all shapes.
func mixed() [][]byte {
	sequence := cat(
		under(1, under(1, entry("id", ints(9)))),
		under(2, under(1, entry("frames", cat(under(1, bytesList("f1")), under(1, bytesList("f2")))))),
	)
	return [][]byte{
		example(entry("a", bytesList("x")), entry("n", ints(-1, 0, 1<<62)), entry("z", floats(1.5))),
		example(entry("z", floats(2)), entry("a", bytesList(""))),
		example(),
		{},
		example(entry("n", ints()), entry("", bytesList("no name")), entry("void", nil)),
		example(entry("n", under(3, "\x08\x05\x08\x06")), entry("z", under(2, "\x0d\x00\x00\x80\x3f"))), // not packed
		example(entry("n", under(3, "\x08\x05\x0a\x02\x06\x07\x08\x08"))),                               // both
		sequence,
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]Options{
		"features":           {},
		"features, all read": {Load: func(string) bool { return true }},
		"lists":              {AllLists: true},
		"whole":              {Whole: true},
		"whole, read":        {Whole: true, Load: func(string) bool { return true }},
	} {
		small := framed(mixed()...)
		for kind, parts := range map[string]struct {
			data [][]byte
			cuts []int64
		}{
			"pictures": {[][]byte{pictures(0, 5), pictures(5, 1)}, []int64{1, 11, 12, 4095, 4096, pictureSize}},
			"mixed":    {[][]byte{framed(mixed()...), {}, pictures(3, 3)}, []int64{1, 8, 12, int64(len(small)) - 1, int64(len(small)) - 4}},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
					var paths []string
					for i, data := range parts.data {
						path := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d.tfrecord", i))
						if err := os.WriteFile(path, data, 0o600); err != nil {
							t.Fatal(err)
						}
						paths = append(paths, path)
					}
					open, use := convertertest.Count(new(converters.Files).Open)
					src, err := openForm(&exampleForm, convertertest.Parts(t, paths...), opts, open)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() {
						if opened, closed := use.Opened.Load(), use.Closed.Load(); opened != closed {
							t.Errorf("%d files opened, %d closed", opened, closed)
						}
					})
					f := convertertest.Fixture{
						Source: src, Files: paths, Cuts: parts.cuts,
						Reopen: func(t *testing.T) converters.Source { return openFiles(t, opts, paths...) },
					}
					if kind == "pictures" && name == "features" { // else heads are payload too, or all is read
						opened := use.Read.Load()
						f.BytesRead, f.Nearby = func() int64 { return use.Read.Load() - opened }, 16<<10
					}
					return f
				})
			})
		}
	}
}

// The values are those of the messages, the fields in the order of names.
func TestValues(t *testing.T) {
	t.Parallel()
	got, err := read(t, memory(t, Options{}, framed(mixed()...)), 0)
	want := []string{
		`"" "a":b78 "n":[-1,0,4611686018427387904] "z":f3ff8000000000000`,
		`"" "a":b "z":f4000000000000000`,
		`""`,
		`""`,
		`"" "":b6e6f206e616d65 "n":[] "void":null`,
		`"" "n":[5,6] "z":f3ff0000000000000`,
		`"" "n":[5,6,7,8]`,
		`"" "frames":[b6631,b6632] "id":9`,
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s\nerror %v, want\n%s", strings.Join(got, "\n"), err, strings.Join(want, "\n"))
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	one, two := example(entry("x", ints(1)), entry("y", ints(1))), example(entry("x", ints(1)), entry("y", ints(1, 2)))
	late := slices.Concat(bytes.Repeat(framed(one), 1000), framed(two))
	for _, row := range []struct {
		name string
		opts Options
		data []byte
		want string // last sample, or error
	}{
		{"told", Options{}, framed(one, two, one), `"" "x":1 "y":[1]`},
		{"contradicted", Options{}, late, `part-0.tfrecord: offset 42000: "record 1000": feature "y": not supported: it has 2 values, and is one value in the first records`},
		{"named", Options{Lists: []string{"y"}}, late, `"" "x":1 "y":[1,2]`},
		{"all", Options{AllLists: true}, framed(one), `"" "x":[1] "y":[1]`},
		{"none", Options{Lists: []string{}}, framed(one, two), `part-0.tfrecord: offset 42: "record 1": feature "y": not supported: it has 2 values, and is not named a list`},
		{"no value", Options{Lists: []string{}}, framed(example(entry("x", ints()))), `part-0.tfrecord: offset 0: "record 0": feature "x": not supported: it has 0 values, and is not named a list`},
		{"unknown until late", Options{}, slices.Concat(bytes.Repeat(framed(one), 1000), framed(example(entry("new", ints(1))))), `"" "new":[1]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src := memory(t, row.opts, row.data)
			got, err := read(t, src, 0)
			last := ""
			if len(got) > 0 {
				last = got[len(got)-1]
			}
			if err != nil {
				last, _, _ = strings.Cut(err.Error(), " (option ")
			}
			if last != row.want {
				t.Errorf("%s, want %s", last, row.want)
			}
			_, _, indexErr := indexed(t, src, 0)
			if fmt.Sprint(err) != fmt.Sprint(indexErr) {
				t.Errorf("Read says %v, Index %v", err, indexErr)
			}
		})
	}
}

// The hint of a contradiction can be copied: it has the lists that were told, too.
func TestListsHint(t *testing.T) {
	t.Parallel()
	first := example(entry("x", ints(1)), entry("y", ints(1, 2)))
	_, err := read(t, memory(t, Options{}, slices.Concat(bytes.Repeat(framed(first), 1000), framed(example(entry("x", ints()))))), 0)
	if e, ok := errors.AsType[*converters.Error](err); !ok || e.Hint != "option lists y,x makes a list of it" {
		t.Errorf("%+v", err)
	}
}

// The features are columns of meta.json, with their types.
func TestDescribe(t *testing.T) {
	t.Parallel()
	got := fmt.Sprint(memory(t, Options{}, nil, framed(mixed()...)).Describe())
	want := fmt.Sprint(converters.Description{Columns: []converters.ColumnType{
		{Name: "", DType: "bytes"}, {Name: "a", DType: "bytes"}, {Name: "frames", DType: "list of bytes"}, {Name: "id", DType: "int64"},
		{Name: "n", DType: "list of int64"}, {Name: "z", DType: "float32"},
	}})
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	twoTypes := framed(example(entry("x", ints(1))), example(entry("x", bytesList("a"))), example(entry("x", ints(2))))
	if got := fmt.Sprint(memory(t, Options{}, twoTypes).Describe().Columns); got != "[{x int64 or bytes}]" {
		t.Error(got)
	}
	if d := memory(t, Options{Whole: true}, framed(mixed()...)).Describe(); d.Encoding != "raw" || d.Columns != nil {
		t.Errorf("%+v", d)
	}
}

// A whole record is its own bytes, which need not be a message.
func TestWhole(t *testing.T) {
	t.Parallel()
	got, err := read(t, memory(t, Options{Whole: true}, framed([]byte("hello"), nil)), 0)
	if want := []string{`"" "record":b68656c6c6f`, `"" "record":b`}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, error %v", got, err)
	}
}

// Samples come from past the page cache as they come from it: large ones, and small ones.
func TestCold(t *testing.T) {
	t.Parallel()
	records := framed(mixed()...)
	convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source { return openFiles(t, Options{}, paths...) },
		pictures(0, 100), bytes.Repeat(records, 1_000_000/len(records)))
}
