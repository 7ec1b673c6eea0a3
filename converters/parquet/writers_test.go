package parquet

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// rowsOf indexes and reads a file, in the words of other readers.
func rowsOf(t testing.TB, path string) (rows [][]string) {
	t.Helper()
	s := openFiles(t, Options{}, path)
	offs, err := indexOf(t, s, 0)
	if err != nil {
		t.Errorf("%s: %v", filepath.Base(path), err)
		return nil
	}
	for sample, err := range s.Read(t.Context(), converters.Run{Count: int64(len(offs))}) {
		if err != nil {
			t.Errorf("%s: row %d: %v", filepath.Base(path), len(rows), err)
			return nil
		}
		rows = append(rows, arrowjs.Micros(sample, s.Describe().Columns))
	}
	return rows
}

// Files as Spark, Hive, Impala, Trino and old writers have them are read, as DuckDB, Apache's parquet of Rust and arrow-go read
// them, or those of them that can.
func TestWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cases := pq.Cases()
	var paths []string
	for i, c := range cases {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("%02d.parquet", i)))
		if err := os.WriteFile(paths[i], c.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := rowsOf(t, paths[i]); !slices.EqualFunc(got, c.Rows, slices.Equal) {
			t.Errorf("%s: rows %v, want %v", c.Name, got, c.Rows)
		}
	}
	if t.Failed() {
		return
	}
	for name, read := range map[string]func(testing.TB, ...string) []arrowjs.Answer{pq.DuckDB: arrowjs.DuckDB, pq.Rust: arrowjs.Rust} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, a := range read(t, paths...) {
				if c := cases[i]; slices.Contains(c.By, name) && (a.Error != "" || !slices.EqualFunc(a.Rows, c.Rows, slices.Equal)) {
					t.Errorf("%s: rows %v, %s, want %v", c.Name, a.Rows, a.Error, c.Rows)
				}
			}
		})
	}
	t.Run(pq.Go, func(t *testing.T) {
		t.Parallel()
		for i, a := range pq.ArrowGo(t, paths...) {
			if c := cases[i]; slices.Contains(c.By, pq.Go) && a.Error+a.Differs(c.Rows) != "" {
				t.Errorf("%s: column %q: %+v, want %v", c.Name, a.Differs(c.Rows), a, c.Rows)
			}
		}
	})
}

// What DuckDB writes is what is read: its types, in pages of both versions and with each of its codecs.
func TestDuckDBWrites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const rows = `SELECT i::BIGINT AS id, (i % 7 = 0) AS flag, CASE WHEN i % 5 > 0 THEN i::TINYINT END AS tiny, (i * 77)::UINTEGER AS u32, (18446744073709551615 - i)::UBIGINT AS u64,
		(i / 3)::FLOAT AS f32, CASE WHEN i % 3 > 0 THEN i / 7 END AS f64, 'word ' || (i % 13) AS word, CASE WHEN i % 4 > 0 THEN repeat('ü', (i % 50)::INT) END AS text,
		encode('b' || i) AS blob, (i * 1.01 - 50)::DECIMAL(4,1) AS d4, (i * 1.001 - 50)::DECIMAL(18,3) AS d18, (i - 50)::DECIMAL(38,10) AS d38,
		DATE '1960-01-01' + i::INT AS day, TIME '00:00:00' + to_seconds(i) AS clock, TIMESTAMP '1960-01-01 00:00:00.123456' + to_minutes(i) AS us,
		TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_hours(i) AS tz, (TIMESTAMP '2020-01-01' + to_seconds(i))::TIMESTAMP_MS AS ms, (TIMESTAMP '2020-01-01' + to_seconds(i))::TIMESTAMP_NS AS ns,
		md5(i::VARCHAR)::UUID AS uuid, CASE WHEN i % 6 > 0 THEN range(i % 4) END AS ints, [[i, NULL], [], NULL] AS lists,
		{'x': i, 'y': CASE WHEN i % 2 > 0 THEN {'z': 'q' || i} END} AS point, MAP {'a': i, 'b': NULL} AS counts, [MAP {i: ['v']}] AS deep, CASE WHEN i % 2 > 0 THEN 'red' ELSE 'blue' END::ENUM('red', 'blue') AS colour
		FROM range(120) t(i)`
	var paths []string
	var sql string
	for _, codec := range []string{"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"} {
		for _, version := range []string{"V1", "V2"} {
			path := filepath.Join(dir, codec+version+".parquet")
			paths = append(paths, path)
			sql += fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, CODEC '%s', PARQUET_VERSION %s);\n", rows, path, codec, version)
		}
	}
	arrowjs.Copy(t, sql)
	for _, a := range arrowjs.DuckDB(t, paths...) {
		if got := rowsOf(t, a.Path); a.Error != "" || len(got) != 120 || !slices.EqualFunc(got, a.Rows, slices.Equal) {
			t.Errorf("%s: %s: rows\n%.3000v, want\n%.3000v", filepath.Base(a.Path), a.Error, got, a.Rows)
		}
	}
}

// A variant is the map that it is stored as, shredded or not, as arrow-go finds its columns.
func TestVariants(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "variants.parquet")
	arrowjs.Copy(t, `COPY (SELECT * FROM (VALUES (1, 42::VARIANT), (2, {'a': 1, 'b': 'x'}::VARIANT), (3, NULL), (4, [1, 2]::VARIANT), (5, 7::VARIANT)) v(id, v)) TO '`+path+"'")
	rows := rowsOf(t, path)
	if a := pq.ArrowGo(t, path)[0]; len(rows) != 5 || a.Error+a.Differs(rows) != "" {
		t.Errorf("column %q, %s: rows %v, want %+v", a.Differs(rows), a.Error, rows, a.Leaves)
	}
	if names := []string{"metadata", "value", "typed_value"}; len(rows) == 5 {
		for _, name := range names {
			if !strings.Contains(rows[0][1], "t"+hex.EncodeToString([]byte(name))+":") {
				t.Errorf("row %q has no %s", rows[0], name)
			}
		}
	}
}
