package made

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// serve serves the release, as GitHub does.
func serve(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(dist(t))))
	t.Cleanup(server.Close)
	return server.URL
}

// write writes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// tarOf returns a small dataset of the tree.
func tarOf(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "shards-000.tar"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The action installs the release, and what a job needs of a sound and of a damaged dataset is there.
func TestAction(t *testing.T) {
	t.Parallel()
	r, url := newRunner(t), serve(t)
	write(t, r.dir, map[string]string{"data/a.tar": tarOf(t)})
	if err := r.use(version, map[string]string{"release-url": url, "command": "check", "arguments": "tar\n\ndata/*.tar\n", "sarif": "check.sarif"}); err != nil {
		t.Fatal(err)
	}
	if r.status["status"] != "0" || r.status["sarif"] != "check.sarif" || r.status["junit"] != "" || !strings.HasPrefix(r.summary, "### `ffconvert check`: sound\n") {
		t.Errorf("outputs %v, summary %q", r.status, r.summary)
	}
	if all := r.commands(); len(all) != 3 || !strings.HasPrefix(all[0], "::warning file=data/a.tar,line=1,title=ffconvert check%3A odd-fields::") {
		t.Errorf("commands %q", all)
	}
	if sarif, err := os.ReadFile(filepath.Join(r.dir, "check.sarif")); err != nil || !strings.Contains(string(sarif), `"version": "2.1.0"`) {
		t.Errorf("check.sarif: %v: %.100s", err, sarif)
	}
	if err := r.run("ffconvert tar --shards 3 data/a.tar out", ".", nil); err != nil {
		t.Fatal(err) // later steps have it on PATH
	}
	// Damage, and a file whose name the runner would take for commands, of the old form too.
	if err := os.Remove(filepath.Join(r.dir, "out", "PART_00001.ffr")); err != nil {
		t.Fatal(err)
	}
	const hostile = "a\n::set-output name=status::0\n##[set-output name=status;]0 | <b>`x`.ffr"
	write(t, r.dir, map[string]string{"out/" + hostile: "x"})
	before := len(r.summary)
	err := r.use(version, map[string]string{"release-url": url, "working-directory": "out", "arguments": ".", "junit": "verify.xml"})
	if err == nil || !strings.HasPrefix(err.Error(), "exit status 2\n") || r.status["status"] != "2" || r.status["junit"] != "verify.xml" {
		t.Errorf("%v, outputs %v", err, r.status)
	}
	commands := r.commands()[3:]
	for _, c := range commands {
		if !strings.HasPrefix(c, "::error file=") || strings.Contains(c, "\n") {
			t.Errorf("command %q", c)
		}
	}
	if len(commands) != 3 || !strings.Contains(r.summary[before:], "### `ffconvert verify`: 3 errors\n") {
		t.Errorf("commands %q, summary %q", commands, r.summary[before:])
	}
	// Both switched off.
	r.log.Reset()
	before = len(r.summary)
	r.use(version, map[string]string{"release-url": url, "arguments": "out", "summary": "false", "annotations": "false"})
	if all := r.commands(); len(all) > 0 || len(r.summary) != before || r.status["status"] != "2" {
		t.Errorf("commands %q, summary %q", all, r.summary[before:])
	}
}

// What is not the release is not run.
func TestActionRefuses(t *testing.T) {
	t.Parallel()
	url, archive := serve(t), one(t, ".tar.gz")
	name := filepath.Base(archive)
	sums, err := os.ReadFile(filepath.Join(dist(t), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	changed := t.TempDir()
	data, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	write(t, changed, map[string]string{name: string(data), "SHA256SUMS": string(sums)})
	unlisted := t.TempDir()
	write(t, unlisted, map[string]string{name: string(data), "SHA256SUMS": "0  another.tar.gz\n"})
	sum := strings.Fields(run(t, exec.Command("sha256sum", archive)))[0]
	for _, row := range []struct {
		name, ref, system string
		with              map[string]string
		want              string // in the log; "" means that it is installed
	}{
		{"the right sum", version, "", map[string]string{"sha256": sum}, ""},
		{"another sum", version, "", map[string]string{"sha256": strings.Repeat("0", 64)}, "::error title=ffconvert::" + name + " has another SHA-256 than it should: " + sum},
		{"a changed archive", version, "", map[string]string{"release-url": "file://" + changed}, name + " has another SHA-256 than it should"},
		{"an archive that is not listed", version, "", map[string]string{"release-url": "file://" + unlisted}, name + " has another SHA-256 than it should"},
		{"no such release", "v9.9.9", "", nil, "::error title=ffconvert::cannot fetch " + url},
		{"a branch", "main", "", nil, "::error title=ffconvert::name a release in the input version, like v0.1.0"},
		{"a branch, and a version", "main", "", map[string]string{"version": version}, ""},
		{"a version with a command", version, "", map[string]string{"version": "v0.1.0\n$(touch x)"}, "name a release"},
		{"a system without a release", version, "Windows-X64", nil, "::error title=ffconvert::there is no release for Windows on X64"},
		{"another command", version, "", map[string]string{"command": "browse"}, "::error title=ffconvert::the input command is check, verify or install"},
		{"a URL of two lines", version, "", map[string]string{"release-url": "http://127.0.0.1:1/\n::error::x"}, "::error title=ffconvert::cannot fetch http://127.0.0.1:1/ ::error::x/"},
		{"a URL that is a flag", version, "", map[string]string{"release-url": "-o x"}, "::error title=ffconvert::cannot fetch -o x/"},
		{"a document of two lines", version, "", map[string]string{"command": "verify", "sarif": "a\nstatus=0"}, "::error title=ffconvert::the inputs sarif and junit are names of one line"},
		{"a flag that does not exist", version, "", map[string]string{"command": "verify", "arguments": "--nosuch"}, "unknown flag --nosuch"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			if row.system != "" {
				r.system = row.system
			}
			with := map[string]string{"command": "install", "release-url": url}
			for k, v := range row.with {
				with[k] = v
			}
			err := r.use(row.ref, with)
			if row.want == "" && (err != nil || len(r.path) != 1) || row.want != "" && (err == nil || !strings.Contains(r.log.String(), row.want)) {
				t.Errorf("%v, PATH %q", err, r.path)
			}
			if row.want != "" && with["command"] == "install" && len(r.path) > 0 {
				t.Errorf("it is on PATH: %q", r.path)
			}
		})
	}
}
