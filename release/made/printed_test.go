package made

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// releasesPage returns docs/releases.md, and the version that it installs.
var releasesPage = sync.OnceValues(func() (page [2]string, err error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "releases.md"))
	if err != nil {
		return page, err
	}
	found := regexp.MustCompile(`/releases/download/(v[0-9.]+)\n`).FindSubmatch(text)
	if found == nil {
		return page, fmt.Errorf("docs/releases.md installs no release")
	}
	return [2]string{string(text), string(found[1])}, nil
})

// printedVersion is the version of the release that pages name.
func printedVersion(t *testing.T) string {
	t.Helper()
	page, err := releasesPage()
	if err != nil {
		t.Fatal(err)
	}
	return page[1]
}

// printed is that release, of the tree as it is, for this machine.
var printed = sync.OnceValues(func() (string, error) {
	page, err := releasesPage()
	if err != nil {
		return "", err
	}
	return newRelease(page[1], runtime.GOOS+"-"+runtime.GOARCH)
})

// gitHub returns a directory for PATH, whose curl finds the releases of GitHub on this machine: printed alone.
func gitHub(t *testing.T) string {
	t.Helper()
	tool(t, "curl")
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := `#!/bin/sh
from=https://github.com/ffconvert/ffconvert/releases/download/
for word; do
	shift
	case $word in
	"$from"*) word=file://` + filepath.Dir(made(t, printed)) + `/${word#"$from"} ;;
	esac
	set -- "$@" "$word"
done
exec ` + curl + ` "$@"
`
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The commands of docs/releases.md that install a release run as they are printed, and end with its version.
func TestInstallOfDocsReleases(t *testing.T) {
	t.Parallel()
	tool(t, "bash", "sha256sum", "tar")
	if runtime.GOARCH != "amd64" {
		t.Skip("the page's archive is for amd64")
	}
	page, err := releasesPage()
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(page[0], "\n## Install\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var lines []string
	for line := range strings.Lines(section) {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			lines = append(lines, line)
		}
	}
	if len(lines) != 5 {
		t.Fatalf("%d lines", len(lines))
	}
	cmd := exec.Command("bash", "-ec", strings.Join(lines, ""))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "PATH="+gitHub(t)+":"+os.Getenv("PATH"))
	said := run(t, cmd)
	for _, want := range []string{"_linux_amd64.tar.gz: OK\n", "\nffconvert " + page[1] + " ("} {
		if !strings.Contains(said, want) {
			t.Errorf("the commands print no %q: %s", want, said)
		}
	}
}
