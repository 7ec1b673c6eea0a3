package arrowjs

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

//go:embed read.mjs
var reading []byte

// An Answer is what a reader finds in a file: its rows, "name:word" for each column, with times in microseconds; or why it
// does not read it.
type Answer struct {
	Path  string
	Rows  [][]string
	Error string
}

// DuckDB reads Parquet files with DuckDB.
func DuckDB(t testing.TB, paths ...string) []Answer { return read(t, "duckdb", paths) }

// Rust reads Parquet files of flat columns with Apache's parquet of Rust.
func Rust(t testing.TB, paths ...string) []Answer { return read(t, "rust", paths) }

// Streams reads a file of Arrow streams, each behind its size in 4 bytes, with apache-arrow. Maps are lists of pairs.
func Streams(t testing.TB, path string) Answer { return read(t, "arrow", []string{path})[0] }

// Copy runs a statement of DuckDB, which writes files.
func Copy(t testing.TB, sql string) { readers(t, "copy", sql) }

func read(t testing.TB, how string, paths []string) (all []Answer) {
	t.Helper()
	for line := range bytes.Lines(readers(t, how, paths...)) {
		var a Answer
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	if len(all) != len(paths) {
		t.Fatalf("%s answers for %d of %d files", how, len(all), len(paths))
	}
	return all
}

func readers(t testing.TB, how string, args ...string) []byte {
	t.Helper()
	node := need.Tool(t, "node")
	var home string
	for _, name := range []string{"apache-arrow", "parquet-wasm", "@duckdb/node-api", "@duckdb/node-bindings-linux-x64"} {
		dir := need.Node(t, name)
		home = dir[:strings.LastIndex(dir, "node_modules")]
	}
	program := filepath.Join(t.TempDir(), "read.mjs")
	if err := os.WriteFile(program, reading, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, append([]string{program, how}, args...)...)
	cmd.Dir = home
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", how, err, errs.String())
	}
	return out
}

// Micros returns a sample in words as the readers have it: without its key, and with times in microseconds.
func Micros(s *converters.Sample, columns []converters.ColumnType) []string {
	row := Row(s)[1:]
	for i, c := range columns {
		if i >= len(row) || !strings.HasPrefix(row[i], c.Name+":i") {
			continue
		}
		n, err := strconv.ParseInt(row[i][len(c.Name)+2:], 10, 64)
		switch {
		case err != nil:
		case strings.HasSuffix(c.DType, "[ns]"):
			row[i] = c.Name + ":i" + strconv.FormatInt(n/1000, 10)
		case strings.HasSuffix(c.DType, "[ms]"):
			row[i] = c.Name + ":i" + strconv.FormatInt(n*1000, 10)
		}
	}
	return row
}
