package arch

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// goFiles are the files of the tree by their paths, and by their names alone.
func goFiles(t *testing.T) map[string]bool {
	t.Helper()
	files := make(map[string]bool)
	err := fs.WalkDir(os.DirFS(filepath.Join("..", "..")), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".go") {
			files[name], files[path.Base(name)] = true, true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Pages that lead into the code name files that are there.
func TestPagesNameFiles(t *testing.T) {
	t.Parallel()
	files, name := goFiles(t), regexp.MustCompile("`([a-z0-9_/]+\\.go)`")
	for _, doc := range []string{"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/adding-a-format.md"} {
		named := name.FindAllStringSubmatch(page(t, doc), -1)
		if len(named) == 0 {
			t.Errorf("%s names no file", doc)
		}
		for _, m := range named {
			if !files[m[1]] {
				t.Errorf("%s names %s, which is not in the tree", doc, m[1])
			}
		}
	}
}

// Each decision has its row in the index, under its title.
func TestDecisionsAreIndexed(t *testing.T) {
	t.Parallel()
	index := page(t, "docs/decisions/README.md")
	notes, err := filepath.Glob(filepath.Join("..", "..", "docs", "decisions", "[0-9]*.md"))
	if err != nil || len(notes) == 0 {
		t.Fatal(len(notes), err)
	}
	for _, note := range notes {
		base := filepath.Base(note)
		title, _, _ := strings.Cut(page(t, "docs/decisions/"+base), "\n")
		if row := "| [" + base[:3] + "](" + base + ") | " + strings.TrimPrefix(title, "# ") + " |"; !strings.Contains(index, row) {
			t.Errorf("docs/decisions/README.md has no row %s", row)
		}
	}
}
