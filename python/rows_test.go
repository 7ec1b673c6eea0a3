package python_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/parquettest"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/loader"
)

// Rows of numbers of Parquet become the shards and the meta.json that the same rows of CSV become, so that both loaders
// read them alike.
func TestRowsOfParquet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table, columns := []byte("a,b\n"), make([][]byte, 2)
	var want []byte
	for i := range 100 {
		row := [2]float64{float64(i) / 4, math.Sqrt(float64(i))}
		table = fmt.Appendf(table, "%v,%v\n", row[0], row[1])
		for c, x := range row {
			columns[c] = binary.LittleEndian.AppendUint64(columns[c], math.Float64bits(x))
		}
		want = fmt.Appendf(want, "[%.17g, %.17g]\n", row[0], row[1])
	}
	var file bytes.Buffer
	w := parquettest.NewWriter(&file)
	schema := []parquettest.Element{{Name: "schema", Type: parquettest.Group, Children: 2, Converted: parquettest.None}}
	var chunks []parquettest.Chunk
	for c, b := range columns {
		schema = append(schema, parquettest.Element{Name: "ab"[c : c+1], Type: parquettest.Double, Converted: parquettest.None})
		chunks = append(chunks, parquettest.Chunk{Type: parquettest.Double, Values: 100, Pages: []parquettest.Page{{Values: 100, Body: b}}})
	}
	if w.Group(100, chunks...); w.Close(schema, nil) != nil {
		t.Fatal("a file in memory fails")
	}
	for name, b := range map[string][]byte{"rows.csv": table, "rows.parquet": file.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		format := filepath.Ext(name)[1:]
		convert := exec.Command(need.Program(t), format, "--progress", "none", filepath.Join(dir, name), filepath.Join(dir, format))
		if text, err := convert.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	for _, name := range []string{"PART_00000.ffr", "meta.json"} {
		a, errA := os.ReadFile(filepath.Join(dir, "csv", name))
		b, errB := os.ReadFile(filepath.Join(dir, "parquet", name))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: of CSV and of Parquet differ: %v, %v\n%.2000s\n%.2000s", name, errA, errB, a, b)
		}
	}
	l, err := loader.Open([]string{filepath.Join(dir, "parquet")}, loader.Options{Order: loader.Order{Batch: 100, Mode: loader.Sequential}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for b, err := range l.Batches(t.Context()) {
		if err != nil || b.Len() != 100 {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if want := append(columns[0][8*i:8*i+8:8*i+8], columns[1][8*i:8*i+8]...); !bytes.Equal(b.Sample(i), want) {
				t.Errorf("sample %d: %x, want %x", i, b.Sample(i), want)
			}
		}
	}
	cmd := exec.Command(python.Path(t), "-c", "import sys, ffconvert\nfor s in ffconvert.Dataset(sys.argv[1]): print('[%.17g, %.17g]' % tuple(s['row']))", filepath.Join(dir, "parquet"))
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=.")
	if text, err := cmd.CombinedOutput(); err != nil || !bytes.Equal(text, want) {
		t.Errorf("Python has %v\n%.2000s", err, text)
	}
}
