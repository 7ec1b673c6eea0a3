package made

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// example returns an example of examples/ci, which docs/ci.md shows as it is.
func example(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", name))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, append(append([]byte("\n"), data...), "```\n"...)) {
		t.Errorf("docs/ci.md does not show %s as it is", name)
	}
	return string(data)
}

// checkReports looks at what a job of the examples leaves in dir.
func checkReports(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Contains(data, []byte("data/a.tar")) && !bytes.Contains(data, []byte("out/PART_00000.ffr")) {
			t.Errorf("%s: %v: %s", name, err, data)
		}
	}
}

// The workflow runs: its steps with the action, its own scripts, in the order of the file.
func TestExampleOfGitHub(t *testing.T) {
	t.Parallel()
	var workflow struct {
		Jobs map[string]struct{ Steps []step }
	}
	if err := yaml.Unmarshal([]byte(example(t, "github-actions.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	r.path = []string{gitHub(t)}
	write(t, r.dir, map[string]string{"data/a.tar": tarOf(t)})
	ran := 0
	for _, s := range workflow.Jobs["dataset"].Steps {
		ref, ours := strings.CutPrefix(s.Uses, "ffconvert/ffconvert@")
		var err error
		switch {
		case ours:
			err = r.use(ref, s.With)
		case s.Run != "":
			err = r.run(s.Run, ".", nil)
		default:
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		ran++
	}
	if ran != 3 || strings.Count(r.summary, "\n### ")+1 != 2 {
		t.Errorf("%d steps ran; the summary is %q", ran, r.summary)
	}
	checkReports(t, r.dir, "check.sarif", "verify.xml")
}

// GitLab's job runs with the files of the release.
func TestExampleOfGitLab(t *testing.T) {
	t.Parallel()
	tool(t, "sh", "curl", "sha256sum", "tar")
	if runtime.GOARCH != "amd64" {
		t.Skip("the example is for amd64")
	}
	path := "PATH=" + gitHub(t) + ":" + os.Getenv("PATH")
	var jobs map[string]struct {
		Variables    map[string]string
		BeforeScript []string `yaml:"before_script"`
		Script       []string
	}
	if err := yaml.Unmarshal([]byte(example(t, "gitlab-ci.yml")), &jobs); err != nil {
		t.Fatal(err)
	}
	job, dir := jobs["dataset"], t.TempDir()
	write(t, dir, map[string]string{"data/a.tar": tarOf(t)})
	// GitLab runs both as one script, and stops at the first failure.
	cmd := exec.Command("sh", "-ec", strings.Join(append(job.BeforeScript, job.Script...), "\n"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), path, "FFCONVERT="+job.Variables["FFCONVERT"], "FFCONVERT_URL="+job.Variables["FFCONVERT_URL"])
	run(t, cmd)
	checkReports(t, dir, "check.xml", "verify.xml")
	// A changed archive ends the job before anything of it is run.
	cmd = exec.Command("sh", "-ec", strings.Join(job.BeforeScript, "\n"))
	bad := t.TempDir()
	write(t, bad, map[string]string{job.Variables["FFCONVERT"] + ".tar.gz": "x"})
	sums, err := os.ReadFile(filepath.Join(made(t, printed), "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, bad, map[string]string{"SHA256SUMS": string(sums)})
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "FFCONVERT="+job.Variables["FFCONVERT"], "FFCONVERT_URL=file://"+bad)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "FAILED") {
		t.Errorf("a changed archive: %v\n%s", err, out)
	}
}

// The script builds a checkout: of the tree, whose packages are compiled already.
func TestExampleOfCheckout(t *testing.T) {
	t.Parallel()
	tool(t, "sh", "git")
	script := filepath.Join(t.TempDir(), "checkout.sh")
	if err := os.WriteFile(script, []byte(example(t, "checkout.sh")), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"data/a.tar": tarOf(t)})
	cmd := exec.Command("sh", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "FFCONVERT_SOURCE="+root)
	run(t, cmd)
	checkReports(t, dir, "check.xml", "verify.xml")
}

// actionlint knows no mistake in the workflows, of the tree and of the example, and in the inputs that the example gives to action.yml.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	tool(t, "git")
	path, err := exec.Command("go", "tool", "-n", "actionlint").Output() // on stderr are the modules that it downloads
	if err != nil {
		t.Fatal(err)
	}
	lint := strings.TrimSpace(string(path))
	workflows, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatal(workflows, err)
	}
	run(t, exec.Command(lint, append([]string{"-shellcheck="}, workflows...)...))
	dir := t.TempDir()
	run(t, exec.Command("git", "init", "--quiet", dir))
	text, err := os.ReadFile(filepath.Join("..", "..", "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	good := strings.ReplaceAll(example(t, "github-actions.yml"), "ffconvert/ffconvert@"+printedVersion(t), "./")
	write(t, dir, map[string]string{"action.yml": string(text), ".github/workflows/good.yml": good})
	cmd := exec.Command(lint, "-shellcheck=")
	cmd.Dir = dir
	run(t, cmd)
	write(t, dir, map[string]string{".github/workflows/bad.yml": strings.Replace(good, "junit: verify.xml", "junitt: verify.xml", 1)})
	cmd = exec.Command(lint, "-shellcheck=")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err == nil || !bytes.Contains(out, []byte(`input "junitt" is not defined`)) {
		t.Errorf("a mistake passes: %v\n%s", err, out)
	}
}
