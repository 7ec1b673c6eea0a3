package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/aisfake"
	"github.com/ffconvert/ffconvert/internal/need"
	"github.com/ffconvert/ffconvert/internal/python"
	"github.com/ffconvert/ffconvert/internal/versitygw"
)

// codeSpans returns the code in the tables of a page, each once.
func codeSpans(page string) []string {
	var spans []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
				spans = append(spans, strings.ReplaceAll(m[1], `\|`, "|"))
			}
		}
	}
	slices.Sort(spans)
	return slices.Compact(spans)
}

// A docsFolder has files and services under the names that pages use.
type docsFolder struct {
	made string // files that commands have made
	env  []string
}

// newDocsFolder starts the services, and makes the files that other files are made of.
func newDocsFolder(t *testing.T) *docsFolder {
	t.Helper()
	need.Shell(t)
	need.Tools(t, "gzip", "seq", "tar")
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	d := &docsFolder{made: fill(t, map[string]string{
		"testdata": "-> " + data, "examples": "-> " + filepath.Join(filepath.Dir(data), "examples"),
		"points": "-> " + filepath.Join(data, "points"), "shapes.cbors": "-> " + filepath.Join(data, "shapes.cbors"),
		"shards-000.tgz": "-> " + filepath.Join(data, "tars", "shards-000.tgz"),
		"pairs/a.jpg":    "a picture", "described/a.jpg": "a picture", "described/a.png": "its mask", "pairs/a.png": "its mask", "captions.csv": "key,caption\na,a cat\n",
		"described/metadata.jsonl": `{"file_name": "a.jpg", "mask_file_name": "a.png"}` + "\n", "lines.jsonl": `{"a": [1]}` + "\n",
		"list.txt": "shards-000.tar\nshards-{001..002}.tar\n", "recipe.txt": "one.jpg circle/000.jpg\none.cls text:3\n",
	})}
	for i := range 10 {
		name := fmt.Sprintf("shards-%03d.tar", i)
		if err := os.Symlink(filepath.Join(data, name), filepath.Join(d.made, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"photos", "imagenet/train", "imagenet/val"} {
		if err := os.CopyFS(filepath.Join(d.made, dir), os.DirFS(filepath.Join(data, "shapes"))); err != nil {
			t.Fatal(err)
		}
	}
	d.services(t)
	for _, line := range []string{
		"ffconvert tar -q shards-00[0-3].tar out", "ffconvert folder -q photos more", "ffconvert pack -q photos images.ffr", "ffconvert export msgpack out - >stream.mp",
		`(echo key,cls; ffconvert ls more | sed 's/^ *[0-9]* *//;s/ .*//;s/$/.jpg,1/') >cls.csv`,
		`ffconvert ls --format json out | head -n 12 | sed 's/"size"/"source":{"a":[1]},"size"/' >labels.jsonl`,
	} {
		d.run(t, d.made, line)
	}
	return d
}

// services starts an S3 server, an AIStore, which stands in for Google's storage, too, and a web server.
func (d *docsFolder) services(t *testing.T) {
	t.Helper()
	s3, ais := versitygw.Start(t), aisfake.Start(t)
	for name, provider := range map[string]string{"bucket": "aws", "images": "gcp", "shards": "ais"} {
		ais.Bucket(name, aisfake.Bucket{Provider: provider, Checksum: true})
	}
	for i := range 10 {
		file, key := filepath.Join(d.made, fmt.Sprintf("shards-%03d.tar", i)), fmt.Sprintf("train-%06d.tar", i)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bucket", "images", "shards"} {
			ais.Put(name, key, data)
		}
		s3.Put(t, "bucket", key, file)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(d.made)))
	t.Cleanup(web.Close)
	d.env = append(append(os.Environ(), offline...), s3.Env()...)
	d.env = append(d.env, "PATH=/usr/bin:"+os.Getenv("PATH")+":/usr/bin", "AIS_ENDPOINT="+ais.URL, "USE_AIS_FOR=gs", "GOPEN_REWRITE=http://host/="+web.URL+"/")
}

// run runs a line of shell.
func (d *docsFolder) run(t *testing.T, dir, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", line)
	cmd.Dir, cmd.Env = dir, d.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// fresh returns a folder of its own with all files.
func (d *docsFolder) fresh(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(d.made)
	for _, e := range entries {
		from, to := filepath.Join(d.made, e.Name()), filepath.Join(dir, e.Name())
		if e.IsDir() { // a command may write into it
			err = errors.Join(err, os.CopyFS(to, os.DirFS(from)))
		} else {
			err = errors.Join(err, os.Symlink(from, to))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Each command of docs/coverage.md does what it says with the files that it names: it ends with status 0, and has made what it was to make.
func TestDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "a folder and a process for each command of a page")
	python.Path(t, "cbor2")
	d := newDocsFolder(t)
	commands := 0
	for _, span := range codeSpans(docsPage(t, "coverage.md")) {
		if !regexp.MustCompile(`(^|[ =])ffconvert [a-z]`).MatchString(span) {
			continue
		}
		commands++
		t.Run(span, func(t *testing.T) {
			t.Parallel()
			dir := d.fresh(t)
			d.run(t, dir, span)
			made, _ := filepath.Glob(filepath.Join(dir, "new*"))
			if strings.Contains(span, " new") && !strings.Contains(span, "--dry-run") && len(made) != 1 {
				t.Errorf("%s has made %q", span, made)
			}
		})
	}
	if commands < 80 {
		t.Errorf("%d commands", commands)
	}
}

// Its flags are flags of some command.
func TestFlagsOfDocsCoverage(t *testing.T) {
	t.Parallel()
	flags := make(map[string]bool)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
	for line := range strings.Lines(docsPage(t, "coverage.md")) {
		_, here, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range regexp.MustCompile("`(--[a-z0-9-]+)").FindAllStringSubmatch(here, -1) {
			if !flags[m[1]] {
				t.Errorf("no command has %s", m[1])
			}
		}
	}
}

// Its Python names are there, and its expressions have values.
func TestPythonOfDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "imports PyTorch")
	python3 := python.Path(t, "torch")
	script := "import ffconvert\nfrom ffconvert import DataLoader, Dataset\ndataset = Dataset('out')\n"
	for _, span := range codeSpans(docsPage(t, "coverage.md")) {
		if regexp.MustCompile(`^(Dataset|DataLoader)\(.*[])]$|^ffconvert\.[A-Z]`).MatchString(span) {
			script += span + "\n"
		}
	}
	if n := strings.Count(script, "\n"); n < 25 {
		t.Errorf("%d lines", n)
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"tar", "-q", filepath.Join("..", "..", "testdata", "shards-000.tar"), filepath.Join(dir, "out")}, {"folder", "-q", filepath.Join("..", "..", "testdata", "shapes"), filepath.Join(dir, "more")}} {
		if status := run(args); status != exitOK {
			t.Fatalf("%q: status %d", args, status)
		}
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python3, "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
