// Package arrowjs writes Parquet files and Arrow files of odd rows with libraries of others: apache-arrow and
// hyparquet-writer in JavaScript, and parquet-wasm, which is Apache's parquet and arrow of Rust. Only tests import it.
//
//	dir, rows := arrowjs.Write(t, "parquet", 10_000)
//
// need.Node says how the libraries are installed.
package arrowjs

import (
	"bufio"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

//go:embed write.mjs
var script []byte

// Write writes files of n rows into a new directory, and returns it with the rows in words: the key, then "name:value" for
// each field. what is "parquet", "flat" or "arrow".
func Write(t testing.TB, what string, n int) (dir string, rows [][]string) {
	t.Helper()
	node := need.Tool(t, "node")
	var home string
	for _, name := range []string{"apache-arrow", "parquet-wasm", "hyparquet-writer"} {
		home = filepath.Join(need.Node(t, name), "..", "..")
	}
	dir = t.TempDir()
	program := filepath.Join(dir, "write.mjs")
	if err := os.WriteFile(program, script, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, program, what, fmt.Sprint(n), dir)
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(filepath.Join(dir, "rows"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var row []string
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil || len(rows) != n {
		t.Fatalf("%d rows, want %d; %v", len(rows), n, err)
	}
	return dir, rows
}

// Row returns a sample in words, as Write has them.
func Row(s *converters.Sample) []string {
	row := make([]string, 1, 1+len(s.Fields))
	row[0] = s.Key
	var b []byte // one for all fields: new memory for each is slow under the race detector
	for i := range s.Fields {
		f := &s.Fields[i]
		b = appendValue(append(append(b[:0], f.Name...), ':'), &f.Value)
		row = append(row, string(b))
	}
	return row
}

func appendValue(b []byte, v *converters.Value) []byte {
	switch v.Kind() {
	case converters.KindBytes:
		return appendWords(b, v.Data())
	case converters.KindText:
		return hex.AppendEncode(append(b, 't'), v.Data())
	case converters.KindInt:
		return appendWords(b, v.Int())
	case converters.KindFloat:
		return appendWords(b, v.Float())
	}
	return appendWords(b, v.Nested())
}

func appendWords(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		return strconv.AppendInt(append(b, 'i'), v, 10)
	case uint64:
		return strconv.AppendUint(append(b, 'i'), v, 10)
	case float64:
		return fmt.Appendf(b, "f%016x", math.Float64bits(v))
	case string:
		return hex.AppendEncode(append(b, 't'), []byte(v))
	case []byte:
		return hex.AppendEncode(append(b, 'b'), v)
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendWords(b, x)
		}
		return append(b, ']')
	case converters.Map:
		b = append(b, '{')
		for i, p := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendWords(append(appendWords(b, p.Key), ':'), p.Value)
		}
		return append(b, '}')
	}
	return fmt.Appendf(b, "%T?", v)
}
