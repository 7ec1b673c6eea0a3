package pages

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// readmeLines returns the indented lines of a part of README.md that begin with one of the words, as they are printed.
func readmeLines(t *testing.T, from, to, words string) []string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), from)
	part, _, ok := strings.Cut(part, to)
	if !ok {
		t.Fatalf("README.md has no part from %q to %q", from, to)
	}
	var lines []string
	for _, m := range regexp.MustCompile(`(?m)^    ((?:`+words+`) .*)$`).FindAllStringSubmatch(part, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// readmeFolder has the files that README.md names.
func readmeFolder(t *testing.T) *docsFolder {
	t.Helper()
	need.Tools(t, "minisign", "zstd", "head")
	python.Path(t, "cbor2")
	d := newDocsFolder(t)
	for _, line := range []string{
		"tar -cf - photos/circle | zstd -qc >train.tar.zst", "zstd -qc lines.jsonl >docs-0.jsonl.zst", "mkdir tars && cp shards-00[0-3].tar tars",
		"mkdir data && cp images.parquet data/train-0.parquet", "mkdir mds && cp -r testdata/mds mds/train", "cp tfrecords/shapes-00000-of-00002 train-00000-of-01024",
		"cp -r out a && cp -r more b && cp -r photos dataset && cp -r photos images && cp examples/dataset.yaml . && rm images.ffr",
		"minisign -GWf -p minisign.pub -s minisign.key >key.txt && ffconvert sign --key minisign.key out/",
	} {
		d.run(t, d.made, line)
	}
	d.env = append(d.env, "PATH="+filepath.Join(d.made, "examples")+":"+d.path)
	return d
}

// reads are the commands that want a dataset out/; all others make it.
var reads = regexp.MustCompile(`^ffconvert (verify|repair|bench|inspect|ls|get|diff|export|check|finish|status) `)

// Each line of the README's list of commands runs as it is printed, in a folder of its own, and what it makes is sound. browse, which ends when
// it is stopped, has tests in package browse.
func TestCommandsOfReadme(t *testing.T) {
	t.Parallel()
	need.Time(t, "a folder and a process for each command of a page")
	d := readmeFolder(t)
	lines := readmeLines(t, "\n## Use\n", "\nOn many machines", "ffconvert|python3")
	if len(lines) < 29 {
		t.Errorf("%d commands", len(lines))
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "ffconvert browse ") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			dir := d.fresh(t)
			if !reads.MatchString(line) {
				d.run(t, dir, "rm -r out")
			}
			d.run(t, dir, line)
			command, _, _ := strings.Cut(line, " #")
			switch words := strings.Fields(command); {
			case strings.Contains(command, "--dry-run"):
				if _, err := os.Stat(filepath.Join(dir, "out")); err == nil {
					t.Error("it has made out/")
				}
			case strings.HasSuffix(words[len(words)-1], "/"): // OUT
				d.run(t, dir, "ffconvert verify "+words[len(words)-1])
			case words[1] == "export":
				d.run(t, dir, "ffconvert tar 'train-*.tar' new && ffconvert diff out new")
			case words[1] == "pack":
				d.run(t, dir, "ffconvert unpack images.ffr new && diff -r images new")
			}
		})
	}
}

// The commands for many machines, in their order; the other tasks run between the second and the third.
func TestTasksOfReadme(t *testing.T) {
	t.Parallel()
	need.Time(t, "40 tasks")
	d := newDocsFolder(t)
	lines := readmeLines(t, "\nOn many machines", "\nShards follow", "ffconvert")
	if len(lines) != 4 {
		t.Fatalf("commands %q", lines)
	}
	dir := d.fresh(t)
	d.run(t, dir, "mv out want")
	d.run(t, dir, lines[0])
	d.run(t, dir, lines[1])
	d.run(t, dir, "for k in $(seq 0 39); do [ $k = 3 ] || ffconvert run out/ --task $k/40; done")
	d.run(t, dir, lines[2])
	d.run(t, dir, lines[3])
	d.run(t, dir, "ffconvert verify out && ffconvert tar 'shards-{000..009}.tar' whole && ffconvert diff out whole")
}

// What the README says first runs in a checkout: here a folder with links to the parts of this one.
func TestFirstCommandsOfReadme(t *testing.T) {
	t.Parallel()
	need.Time(t, "builds the program")
	need.Tools(t, "bash", "go")
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == ".git" || strings.HasPrefix(e.Name(), "out") {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	d := &docsFolder{env: append(os.Environ(), "GOFLAGS=-buildvcs=false")}
	lines := readmeLines(t, "\nSet up and convert", "\nTest:", "go run")
	if len(lines) != 4 {
		t.Fatalf("commands %q", lines)
	}
	for _, line := range lines {
		d.run(t, dir, line)
	}
	for _, name := range []string{"out", "out-folder", "out-csv"} {
		if _, err := os.Stat(filepath.Join(dir, name, "manifest.json")); err != nil {
			t.Error(err)
		}
	}
}
