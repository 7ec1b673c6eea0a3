// Package python_test builds wheels and installs them as a user does.
package python_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
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

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// wheel builds the wheel of a program, and returns its path.
func wheel(t *testing.T, program, platform, dir string) string {
	t.Helper()
	args := []string{"wheel.py", program, platform, dir}
	if strings.HasPrefix(platform, "linux") {
		args = append(args, "--native", helper(t, platform))
	}
	out, err := exec.Command(python.Path(t), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// thisWheel builds the wheel for this system.
func thisWheel(t *testing.T, dir string) string {
	t.Helper()
	return wheel(t, need.Program(t), runtime.GOOS+"-"+runtime.GOARCH, dir)
}

// RECORD names every file with its sum, and two builds are equal.
func TestWheelRecord(t *testing.T) {
	t.Parallel()
	need.Time(t, "compresses the program")
	dir := t.TempDir()
	path := thisWheel(t, dir)
	one, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(thisWheel(t, filepath.Join(dir, "again"))); err != nil || !bytes.Equal(one, other) {
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

// pipFor makes pip install the wheel of a directory as another system would, into target.
func pipFor(t *testing.T, platform, wheels, target string) error {
	t.Helper()
	cmd := exec.Command(python.Path(t, "pip"), "-m", "pip", "install", "-q", "--no-index", "--find-links", wheels, "--target", target,
		"--platform", platform, "--only-binary", ":all:", "--no-deps", "--no-compile", "ffconvert")
	cmd.Env = append(os.Environ(), "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_CACHE_DIR="+wheels, "PIP_ROOT_USER_ACTION=ignore")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// pip installs each wheel for the systems of its tags, and for no other. The program is a stand-in, since pip does not read it.
func TestWheelPlatforms(t *testing.T) {
	t.Parallel()
	need.Time(t, "starts pip for each system")
	standIn := filepath.Join(t.TempDir(), "ffconvert")
	if err := os.WriteFile(standIn, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for platform, systems := range map[string][]string{
		"linux-amd64":  {"manylinux_2_17_x86_64", "musllinux_1_1_x86_64", "!manylinux_2_17_aarch64"},
		"linux-arm64":  {"manylinux2014_aarch64", "musllinux_1_1_aarch64", "!macosx_14_0_arm64"},
		"darwin-amd64": {"macosx_12_0_x86_64", "!macosx_11_0_x86_64"},
		"darwin-arm64": {"macosx_14_0_arm64", "!macosx_14_0_x86_64"},
	} {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			wheel(t, standIn, platform, dir)
			for _, system := range systems {
				system, refused := strings.CutPrefix(system, "!")
				target := filepath.Join(dir, system)
				if err := pipFor(t, system, dir, target); (err != nil) != refused {
					t.Errorf("pip for %s: %v", system, err)
				}
				if _, err := os.Stat(filepath.Join(target, "bin", "ffconvert")); (err != nil) != refused {
					t.Errorf("pip for %s has installed no program: %v", system, err)
				}
			}
		})
	}
}

// make wheel builds a static program for another processor, whatever CGO_ENABLED is. One platform is enough: each takes a minute.
func TestWheelOfAnotherSystem(t *testing.T) {
	t.Parallel()
	need.Long(t, "compiles the program for another processor")
	arch, machine, system := "arm64", elf.EM_AARCH64, "manylinux_2_17_aarch64"
	if runtime.GOARCH == arch {
		arch, machine, system = "amd64", elf.EM_X86_64, "manylinux_2_17_x86_64"
	}
	need.Program(t) // so that a cached result depends on the sources
	dist := filepath.Join(t.TempDir(), "dist")
	cmd := exec.Command(need.Tool(t, "make"), "wheel", "PLATFORMS=linux-"+arch, "DIST="+dist)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	target := filepath.Join(dist, "installed")
	if err := pipFor(t, system, dist, target); err != nil {
		t.Fatal(err)
	}
	program, err := elf.Open(filepath.Join(target, "bin", "ffconvert"))
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	libraries, err := program.ImportedLibraries()
	if program.Machine != machine || len(libraries) > 0 || program.Section(".interp") != nil {
		t.Errorf("a program for %v, with libraries %q: %v", program.Machine, libraries, err)
	}
}
