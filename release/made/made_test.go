package made

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// version is one that has no tag: its packages show how a candidate is ordered, too.
const version = "v0.0.1-rc1"

// tool skips a test without a program, which .ci/run installs.
func tool(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// run runs a program and returns what it prints.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// full reports whether releases are made for all systems, as make release-check does: that compiles for minutes.
var full = os.Getenv("FFCONVERT_RELEASE_FULL") != ""

// targets are the systems of the test's releases: that of this machine, or all.
func targets() string {
	if full {
		return "linux-amd64,linux-arm64,darwin-amd64,darwin-arm64,windows-amd64"
	}
	return runtime.GOOS + "-" + runtime.GOARCH
}

// work is the directory of what tests share.
var work string

func TestMain(m *testing.M) {
	var err error
	if work, err = os.MkdirTemp("", "ffconvert-made-*"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(work)
	os.Exit(status)
}

// build builds the command release.
var build = sync.OnceValues(func() (string, error) {
	program := filepath.Join(work, "release")
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

// commit clones the tree without its tags. All releases are of one commit, whatever is committed meanwhile.
var commit = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(work, "root")
	if out, err := exec.Command("git", "clone", "--quiet", "--no-tags", filepath.Join("..", ".."), dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("git clone: %w\n%s", err, out)
	}
	return dir, nil
})

// newRelease makes a release, and returns its directory, which has the name of the version.
func newRelease(version, targets string) (string, error) {
	program, err := build()
	if err != nil {
		return "", err
	}
	root, err := commit()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(work, "download", version)
	cmd := exec.Command(program, "-unmeasured", "-root", root, "-version", version, "-targets", targets, "-out", dir)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
}

// first is the release that tests share.
var first = sync.OnceValues(func() (string, error) { return newRelease(version, targets()) })

// root returns the checkout of all releases.
func root(t *testing.T) string {
	t.Helper()
	dir, err := commit()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func dist(t *testing.T) string {
	t.Helper()
	return made(t, first)
}

// made returns a release of first or printed.
func made(t *testing.T, release func() (string, error)) string {
	t.Helper()
	tool(t, "git", "python3")
	if runtime.GOOS != "linux" {
		t.Skip("packages are installed on Linux")
	}
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files returns the files of a directory by their names.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := make(map[string][]byte)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Made again from another clone, in another directory, time zone, language and with another umask, the files are the same to the byte.
// make release-check does this for all systems, with nothing compiled beforehand.
func TestReproducible(t *testing.T) {
	one := files(t, dist(t))
	dir := t.TempDir()
	clone := filepath.Join(dir, "a clone")
	run(t, exec.Command("git", "clone", "--quiet", root(t), clone))
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "out", "again")
	cmd := exec.Command("sh", "-c", `umask 077; exec "$0" "$@"`, program, "-unmeasured", "-root", clone, "-version", version, "-targets", targets(), "-out", again)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TZ=Pacific/Kiritimati", "LC_ALL=tr_TR.UTF-8", "TMPDIR="+dir, "USER=nobody", "SOURCE_DATE_EPOCH=1", "PYTHONHASHSEED=7", "GOFLAGS=-trimpath=false")
	want := 6 // an archive, a deb, an rpm, a wheel, a list of contents, SHA256SUMS
	if full {
		want = 19 // no packages but for Linux, no wheel for Windows
		cmd.Env = append(cmd.Env, "GOCACHE="+filepath.Join(dir, "cache"))
	}
	run(t, cmd)
	two := files(t, again)
	if len(one) != want || len(two) != want {
		t.Errorf("%d and %d files, want %d", len(one), len(two), want)
	}
	for name, data := range one {
		if !bytes.Equal(data, two[name]) {
			t.Errorf("%s differs: %d and %d bytes", name, len(data), len(two[name]))
		}
	}
}

// The programs for other systems are what their names say.
func TestSystems(t *testing.T) {
	if !full {
		t.Skip("make release-check builds for other systems")
	}
	tool(t, "tar", "unzip", "file")
	dir := t.TempDir()
	for system, kind := range map[string]string{
		"linux_amd64":   "ELF 64-bit LSB executable, x86-64, version 1 (SYSV), statically linked",
		"linux_arm64":   "ELF 64-bit LSB executable, ARM aarch64, version 1 (SYSV), statically linked",
		"darwin_amd64":  "Mach-O 64-bit x86_64 executable",
		"darwin_arm64":  "Mach-O 64-bit arm64 executable",
		"windows_amd64": "PE32+ executable (console) x86-64",
	} {
		base := filepath.Join(dist(t), "ffconvert_"+strings.TrimPrefix(version, "v")+"_"+system)
		program := filepath.Join(dir, filepath.Base(base), "ffconvert")
		if strings.HasPrefix(system, "windows") {
			program += ".exe"
			run(t, exec.Command("unzip", "-q", base+".zip", "-d", dir))
		} else {
			run(t, exec.Command("tar", "-xzf", base+".tar.gz", "-C", dir))
		}
		if said := run(t, exec.Command("file", "-b", program)); !strings.HasPrefix(said, kind) {
			t.Errorf("%s: %s", program, said)
		}
	}
}

// Debian's lintian finds nothing.
func TestLintian(t *testing.T) {
	if !full {
		t.Skip("make release-check runs lintian")
	}
	tool(t, "lintian")
	packages, err := filepath.Glob(filepath.Join(dist(t), "*.deb"))
	if err != nil || len(packages) != 2 {
		t.Fatal(packages, err)
	}
	if said := run(t, exec.Command("lintian", append([]string{"--allow-root", "--fail-on=error,warning"}, packages...)...)); said != "" {
		t.Error(said)
	}
}

// SHA256SUMS has every file, as sha256sum prints it.
func TestSums(t *testing.T) {
	all := files(t, dist(t))
	var want strings.Builder
	for _, name := range sortedNames(all) {
		if name != "SHA256SUMS" {
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256(all[name]), name)
		}
	}
	if got := string(all["SHA256SUMS"]); got != want.String() {
		t.Errorf("%s\nwant\n%s", got, &want)
	}
}

// What cannot be a release is refused, and makes no file.
func TestRefusals(t *testing.T) {
	tool(t, "git")
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	run(t, exec.Command("git", "clone", "--quiet", filepath.Join("..", ".."), clone))
	git := func(args ...string) string {
		return strings.TrimSpace(run(t, exec.Command("git", append([]string{"-C", clone, "-c", "user.name=x", "-c", "user.email=x"}, args...)...)))
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(clone, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("docs/performance.md", "They are of ffconvert 0.1.0-dev, commit `"+git("rev-parse", "--short=12", "HEAD")+"`\n")
	write("aio/more.go", "package aio\n")
	git("add", ".")
	git("commit", "--quiet", "--message=another")
	git("tag", "v0.0.9", "HEAD~1")
	for _, row := range []struct {
		name, want string
		args       []string
	}{
		{"no version", `-version "": want one like v0.1.0`, nil},
		{"a version without v", `-version "0.1.0"`, []string{"-version", "0.1.0"}},
		{"a tag of another commit", "the tag v0.0.9 is of commit ", []string{"-version", "v0.0.9"}},
		{"code that was not measured", "code has changed since: run make bench, and commit the page. Changed: aio/more.go", []string{"-version", version}},
		{"a system without a processor", `-targets "linux"`, []string{"-version", version, "-targets", "linux"}},
		{"an argument", "no arguments are wanted", []string{"v0.1.0"}},
	} {
		out := filepath.Join(t.TempDir(), "dist")
		said, err := exec.Command(program, append([]string{"-root", clone, "-out", out}, row.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(said), row.want) {
			t.Errorf("%s: %v: %s", row.name, err, said)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: it has made %s", row.name, out)
		}
	}
}
