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
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/need"
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
	row := []string{s.Key}
	for _, f := range s.Fields {
		row = append(row, f.Name+":"+Words(&f.Value))
	}
	return row
}

// Words returns a value in words.
func Words(v *converters.Value) string {
	switch v.Kind() {
	case converters.KindBytes:
		return words(v.Data())
	case converters.KindText:
		return words(string(v.Data()))
	case converters.KindInt:
		return words(v.Int())
	case converters.KindFloat:
		return words(v.Float())
	}
	return words(v.Nested())
}

func words(v any) string {
	var all []string
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case int64, uint64:
		return fmt.Sprintf("i%d", v)
	case float64:
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case string:
		return "t" + hex.EncodeToString([]byte(v))
	case []byte:
		return "b" + hex.EncodeToString(v)
	case []any:
		for _, x := range v {
			all = append(all, words(x))
		}
		return "[" + strings.Join(all, ",") + "]"
	case converters.Map:
		for _, p := range v {
			all = append(all, words(p.Key)+":"+words(p.Value))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return fmt.Sprintf("%T?", v)
}
