package faults

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCache looks at every source of the program. The go command sees which files a test
// looks at, but not what a child of it builds: without this, it would take the results of
// an older program from its cache.
func TestCache(t *testing.T) {
	slow(t)
	t.Parallel()
	seen := 0
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(name, ".go") || d.Name() == "go.mod") {
			seen++
			_, err = os.Stat(name)
		}
		return err
	})
	if err != nil || seen < 50 {
		t.Errorf("%d sources: %v", seen, err)
	}
}
