package made

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func sortedNames(all map[string][]byte) []string { return slices.Sorted(maps.Keys(all)) }

// one returns the file of the release with that ending, for this machine.
func one(t *testing.T, ending string) string {
	t.Helper()
	arch := runtime.GOARCH
	if slices.Contains([]string{".rpm", ".whl"}, ending) { // as uname calls it
		arch = strings.NewReplacer("amd64", "x86_64", "arm64", "aarch64").Replace(arch)
	}
	system := "*linux*_"
	switch ending {
	case ".deb":
		system = "*_"
	case ".rpm":
		system = "*."
	}
	pattern := system + arch + ending
	names, err := filepath.Glob(filepath.Join(dist(t), pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: %d files, %v", pattern, len(names), err)
	}
	return names[0]
}

// installed looks at what was installed below a directory: the program is of the version and works, and shells and man find their files.
func installed(t *testing.T, at string, places []string) {
	t.Helper()
	program := filepath.Join(at, "usr", "bin", "ffconvert")
	commit := strings.TrimSpace(run(t, exec.Command("git", "-C", root(t), "rev-parse", "--short=12", "HEAD")))
	if said := run(t, exec.Command(program, "version")); said != "ffconvert "+version+" ("+commit+") "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n" {
		t.Errorf("version: %s", said)
	}
	out := filepath.Join(t.TempDir(), "out")
	run(t, exec.Command(program, "tar", filepath.Join("..", "..", "testdata", "shards-000.tar"), out))
	run(t, exec.Command(program, "verify", out))
	for _, place := range places {
		if st, err := os.Stat(filepath.Join(at, place)); err != nil || st.Size() == 0 || st.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v, %v", place, st, err)
		}
	}
	page := run(t, exec.Command("gzip", "-dc", filepath.Join(at, "usr/share/man/man1/ffconvert-verify.1.gz")))
	page = strings.ReplaceAll(page, `\-`, "-")
	if !strings.Contains(page, "ffconvert "+version) || !strings.Contains(page, "Re-read shards and check every CRC") {
		t.Errorf("the manual page of verify:\n%.300s", page)
	}
	pages, err := filepath.Glob(filepath.Join(at, "usr/share/man/man1/*"))
	if err != nil || len(pages) < 40 {
		t.Errorf("%d manual pages, %v", len(pages), err)
	}
}

// completes asks the completion of bash for the commands that begin with "veri".
func completes(t *testing.T, root, script string) {
	t.Helper()
	tool(t, "bash")
	cmd := exec.Command("bash", "-c", `compopt() { :; }; _get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
source "$0"; COMP_WORDS=(ffconvert veri); COMP_CWORD=1; COMP_LINE="ffconvert veri"; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9; __start_ffconvert; echo "${COMPREPLY[0]}"`, filepath.Join(root, script))
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "usr", "bin")+":"+os.Getenv("PATH"))
	if said := run(t, cmd); strings.TrimSpace(said) != "verify" {
		t.Errorf("bash completes veri to %q", said)
	}
}

func TestDeb(t *testing.T) {
	tool(t, "dpkg", "gzip")
	if os.Getuid() != 0 {
		t.Skip("dpkg --root asks for root")
	}
	deb := one(t, ".deb")
	root := t.TempDir()
	for _, name := range []string{"info", "updates"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, exec.Command("dpkg", "--root="+root, "--install", deb))
	installed(t, root, []string{"usr/share/doc/ffconvert/copyright", "usr/share/doc/ffconvert/THIRD_PARTY_LICENSES.txt", "usr/share/doc/ffconvert/changelog.gz",
		"usr/share/bash-completion/completions/ffconvert", "usr/share/zsh/vendor-completions/_ffconvert", "usr/share/fish/vendor_completions.d/ffconvert.fish"})
	completes(t, root, "usr/share/bash-completion/completions/ffconvert")
	if said := run(t, exec.Command("dpkg", "--root="+root, "--verify", "ffconvert")); said != "" {
		t.Errorf("dpkg --verify: %s", said)
	}
	// A candidate is older than its release.
	installedVersion := run(t, exec.Command("dpkg-deb", "--field", deb, "Version"))
	run(t, exec.Command("dpkg", "--compare-versions", strings.TrimSpace(installedVersion), "lt", "0.0.1"))
	run(t, exec.Command("dpkg", "--root="+root, "--purge", "ffconvert"))
	if left, err := filepath.Glob(filepath.Join(root, "usr/*/*")); err != nil || len(left) > 0 {
		t.Errorf("dpkg --purge leaves %q, %v", left, err)
	}
}

func TestRPM(t *testing.T) {
	tool(t, "rpm", "gzip")
	if os.Getuid() != 0 {
		t.Skip("rpm --root asks for root")
	}
	path, root := one(t, ".rpm"), t.TempDir()
	run(t, exec.Command("rpm", "--checksig", "--nosignature", path))
	run(t, exec.Command("rpm", "--root", root, "--install", "--nosignature", path))
	installed(t, root, []string{"usr/share/licenses/ffconvert/LICENSE", "usr/share/licenses/ffconvert/THIRD_PARTY_LICENSES.txt", "usr/share/doc/ffconvert/CHANGELOG.md",
		"usr/share/bash-completion/completions/ffconvert", "usr/share/zsh/site-functions/_ffconvert", "usr/share/fish/vendor_completions.d/ffconvert.fish"})
	if said := run(t, exec.Command("rpm", "--root", root, "--query", "--queryformat", "%{VERSION} %{LICENSE} %{BUILDHOST}", "ffconvert")); !strings.HasSuffix(said, "0.0.1~rc1 Apache-2.0 localhost") {
		t.Errorf("rpm --query: %s", said)
	}
	run(t, exec.Command("rpm", "--root", root, "--verify", "--nodeps", "ffconvert"))
}

// The archive has one directory, which holds what a user needs, and a program that says what it is.
func TestArchive(t *testing.T) {
	tool(t, "tar")
	dir := t.TempDir()
	path := one(t, ".tar.gz")
	run(t, exec.Command("tar", "-xzf", path, "-C", dir))
	top := filepath.Join(dir, strings.TrimSuffix(filepath.Base(path), ".tar.gz"))
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "THIRD_PARTY_LICENSES.txt", "man/man1/ffconvert.1", "completions/ffconvert.bash",
		"completions/_ffconvert", "completions/ffconvert.fish", "completions/ffconvert.ps1"} {
		if st, err := os.Stat(filepath.Join(top, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if said := run(t, exec.Command(filepath.Join(top, "ffconvert"), "version")); !strings.HasPrefix(said, "ffconvert "+version+" (") {
		t.Errorf("version: %s", said)
	}
	// A manifest says which program wrote it.
	out := filepath.Join(dir, "out")
	run(t, exec.Command(filepath.Join(top, "ffconvert"), "tar", filepath.Join("..", "..", "testdata", "shards-000.tar"), out))
	if manifest, err := os.ReadFile(filepath.Join(out, "manifest.json")); err != nil || !strings.Contains(string(manifest), `"tool": "ffconvert `+version+`"`) {
		t.Errorf("manifest: %v: %.100s", err, manifest)
	}
}
