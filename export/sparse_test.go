package export

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// Foreign readers find the member behind one of nine GiB, whose size ustar does not hold.
func TestLargeMember(t *testing.T) {
	t.Parallel()
	const size = 9 << 30
	path := filepath.Join(t.TempDir(), "large.tar")
	first := appendHeader(nil, []byte("a.bin"), size, 0)
	second := append(appendHeader(nil, []byte("b.txt"), 2, 0), "hi"...)
	second = append(second, zeros[:padding(2)+trailer]...)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(first); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(second, int64(len(first))+size); err != nil { // a hole in between
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	script := `import sys, tarfile
for m in tarfile.open(sys.argv[1], "r:"):
    print(m.size, m.name)`
	for _, row := range [][]string{
		{need.Tool(t, "tar"), "-tvf", path}, {need.Tool(t, "bsdtar"), "-tvf", path}, {python.Path(t), "-c", script, path},
	} {
		out, err := exec.Command(row[0], row[1:]...).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err != nil || len(lines) != 2 || !strings.Contains(lines[0], "9663676416") || !strings.HasSuffix(lines[0], "a.bin") || !strings.HasSuffix(lines[1], "b.txt") {
			t.Errorf("%s: %v\n%s", row[0], err, out)
		}
	}
}
