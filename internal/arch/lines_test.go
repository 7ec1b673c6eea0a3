package arch

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// A line of a Markdown page has at most 120 characters. Tables, code blocks and addresses may be longer.
func TestLinesOfPages(t *testing.T) {
	t.Parallel()
	root, pages := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && elsewhere(name) && d.Name() != ".github" {
			return fs.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".md" {
			return nil
		}
		text, err := os.ReadFile(name)
		for _, n := range longLines(text) {
			t.Errorf("%s:%d: more than 120 characters", filepath.ToSlash(name), n)
		}
		pages++
		return err
	})
	if err != nil || pages < 50 {
		t.Fatalf("%d pages: %v", pages, err)
	}
}

// longLines returns the numbers, from 1, of lines of a page that are too long.
func longLines(page []byte) (numbers []int) {
	fenced := false
	for k, line := range bytes.Split(page, []byte("\n")) {
		text := strings.TrimLeft(string(line), " ")
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		free := fenced || strings.HasPrefix(string(line), "    ") || strings.HasPrefix(text, "|") || strings.Contains(text, "://")
		if !free && utf8.RuneCount(line) > 120 {
			numbers = append(numbers, k+1)
		}
	}
	return numbers
}

func TestLongLines(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 121)
	for _, c := range []struct {
		page string
		want int // lines that are too long
	}{
		{strings.Repeat("é", 120), 0},
		{"a\n" + long, 1},
		{"- " + long, 1},
		{"| " + long, 0},
		{"    " + long, 0},
		{"```\n" + long + "\n```", 0},
		{"```\n```\n" + long, 1},
		{"https://" + long, 0},
	} {
		if got := longLines([]byte(c.page)); len(got) != c.want {
			t.Errorf("%.20q: lines %v; want %d", c.page, got, c.want)
		}
	}
}
