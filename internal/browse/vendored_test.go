package browse

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

// Files of others are those that were published, and their licence is with them.
func TestVendored(t *testing.T) {
	t.Parallel()
	f, err := os.Open("vendored.sha256")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	known := make(map[string]bool)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		data, err := static.ReadFile(path.Join("static", name))
		if err != nil {
			t.Fatal(err)
		}
		if is := fmt.Sprintf("%x", sha256.Sum256(data)); is != sum {
			t.Errorf("%s has the SHA-256 %s, not %s", name, is, sum)
		}
		known[name] = true
	}
	for _, name := range []string{"uPlot.iife.min.js", "uPlot.min.css", "uPlot.LICENSE"} {
		if !known[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}
