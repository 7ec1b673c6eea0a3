package jsonl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

const mixed = "\xEF\xBB\xBF" + `{"__key__": "a", "text": "grüß \ud83d\ude00 \"x\"", "n": 7}
{"x": 0.5, "list": [1, [2.0, null], {"y": true}], "empty": {}}
   ` + `
{}
{"a": "", "__key__": "ä", "": -0.0}` + "\r\n" + `{"large": 18446744073709551615, "low": -9223372036854775808}
{"b": {"$bytes": "/9j/AA=="}, "l": [{"$bytes": ""}], "no": {"$bytes": "/9j/AA"}, "two": {"$bytes": "", "x": 1}}
`

func TestSource(t *testing.T) {
	t.Parallel()
	last := `{"__key__": "z", "n": [1, 2.5]}` // nothing less is complete
	first := mixed + strings.Repeat(`{"text": "`+strings.Repeat("long ", 3000)+`"}`+"\n", 30) + last
	var cuts []int64
	for i := 1; i < len(last); i++ {
		cuts = append(cuts, int64(len(first)-i))
	}
	convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
		var paths []string
		for i, data := range []string{first, mixed} {
			path := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d.jsonl", i))
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		reopen := func(t *testing.T) converters.Source { return Open(convertertest.Parts(t, paths...), Options{}) }
		return convertertest.Fixture{Source: reopen(t), Files: paths, Reopen: reopen, Cuts: cuts}
	})
}

// The values of every kind, in the order of the line; empty lines are skipped and counted.
func TestValues(t *testing.T) {
	t.Parallel()
	src := memory(Options{}, mixed)
	got, err := contents(t, src)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"a text:t6772c3bcc39f20f09f988020227822 n:7",
		" x:f3fe0000000000000 list:[1,[f4000000000000000,null],{t79:true}] empty:{}",
		"",
		"ä a:t :f8000000000000000",
		" large:18446744073709551615 low:-9223372036854775808",
		" b:bffd8ff00 l:[b] no:{t246279746573:t2f396a2f4141} two:{t246279746573:t,t78:1}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	_, offs, skipped, _ := indexed(t, src)
	if !slices.Equal(skipped, []string{"empty line"}) || offs[0] != 3 {
		t.Errorf("skipped %q, the first sample at %d", skipped, offs[0])
	}
}

// A member other than __key__ is the key as well, and stays a field.
func TestKeyField(t *testing.T) {
	t.Parallel()
	got, err := contents(t, memory(Options{KeyField: "id"}, `{"n": 1, "id": 17}`+"\n"+`{"id": "x/y", "n": 2}`))
	if want := []string{"17 n:1 id:17", "x/y id:t782f79 n:2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// A line of any length up to the limit is read, wherever it lies in the window.
func TestLineLengths(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, firstRead - 12, firstRead - 11, firstRead - 10, windowSize - 11, windowSize, 3*windowSize + 1} {
		line := `{"text": "` + strings.Repeat("x", n) + `"}` + "\n"
		src := memory(Options{MaxLine: int64(len(line))}, strings.Repeat(line, 3))
		if got, err := contents(t, src); err != nil || len(got) != 3 || len(got[2]) != len(" text:t")+2*n {
			t.Errorf("%d bytes: %d samples, %v", n, len(got), err)
		}
	}
}

// Samples come from past the page cache as they come from it.
func TestCold(t *testing.T) {
	t.Parallel()
	line := `{"text": "` + strings.Repeat("x", 10_000) + `", "n": [1, 2, 3]}` + "\n"
	convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source {
		return Open(convertertest.Parts(t, paths...), Options{})
	}, []byte(strings.Repeat(line, 300)), []byte(strings.Repeat(mixed[3:], 3000)))
}
