// Package python_test builds the wheel and installs it as a user does.
package python_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/need"
	"github.com/ffconvert/ffconvert/internal/python"
)

// wheel builds the wheel for this system, and returns its path.
func wheel(t *testing.T, dir string) string {
	t.Helper()
	out, err := exec.Command(python.Path(t), "wheel.py", need.Program(t), runtime.GOOS+"-"+runtime.GOARCH, dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// RECORD names every file with its sum, and two builds are equal.
func TestWheelRecord(t *testing.T) {
	t.Parallel()
	need.Time(t, "compresses the program")
	dir := t.TempDir()
	path := wheel(t, dir)
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(wheel(t, filepath.Join(dir, "again"))); err != nil || !bytes.Equal(one, other) {
		t.Errorf("two builds differ: %v", err)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	sums := make(map[string]string)
	var rows [][]string
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		sums[f.Name] = fmt.Sprintf("sha256=%s,%d", base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		if executable := f.Mode().Perm()&0o111 != 0; executable != strings.Contains(f.Name, "/scripts/") {
			t.Errorf("%s has the permissions %v", f.Name, f.Mode())
		}
		if strings.HasSuffix(f.Name, "/RECORD") {
			sums[f.Name] = ","
			if rows, err = csv.NewReader(bytes.NewReader(data)).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range rows {
		if got := strings.Join(row[1:], ","); sums[row[0]] != got {
			t.Errorf("%s: %s, want %s", row[0], got, sums[row[0]])
		}
		delete(sums, row[0])
	}
	if len(sums) > 0 || len(rows) < 10 {
		t.Errorf("not in RECORD: %v", sums)
	}
}

// In an environment without a network and without other packages, pip installs the command, which python -m starts, too, and the package, which reads
// what the command has written.
func TestWheelInstalled(t *testing.T) {
	t.Parallel()
	need.Time(t, "makes a virtual environment")
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_CACHE_DIR="+dir)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	testdata, err := filepath.Abs(filepath.Join("..", "testdata", "shapes"))
	if err != nil {
		t.Fatal(err)
	}
	path := wheel(t, dir)
	if err := exec.Command(python.Path(t), "-m", "venv", filepath.Join(dir, "v")).Run(); err != nil {
		need.Missing(t, "python3-venv: ", err)
	}
	bin := func(name string) string { return filepath.Join(dir, "v", "bin", name) }
	run(bin("pip"), "install", "-q", "--no-index", path)
	run(bin("ffconvert"), "folder", "-q", testdata, "out")
	run(bin("python"), "-m", "ffconvert", "verify", "out")
	if out := run(bin("python"), "-m", "ffconvert", "--version"); !strings.HasPrefix(out, "ffconvert ") {
		t.Error(out)
	}
	if out := run(bin("python"), "-c", "import ffconvert; print(len(ffconvert.Reader('out')))"); strings.TrimSpace(out) != "24" {
		t.Errorf("the package reads %s samples", out)
	}
	run(bin("pip"), "uninstall", "-q", "-y", "ffconvert")
	for _, left := range []string{bin("ffconvert"), filepath.Join(dir, "v", "lib", "python3", "site-packages", "ffconvert")} {
		if _, err := os.Lstat(left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
}
