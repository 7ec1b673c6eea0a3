package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
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

// isCommand reports whether a code span is a line of shell that runs ffconvert, or an example that does.
var isCommand = regexp.MustCompile(`(^|[ =])ffconvert [a-z]|^python3 examples/`).MatchString

// coverageJudge is the script that judges what commands have made: testdata/coverage/rows.py, with readers.py, which are no code of ours.
const coverageJudge = `
import base64, json, os, sys
sys.dont_write_bytecode = True
sys.path.insert(0, %q)
import rows
def reply(request):
    r = json.loads(request)
    if "directory" not in r:
        return list(rows.ROWS)
    os.environ["PATH"] = r["path"]
    return rows.check(r["directory"], r["command"], base64.b64decode(r["out"] or ""), base64.b64decode(r["err"] or ""), r["node"])
`

// scriptsIn returns the path of a directory of Python files. It reads them, so that a cached result of the test is of these files.
func scriptsIn(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.py"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%s: %q, %v", dir, names, err)
	}
	for _, name := range names {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// What each command of docs/coverage.md makes is read by other programs, which compare it with what went in. A command without such a
// check fails, and so does a check without a command.
func TestDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "a folder and a process for each command of a page")
	node := filepath.Join(need.Node(t, "apache-arrow"), "..", "..")
	scripts := scriptsIn(t, filepath.Join("testdata", "coverage"))
	need.Tools(t, "awk", "sort")
	python3 := python.Path(t, "cbor2", "msgpack", "numpy", "PIL")
	d := newDocsFolder(t)
	d.run(t, d.made, python3+" -B "+filepath.Join(scripts, "shipped.py"))
	d.env = append(d.env, "PYTHONDONTWRITEBYTECODE=1")
	judge := python.Start(t, fmt.Sprintf(coverageJudge, scripts))
	var checks []string
	judge.Ask([]byte("{}"), &checks)
	commands := slices.DeleteFunc(codeSpans(docsPage(t, "coverage.md")), func(span string) bool { return !isCommand(span) })
	for _, check := range checks {
		if !slices.Contains(commands, check) {
			t.Errorf("testdata/coverage/rows.py has a check for %q, which is on no line of the page", check)
		}
	}
	var one sync.Mutex // the judge answers one question after another
	for _, span := range commands {
		t.Run(span, func(t *testing.T) {
			t.Parallel()
			dir := d.fresh(t)
			out, errOut := d.run(t, dir, span)
			request, err := json.Marshal(map[string]any{"directory": dir, "command": span, "out": out, "err": errOut, "node": node, "path": d.path})
			if err != nil {
				t.Fatal(err)
			}
			one.Lock()
			defer one.Unlock()
			wrong := ""
			if judge.Ask(request, &wrong); wrong != "" {
				t.Errorf("%s\n%s%s", wrong, out[:min(len(out), 500)], errOut)
			}
		})
	}
	if len(commands) < 100 {
		t.Errorf("%d commands", len(commands))
	}
}

// Its Python names do what they say, and its expressions have the values that testdata/coverage/values.py computes without the package.
func TestPythonOfDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "imports PyTorch")
	python3 := python.Path(t, "torch", "cbor2", "msgpack", "numpy", "PIL")
	var spans []string
	for _, span := range codeSpans(docsPage(t, "coverage.md")) {
		if regexp.MustCompile(`^(Dataset|DataLoader)\(.*[])]$|^ffconvert\.([A-Z]|ffrecord\.|convert$)`).MatchString(span) {
			spans = append(spans, span)
		}
	}
	dir := t.TempDir()
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	tars := filepath.Join(data, "shards-00%d.tar")
	for _, args := range [][]string{
		{"tar", "-q", fmt.Sprintf(tars, 0), fmt.Sprintf(tars, 1), fmt.Sprintf(tars, 2), fmt.Sprintf(tars, 3), filepath.Join(dir, "out")},
		{"folder", "-q", filepath.Join(data, "shapes"), filepath.Join(dir, "more")}, {"pack", "-q", filepath.Join(data, "shapes"), filepath.Join(dir, "images.ffr")},
	} {
		if out, err := exec.Command(need.Program(t), args...).CombinedOutput(); err != nil {
			t.Fatalf("ffconvert %q: %v\n%s", args, err, out)
		}
	}
	for i := range 4 {
		if err := os.Symlink(fmt.Sprintf(tars, i), filepath.Join(dir, fmt.Sprintf("shards-00%d.tar", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(data, "shapes"), filepath.Join(dir, "photos")); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(spans)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python3, "-B", "-c", "import json, sys, values; values.judge(json.load(sys.stdin))")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(asked)
	cmd.Env = append(os.Environ(), "FFCONVERT="+need.Program(t), "PYTHONPATH="+filepath.Dir(scriptsIn(t, filepath.Join("..", "..", "python", "ffconvert")))+string(filepath.ListSeparator)+scriptsIn(t, filepath.Join("testdata", "coverage")))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
