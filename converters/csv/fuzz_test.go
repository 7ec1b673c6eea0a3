package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// rowsOf splits a part. Its values are without CR: the standard library leaves some away.
// The window has so many bytes.
func rowsOf(data []byte, delimiter byte, window int) (rows [][]string, err error) {
	var s splitter
	s.std = make([]byte, window+pad)
	opts := Options{Delimiter: delimiter, MaxRow: DefaultMaxRow}
	s.reset(memoryFile{bytes.NewReader(data)}, converters.Part{Name: "part-0", Size: int64(len(data))}, &opts, 0, 0)
	for {
		step, err := s.next()
		if err != nil || step == stepEnd {
			return rows, err
		}
		if step != stepRow {
			continue
		}
		var row []string
		for _, c := range s.cells {
			row = append(row, strings.ReplaceAll(string(s.value(c)), "\r", ""))
		}
		rows = append(rows, row)
	}
}

// FuzzSplit: what is accepted is what the standard library reads; what it refuses is
// refused, and what it refuses not is accepted, CR and NUL aside.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"1,2\n3,4\n", "\"a\"\"b\",c\r\n\r\n\"\n\"", "a\"b", "\"a\"b", "\"", "\"\"", "\"\"\"", "\"\"\"\"", ",,\n,", "\r\r\n", "a\rb\n", "a\r", "\"\r\n\r\"\r", " \"a\"", "\x00", "\n\n", "é,漢\n", "\"aaaaaaaaaa\"\"\n\",bbbbbbbbbbbbb\r\nc,\"d\ne\"\n",
	} {
		f.Add([]byte(s), byte(','))
		f.Add([]byte(s), byte(';'))
	}
	f.Fuzz(func(t *testing.T, data []byte, delimiter byte) {
		if !mayDelimit(delimiter) || delimiter >= 0x80 {
			return
		}
		std := stdcsv.NewReader(bytes.NewReader(data))
		std.Comma, std.FieldsPerRecord = rune(delimiter), -1
		want, wantErr := std.ReadAll()
		got, err := rowsOf(data, delimiter, windowSize)
		for _, window := range []int{1, 7, 64} { // rows that lie across its edge, and that do not fit
			if rows, e := rowsOf(data, delimiter, window); fmt.Sprint(rows, e) != fmt.Sprint(got, err) {
				t.Errorf("%q: %q, %v; with a window of %d bytes %q, %v", data, got, err, window, rows, e)
			}
		}
		if err == nil && wantErr == nil {
			for _, row := range want {
				for i := range row {
					row[i] = strings.ReplaceAll(row[i], "\r", "")
				}
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%q: %q, the standard library has %q", data, got, want)
			}
			return
		}
		if err == nil {
			t.Errorf("%q: %q, the standard library refuses it: %v", data, got, wantErr)
		}
		if wantErr == nil && !bytes.ContainsAny(data, "\r\x00") {
			t.Errorf("%q: refused, %v", data, err)
		}
	})
}

// FuzzSource: whatever the parts hold, Index and Read have the same rows, with the sizes
// that Index said, and Arrow takes all that we hand it.
func FuzzSource(f *testing.F) {
	for _, s := range []string{"1,2\n3,4.5\n", "a,b\n1,\"x\"\"\r\n\"\n2,\n", "x\ntrue\nFALSE\n", "\uFEFFx,y\n0x1,nan(1)\n-nan,1e999\n", "1\n\n2\n", "9223372036854775808,1_0\n", " 5 ,\v\n"} {
		for n := range byte(32) {
			f.Add([]byte(s), []byte(s), n)
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte, how byte) {
		opts := Options{Header: how&1 != 0, RowsPerSample: int64(how>>1&1) + 1, Form: []Form{Auto, Fields, Table, Packed}[how>>2&3], DType: []string{"", "int64", "float32", "float64"}[how>>4&3], MaxRow: 1 << 16}
		src, err := openMemory(opts, first, second)
		for p := 0; err == nil && p < 2; p++ {
			var shapes []string
			run := converters.Run{Part: p}
			for span, e := range src.Index(t.Context(), p) {
				if err = e; err != nil {
					break
				}
				if span.Shape == nil {
					continue
				}
				if run.Count == 0 {
					run.Off = span.Off
				}
				run.Count++
				shapes = append(shapes, sizes(span.Shape))
			}
			if err != nil {
				break
			}
			i := 0
			for s, err := range src.Read(t.Context(), run) {
				if err != nil || i >= len(shapes) || sizes(s) != shapes[i] {
					t.Fatalf("sample %d of %d: %v, error %v", i, len(shapes), s, err)
				}
				i++
			}
			if i != len(shapes) {
				t.Fatalf("Index has %d samples, Read %d", len(shapes), i)
			}
		}
		if err != nil && (strings.Contains(err.Error(), "Arrow") || errors.Is(err, io.EOF)) {
			t.Errorf("%v", err)
		}
	})
}

func sizes(s *converters.Sample) string {
	words := fmt.Sprint(s.Off)
	for _, f := range s.Fields {
		if f.Value.Kind() == converters.KindBytes {
			words += fmt.Sprint(" ", f.Value.Len())
		} else {
			words += " " + inWords(f.Value)
		}
	}
	return words
}
