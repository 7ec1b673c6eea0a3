package checksum

import (
	"os"
	"path/filepath"
	"testing"
)

// A log that is cut anywhere has the lines before the cut, and goes on behind them.
func TestLogCut(t *testing.T) {
	t.Parallel()
	var data []byte
	ends := []int{0}
	for _, v := range []string{"head", "a", "bb"} {
		line, err := Line(v)
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, line...)
		ends = append(ends, len(data))
	}
	for cut := range len(data) + 1 {
		lines := 0
		whole := WholeLines(data[:cut], func([]byte) bool { lines++; return true })
		if int(whole) != ends[lines] || ends[lines] > cut || lines < 3 && ends[lines+1] <= cut {
			t.Fatalf("cut at %d, it has %d lines in %d bytes", cut, lines, whole)
		}
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, data[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := ResumeLines(f, whole, "head"); err != nil {
			t.Fatal(err)
		}
		if err := PutLine(f, "c"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		again := 0
		if n := WholeLines(got, func([]byte) bool { again++; return true }); int(n) != len(got) || again != max(lines, 1)+1 {
			t.Fatalf("cut at %d and continued, %d of %d bytes are whole, in %d lines", cut, n, len(got), again)
		}
	}
	data[ends[1]] ^= 1
	if whole := WholeLines(data, func([]byte) bool { return true }); int(whole) != ends[1] {
		t.Errorf("with a damaged second line, %d bytes are whole", whole)
	}
}
