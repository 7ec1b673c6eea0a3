package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A file of refusals is lines. Cases are parted by blank lines, and each has a fresh directory with
// those files of writeFixture that it names. A case is, in this order:
//
//	# a comment
//	: a step of preparation, see prepareCase
//	$ ffconvert command line, words as a shell has them: 'two words'
//	exit status
//	1| a line of standard output
//	2| a line of standard error
//
// Further steps and command lines may follow. What stands below a command line is what is compared.

const refusalsDir = "testdata/refusals"

// Every refusal has the status and the text that it had.
func TestRefusals(t *testing.T) {
	t.Parallel()
	need.Time(t, "a process for each of some 200 refusals")
	if runtime.GOOS != "linux" {
		t.Skip("the texts of the system's errors are Linux's")
	}
	fixture := filepath.Join(base, "fixture")
	writeFixture(t, fixture)
	files, err := filepath.Glob(filepath.Join(refusalsDir, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", refusalsDir, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			refuseAll(t, fixture, file)
		})
	}
}

// refuseAll runs the cases of a file, and compares it with what they did, or writes it anew.
func refuseAll(t *testing.T, fixture, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := regexp.MustCompile(`\n\n+`).Split(strings.TrimRight(string(text), "\n"), -1)
	got := make([]string, len(cases))
	t.Run("case", func(t *testing.T) {
		for i, want := range cases {
			t.Run(caseName(want), func(t *testing.T) {
				t.Parallel()
				if strings.Contains(want, "pipe:") && !*update {
					need.Shell(t)
				}
				got[i] = runCase(t, fixture, want)
				if got[i] != want && !*update {
					t.Errorf("%s: want\n%s\n\ngot\n%s", file, want, got[i])
				}
			})
		}
	})
	if *update && !t.Failed() && !partial() {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// caseName is the first command line of a case.
func caseName(text string) string {
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(line, "$ ffconvert "); ok {
			return strings.TrimSpace(name)
		}
	}
	return "comment"
}

// runCase does what a case says, and returns it with what came of it.
func runCase(t *testing.T, fixture, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &refusalCase{t: t, dir: dir}
	c.check(copyFixture(fixture, dir, text))
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "#":
		case ":":
			c.step(words(t, rest))
		case "$":
			args := words(t, rest)
			if len(args) == 0 || args[0] != "ffconvert" {
				t.Fatalf("want $ ffconvert, got %q", line)
			}
			lines = append(append(lines, line), c.shown(run(t, c.dir, c.stdin, c.env, args[1:]...))...)
			continue
		case "exit", "1|", "2|":
			continue // of the last time
		default:
			t.Fatalf("what is %q?", line)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// A refusalCase is a case that is being run.
type refusalCase struct {
	t     *testing.T
	dir   string
	stdin string
	env   []string
}

func (c *refusalCase) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// shown are the lines of what a run ended with. What differs from one time to the next is
// replaced: the directory of the case, times, and numbers of processes.
func (c *refusalCase) shown(got outcome) []string {
	lines := []string{fmt.Sprintf("exit %d", got.status)}
	for _, stream := range []struct{ mark, text string }{{"1|", got.stdout}, {"2|", got.stderr}} {
		text := strings.ReplaceAll(stream.text, c.dir, "DIR")
		for _, v := range varying {
			text = v.pattern.ReplaceAllString(text, v.shown)
		}
		if text == "" {
			continue
		}
		if !strings.HasSuffix(text, "\n") {
			text += "(no newline)\n"
		}
		for line := range strings.Lines(text) {
			lines = append(lines, strings.TrimRight(stream.mark+" "+strings.TrimSuffix(line, "\n"), " "))
		}
	}
	return lines
}

var varying = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| UTC|[+-]\d\d:?\d\d)?`), "TIME"},
	{regexp.MustCompile(`\b\d+(\.\d+)? (B|kB|MB|GB)/s`), "RATE"},
	{regexp.MustCompile(`, (from the device|as .* serves it, the device is not proven)`), ", from ORIGIN"}, // it depends on the file system
	{regexp.MustCompile(`by (aio|pread)\b`), "by BACKEND"},
	{regexp.MustCompile(`\b\d+\.\d+ s\b`), "SECONDS"},
	{regexp.MustCompile(`(process|pid) \d+`), "$1 N"},
	{regexp.MustCompile(`(?m)^[a-z +]+: .*, elapsed \d.*\n`), ""}, // the progress of a run that takes longer than five seconds
	{regexp.MustCompile(`ffconvert \d+\.\d+\.\d+\S*`), "ffconvert VERSION"},
}

// words splits a line as a shell does; only single quotes have a meaning.
func words(t *testing.T, line string) []string {
	t.Helper()
	var all []string
	word, open, quoted := "", false, false
	for _, r := range line {
		switch {
		case r == '\'':
			quoted, open = !quoted, true
		case r == ' ' && !quoted:
			if open {
				all = append(all, word)
			}
			word, open = "", false
		default:
			word, open = word+string(r), true
		}
	}
	if quoted {
		t.Fatalf("a quote is not closed: %s", line)
	}
	if open {
		all = append(all, word)
	}
	return slices.Clip(all)
}
