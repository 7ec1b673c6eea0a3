package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The Python reader of docs/reading.md, which knows nothing of this program, reads every
// sample back as Python's tarfile reads it from the source.
func TestPythonReader(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("no python3")
		}
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "reading.md"))
	if err != nil {
		t.Fatal(err)
	}
	reader := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	if reader == nil || strings.Count(string(reader[1]), "\n") > 25 {
		t.Fatal("docs/reading.md has no Python reader of 25 lines or fewer")
	}
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
			if status := run(append(append(args, row.tars...), out)); status != exitOK {
				t.Fatalf("ended with %d", status)
			}
			cmd := exec.Command(python, append([]string{"-c", string(reader[1]) + string(compare), out}, row.tars...)...)
			var stderr strings.Builder
			cmd.Stderr = &stderr
			got, err := cmd.Output()
			if err != nil || string(got) != row.samples {
				t.Errorf("%v: %q samples, want %q\n%s", err, got, row.samples, stderr.String())
			}
		})
	}
}
