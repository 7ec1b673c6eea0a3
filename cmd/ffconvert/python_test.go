package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pythonReader is the reader of docs/reading.md.
func pythonReader(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reading.md"))
	if err != nil {
		t.Fatal(err)
	}
	reader := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if reader == nil || strings.Count(string(reader[1]), "\n") > 25 {
		t.Fatal("docs/reading.md has no Python reader of 25 lines or fewer")
	}
	return string(reader[1])
}

// The Python reader of docs/reading.md, which knows nothing of this program, reads every
// sample back as Python's tarfile reads it from the source.
func TestPythonReader(t *testing.T) {
	t.Parallel()
	need.Time(t, "a Python for each format and encoding")
	python3, reader := python.Path(t), pythonReader(t)
	compare, err := os.ReadFile(filepath.Join("testdata", "python", "compare.py"))
	if err != nil {
		t.Fatal(err)
	}
	tars, err := filepath.Glob(filepath.Join("..", "..", "testdata", "shards-*.tar"))
	if err != nil || len(tars) != 10 {
		t.Fatal(tars, err)
	}
	more, err := filepath.Glob(filepath.Join("..", "..", "testdata", "tars", "*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		tars    []string
		args    []string
		samples string
	}{
		"shards of one program":    {tars, []string{"--shards", "5"}, "120\n"},
		"one shard":                {tars, nil, "120\n"},
		"tars of several programs": {more, []string{"--shards", "3"}, "54\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "out")
			args := append([]string{"tar", "--progress", "none"}, row.args...)
			if status := run(append(append(args, row.tars...), out), time.Minute); status != exitOK {
				t.Fatalf("ended with %d", status)
			}
			cmd := exec.Command(python3, append([]string{"-c", reader + string(compare), out}, row.tars...)...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			got, err := cmd.Output()
			if err != nil || string(got) != row.samples {
				t.Errorf("%v: %q samples, want %q\n%s", err, got, row.samples, stderr.String())
			}
		})
	}
}

// Records of every source, in every encoding, are what Python's own libraries read from
// the source.
func TestPythonSources(t *testing.T) {
	t.Parallel()
	need.Time(t, "a Python for each format and encoding")
	python3, reader := python.Path(t, "cbor2", "msgpack", "numpy"), pythonReader(t)
	script, err := os.ReadFile(filepath.Join("testdata", "python", "sources.py"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	execute := func(t *testing.T, args ...string) string {
		t.Helper()
		cmd := exec.Command(python3, append([]string{"-c", reader + string(script)}, args...)...)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, stderr.String())
		}
		return strings.TrimSpace(string(out))
	}
	for _, kind := range []string{"folder", "csv", "typed", "cbor", "msgpack", "tar"} {
		execute(t, "make", kind, filepath.Join(work, kind))
	}
	for _, row := range []struct {
		kind, encoding string
		args           []string
		samples        string // "": more than 200
	}{
		{"folder", "msgpack", []string{"folder"}, "200"},
		{"folder", "cbor", []string{"folder", "--encode", "cbor"}, "200"},
		{"folder", "pickle", []string{"folder", "--encode", "pickle"}, "200"},
		{"csv", "floats", []string{"csv"}, ""},
		{"tar", "msgpack", []string{"tar", "--decode"}, "180"},
		{"tar", "cbor", []string{"tar", "--decode", "--encode", "cbor"}, "180"},
		{"tar", "pickle", []string{"tar", "--decode", "--encode", "pickle"}, "180"},
		{"typed", "msgpack", []string{"csv", "--header"}, "150"},
		{"typed", "cbor", []string{"csv", "--header", "--encode", "cbor"}, "150"},
		{"typed", "pickle", []string{"csv", "--header", "--encode", "pickle"}, "150"},
		{"cbor", "cbor", []string{"cbor"}, "240"},
		{"cbor", "msgpack", []string{"cbor", "--encode", "msgpack"}, "240"},
		{"cbor", "pickle", []string{"cbor", "--encode", "pickle"}, "240"},
		{"msgpack", "msgpack", []string{"cbor", "--format", "msgpack"}, "240"},
		{"msgpack", "cbor", []string{"cbor", "--format", "msgpack", "--encode", "cbor"}, "240"},
	} {
		t.Run(row.kind+" as "+row.encoding, func(t *testing.T) {
			t.Parallel()
			dir, out := filepath.Join(work, row.kind), filepath.Join(t.TempDir(), "out")
			if status := run(append(row.args, "--progress", "none", "--shards", "3", dir, out), time.Minute); status != exitOK {
				t.Fatalf("ended with %d", status)
			}
			got := execute(t, "check", row.kind, row.encoding, dir, out)
			if n, err := strconv.Atoi(got); err != nil || row.samples == "" && n <= 200 || row.samples != "" && got != row.samples {
				t.Errorf("%s samples, want %s", got, row.samples)
			}
		})
	}
}

// The filter of docs/plugins.md is the file in examples/.
func TestFilterRecipe(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := os.ReadFile(filepath.Join("..", "..", "examples", "clean.py"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```python\n"+string(recipe)+"```") {
		t.Error("docs/plugins.md does not show examples/clean.py as it is")
	}
}
