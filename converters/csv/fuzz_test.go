package csv

import (
	"bytes"
	"encoding/binary"

	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"

	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// rowsOf splits a part. Its values are without CR: the standard library leaves some away.
// The window has so many bytes.
func rowsOf(data []byte, delimiter byte, usual int) (rows [][]string, err error) {
	var s splitter
	opts := Options{Delimiter: delimiter, MaxRow: DefaultMaxRow, MaxColumns: DefaultMaxColumns}
	s.reset(&scan.Pass{Part: converters.Part{Name: "part-0", Size: int64(len(data))}, File: convertertest.Memory(data)}, &opts)
	s.Reset(s.File, s.Size, 0, scan.Sizes{First: firstRead, Usual: usual, Pad: pad})
	for {
		ev, err := s.next()
		if err != nil || ev == eventEnd {
			return rows, err
		}
		if ev != eventRow {
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
		for _, usual := range []int{1, 7, 64} { // rows that lie across its edge, and that do not fit
			if rows, e := rowsOf(data, delimiter, usual); fmt.Sprint(rows, e) != fmt.Sprint(got, err) {
				t.Errorf("%q: %q, %v; with a window of %d bytes %q, %v", data, got, err, usual, rows, e)
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

// FuzzSource: whatever the parts hold, Index and Read have the same rows, from any of them
// on, with the sizes that Index said and within bounded memory. Packed rows are the numbers
// that their values, split and parsed one by one, are; Arrow takes all that we hand it.
func FuzzSource(f *testing.F) {
	for _, s := range []string{"1,2\n3,4.5\n", "a,b\n1,\"x\"\"\r\n\"\n2,\n", "x\ntrue\nFALSE\n", "\uFEFFx,y\n0x1,nan(1)\n-nan,1e999\n", "1\n\n2\n", "9223372036854775808,1_0\n", " 5 ,\v\n"} {
		for n := range byte(32) {
			f.Add([]byte(s), []byte(s), n)
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte, how byte) {
		opts := Options{Header: how&1 != 0, RowsPerSample: int64(how>>1&1) + 1, Form: []Form{Auto, Fields, Table, Packed}[how>>2&3], DType: []string{"", "int64", "float32", "float64"}[how>>4&3], MaxRow: 1 << 16}
		src, err := openMemory(opts, first, second)
		for p, data := range [][]byte{first, second} {
			if err != nil {
				break
			}
			var shapes []string
			var offs []int64
			if shapes, offs, err = outlines(t, src, p, len(data)); err != nil {
				break
			}
			var read []string
			for _, i := range []int{0, len(shapes) / 2, len(shapes) - 1} {
				if i < 0 || i >= len(shapes) {
					continue
				}
				got := readOutlines(t, src, converters.Run{Part: p, First: int64(i), Off: offs[i], Count: int64(len(shapes) - i)}, shapes[i:])
				if i == 0 {
					read = got
				} else if !slices.Equal(got, read[i:]) {
					t.Fatalf("read from sample %d on: %q; from the first on: %q", i, got, read[i:])
				}
			}
			wantRows(t, src, data, read)
		}
		if err != nil && (strings.Contains(err.Error(), "Arrow") || errors.Is(err, io.EOF) || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Errorf("%v", err)
		}
	})
}

// outlines is what Index has of a part, of so many bytes, and where.
func outlines(t *testing.T, src *source, part, size int) (all []string, offs []int64, err error) {
	fuzz.WantAllocated(t, 8<<20+1000*size, func() {
		all, offs = nil, nil
		for span, e := range src.Index(t.Context(), part) {
			if err = e; err != nil {
				return
			}
			if span.Shape != nil {
				all, offs = append(all, sizes(span.Shape)), append(offs, span.Off)
			}
		}
	})
	return all, offs, err
}

// readOutlines wants samples of the sizes that Index said. It returns them with their bytes.
func readOutlines(t *testing.T, src *source, run converters.Run, want []string) (all []string) {
	for s, err := range src.Read(t.Context(), run) {
		i := len(all)
		if err != nil || i >= len(want) || sizes(s) != want[i] {
			t.Fatalf("sample %d of %d: %v, error %v", i, len(want), s, err)
		}
		text := ""
		for _, f := range s.Fields {
			text += string(f.Value.Data())
		}
		all = append(all, text)
	}
	if len(all) != len(want) {
		t.Fatalf("Index has %d samples, Read %d", len(want), len(all))
	}
	return all
}

// wantRows wants as many samples as the part has rows for, and of packed rows their numbers.
func wantRows(t *testing.T, src *source, data []byte, samples []string) {
	rows, err := rowsOf(bytes.TrimPrefix(data, []byte("\uFEFF")), src.opts.Delimiter, windowSize)
	if err != nil {
		t.Fatalf("accepted, and yet: %v", err)
	}
	if src.opts.Header {
		rows = rows[min(1, len(rows)):]
	}
	var want []string
	for chunk := range slices.Chunk(rows, int(src.opts.RowsPerSample)) {
		text := ""
		for _, row := range chunk {
			for _, value := range row {
				text += packed(t, value, src.schema.kept[0].kind)
			}
		}
		want = append(want, text)
	}
	if len(want) != len(samples) || src.schema.form == Packed && !slices.Equal(want, samples) {
		t.Fatalf("%d samples, want %d: %q, want %q", len(samples), len(want), samples, want)
	}
}

// packed is a value as a number of a kind, little-endian.
func packed(t *testing.T, value string, k kind) string {
	if !k.isNumber() {
		return ""
	}
	bits, _, _ := parsed(t, string(trim([]byte(value))), k)
	b := binary.LittleEndian.AppendUint64(nil, bits)
	if k == float32s {
		b = b[:4]
	}
	return string(b)
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
