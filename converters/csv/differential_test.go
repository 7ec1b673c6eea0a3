package csv

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A table is a random CSV part and what was meant.
type table struct {
	data    []byte
	opts    Options
	kinds   []kind // of the columns; texts where all values are null
	numeric bool
	empty   int // lines
}

var (
	someText  = []string{"", "a", "grüß", "漢字", "with space", "say \"hi\"", "\"", "two\nlines", "two\r\nlines", "\r\n", "\r", "a,b;c\td|e", " 5 ", "NULL", "#1", "x" + strings.Repeat("long", 50)}
	someBools = []string{"true", "false", "True", "FALSE"}
)

// randomTable makes up to 60 rows; all columns of a kind, or of many kinds.
func randomTable(rnd *rand.Rand) table {
	columns := 1 + rnd.IntN(5)
	tb := table{numeric: rnd.IntN(2) == 0}
	tb.opts = Options{Delimiter: ",;\t|"[rnd.IntN(4)], Header: rnd.IntN(2) == 0}
	names := make([]string, columns)
	for i := range columns {
		names[i] = fmt.Sprintf("näme%c%d", tb.opts.Delimiter, i)
		k := float64s
		if !tb.numeric {
			k = []kind{int64s, float64s, bools, texts}[rnd.IntN(4)]
		}
		tb.kinds = append(tb.kinds, k)
	}
	if !tb.numeric {
		tb.kinds[rnd.IntN(columns)] = texts
	}
	nulls := columns > 1 && !tb.numeric && rnd.IntN(2) == 0
	crlf, last := rnd.IntN(3), rnd.IntN(2) == 0
	var b strings.Builder
	if rnd.IntN(4) == 0 {
		b.WriteString("\uFEFF")
	}
	line := func(values []string) {
		b.WriteString(strings.Join(values, string(tb.opts.Delimiter)))
		if crlf == 0 || crlf == 1 && rnd.IntN(2) == 0 {
			b.WriteString("\r")
		}
		b.WriteString("\n")
	}
	if tb.opts.Header {
		for i, n := range names {
			names[i] = quote(n)
		}
		line(names)
	}
	for range 1 + rnd.IntN(60) {
		var row []string
		for _, k := range tb.kinds {
			s := randomValue(rnd, k)
			switch {
			case k == texts || rnd.IntN(20) == 0:
				s = quote(s)
			case nulls && rnd.IntN(4) == 0:
				s = ""
			case k != bools && rnd.IntN(20) == 0:
				s = " " + s + "\t"
				if tb.opts.Delimiter == '\t' {
					s = " " + strings.TrimSpace(s)
				}
			}
			row = append(row, s)
		}
		line(row)
		if rnd.IntN(10) == 0 {
			line(nil)
			tb.empty++
		}
	}
	text := b.String()
	if last && !strings.HasSuffix(text, "\n\n") && !strings.HasSuffix(text, "\n\r\n") {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	tb.data = []byte(text)
	return tb
}

func randomValue(rnd *rand.Rand, k kind) string {
	switch k {
	case int64s:
		return strconv.FormatInt(int64(rnd.Uint64())>>rnd.IntN(64), 10)
	case float64s:
		switch rnd.IntN(8) {
		case 0:
			return []string{"inf", "-Infinity", "nan", "1e300", "-0.0", ".5", "5.", "1e-400", "+1.0", "0.0"}[rnd.IntN(10)]
		case 1:
			for {
				if f := math.Float64frombits(rnd.Uint64()); !math.IsNaN(f) && !math.IsInf(f, 0) {
					return strconv.FormatFloat(f, 'e', -1, 64)
				}
			}
		}
		return strconv.FormatFloat(rnd.NormFloat64(), 'e', rnd.IntN(20)+1, 64)
	case bools:
		return someBools[rnd.IntN(len(someBools))]
	}
	return someText[rnd.IntN(len(someText))]
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// collect indexes and reads a part: its samples, and how many lines were passed over.
func collect(t testing.TB, src *source, part int, each func(s *converters.Sample)) (skipped map[string]int, err error) {
	t.Helper()
	skipped = make(map[string]int)
	run := converters.Run{Part: part}
	for span, err := range src.Index(t.Context(), part) {
		switch {
		case err != nil:
			return nil, err
		case span.Shape == nil:
			skipped[span.Skip] += span.Entries
			continue
		case run.Count == 0:
			run.Off = span.Off
		}
		run.Count++
	}
	for s, err := range src.Read(t.Context(), run) {
		if err != nil {
			return nil, err
		}
		each(s)
	}
	return skipped, nil
}

// inWords puts a value into words, numbers by their bits.
func inWords(v converters.Value) string {
	switch v.Kind() {
	case converters.KindText:
		return "text " + string(v.Data())
	case converters.KindInt:
		return "int " + strconv.FormatInt(v.Int(), 10)
	case converters.KindFloat:
		return fmt.Sprintf("float %016x", math.Float64bits(v.Float()))
	}
	return fmt.Sprint(v.Nested())
}

// Two hundred random parts are read as Python's csv module and float() read them.
func TestAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of files, in Python too")
	py := python.Start(t, pythonCSV, "numpy")
	rnd := rand.New(rand.NewPCG(20, 26))
	rows, numeric := 0, 0
	for i := range 200 {
		tb := randomTable(rnd)
		var answer pythonAnswer
		py.Ask(append([]byte{tb.opts.Delimiter}, tb.data...), &answer)
		if tb.opts.Header {
			for c, name := range answer.Rows[0] {
				if tb.opts.Columns = append(tb.opts.Columns, name); c > 0 {
					slices.Reverse(tb.opts.Columns)
				}
			}
			answer.Rows, answer.Floats, answer.Packed = answer.Rows[1:], answer.Floats[1:], answer.Packed[1:]
		}
		src := inMemory(t, tb.opts, tb.data)
		if src.schema.numeric {
			numeric++
		}
		if src.schema.numeric != tb.numeric {
			t.Fatalf("dataset %d: numeric is %t, want %t: %q", i, src.schema.numeric, tb.numeric, tb.data)
		}
		row := 0
		skipped, err := collect(t, src, 0, func(s *converters.Sample) {
			if row < len(answer.Rows) {
				againstPython(t, src, s, &tb, &answer, row)
			}
			row++
		})
		if err != nil || row != len(answer.Rows) || skipped["empty line"] != tb.empty || skipped["header line"] > 0 != tb.opts.Header {
			t.Fatalf("dataset %d: %d rows, %v, error %v; Python has %d, empty are %d: %q", i, row, skipped, err, len(answer.Rows), tb.empty, tb.data)
		}
		rows += row
		if t.Failed() {
			t.Fatalf("dataset %d: %+v %q", i, tb.opts, tb.data)
		}
	}
	t.Logf("200 datasets, %d of numbers, %d rows", numeric, rows)
	if numeric < 50 || rows < 2000 {
		t.Error("there was little to compare")
	}
}

// againstPython compares one row.
func againstPython(t *testing.T, src *source, s *converters.Sample, tb *table, answer *pythonAnswer, row int) {
	t.Helper()
	if src.schema.form == Packed {
		got := s.Fields[0].Value.Data()
		var want []byte
		packed, _ := hex.DecodeString(answer.Packed[row])
		for _, c := range src.schema.kept {
			want = append(want, packed[8*c.index:8*c.index+8]...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("row %d: %x, Python's numpy has %x", row, got, want)
		}
		return
	}
	for i, c := range src.schema.kept {
		text, want := answer.Rows[row][c.index], ""
		switch v := s.Fields[i].Value; {
		case text == "" && v.Kind() == converters.KindNested:
			want = "<nil>"
		case c.kind == texts:
			want = "text " + text
		case c.kind == int64s:
			n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			want = "int " + strconv.FormatInt(n, 10)
		case c.kind == float64s:
			want = "float " + answer.Floats[row][c.index]
		default:
			want = strings.ToLower(text)
		}
		if got := inWords(s.Fields[i].Value); got != want {
			t.Errorf("row %d, column %s (%v): %q, want %q", row, c.name, c.kind, got, want)
		}
		if wide := tb.kinds[c.index]; wide != texts && c.kind != wide && c.kind != texts {
			t.Errorf("column %s is %v, want %v", c.name, c.kind, wide)
		}
	}
}
