package parquettest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A Columns is what arrow-go finds in a file, column by column, or why it does not read it.
type Columns struct {
	Path   string
	Leaves []struct {
		Name  string // names with dots between
		Flat  bool   // neither in a group nor repeated: Words has the nulls
		Words []string
	}
	Error string
}

// ArrowGo reads Parquet files with Apache's arrow-go. It runs the module in the directory arrowgo.
func ArrowGo(t testing.TB, paths ...string) (all []Columns) {
	t.Helper()
	need.Long(t, "compiles arrow-go")
	_, here, _, _ := runtime.Caller(0)
	dir := filepath.Join(filepath.Dir(here), "arrowgo")
	download := exec.Command("go", "mod", "download")
	download.Dir = dir
	if out, err := download.CombinedOutput(); err != nil {
		need.Missing(t, "arrow-go:", err, string(out))
	}
	cmd := exec.Command("go", append([]string{"run", "."}, paths...)...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("arrowgo: %v\n%s", err, errs.String())
	}
	for line := range bytes.Lines(out) {
		var c Columns
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if len(all) != len(paths) {
		t.Fatalf("arrowgo answers for %d of %d files", len(all), len(paths))
	}
	return all
}

var scalars = regexp.MustCompile(`(?:true|false|[itbf]-?[0-9a-f]*):?`)

// Differs compares with rows of "name:word", and returns the name of a column that differs, or "". Of a column of lists, maps or
// structs it compares the values, in no order.
func (c *Columns) Differs(rows [][]string) string {
	for _, l := range c.Leaves {
		if !l.Flat {
			continue
		}
		var words []string
		for _, row := range rows {
			i := slices.IndexFunc(row, func(f string) bool { return strings.HasPrefix(f, l.Name+":") })
			if i < 0 {
				return l.Name
			}
			words = append(words, row[i][len(l.Name)+1:])
		}
		if !slices.Equal(words, l.Words) {
			return l.Name
		}
	}
	nested, names := make(map[string][]string), make(map[string]bool)
	for _, l := range c.Leaves {
		if path := strings.Split(l.Name, "."); !l.Flat {
			nested[path[0]] = append(nested[path[0]], l.Words...)
			for _, name := range path[1:] {
				names[word(name)+":"] = true
			}
		}
	}
	for name, want := range nested {
		var words []string
		for _, row := range rows {
			i := slices.IndexFunc(row, func(f string) bool { return strings.HasPrefix(f, name+":") })
			if i < 0 {
				return name
			}
			for _, w := range scalars.FindAllString(strings.ReplaceAll(row[i][len(name)+1:], "null", ""), -1) {
				if !names[w] { // the name of a field of a struct
					words = append(words, strings.TrimSuffix(w, ":"))
				}
			}
		}
		slices.Sort(words)
		slices.Sort(want)
		if !slices.Equal(words, want) {
			return name
		}
	}
	return ""
}
