package made

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An action is action.yml.
type action struct {
	Inputs  map[string]struct{ Description, Default string }
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

// A step is one of an action or of a workflow.
type step struct {
	ID, Name, Uses, If, Shell, Run string
	WorkingDirectory               string `yaml:"working-directory"`
	Env, With                      map[string]string
}

// readYAML reads a file of the tree.
func readYAML(t *testing.T, into any, path ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A runner runs the steps of action.yml as GitHub's does, in a directory of its own.
type runner struct {
	t       *testing.T
	dir     string // the checkout
	system  string // RUNNER_OS-RUNNER_ARCH
	path    []string
	env     []string
	status  map[string]string // outputs of the steps
	summary string            // the job's summary
	log     strings.Builder
}

func newRunner(t *testing.T) *runner {
	tool(t, "bash", "curl", "tar", "od", "awk", "sha256sum")
	arch := map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH]
	return &runner{t: t, dir: t.TempDir(), system: "Linux-" + arch, status: make(map[string]string)}
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// use runs the action, used as ffconvert/ffconvert@ref. It returns the error of the first step that fails.
func (r *runner) use(ref string, with map[string]string) error {
	var a action
	readYAML(r.t, &a, "action.yml")
	inputs := make(map[string]string)
	for name, input := range a.Inputs {
		inputs[name] = input.Default
	}
	for name, value := range with {
		if _, ok := a.Inputs[name]; !ok {
			r.t.Fatalf("the action has no input %s", name)
		}
		inputs[name] = value
	}
	eval := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(found string) string {
			for term := range strings.SplitSeq(expression.FindStringSubmatch(found)[1], " || ") {
				value := ""
				if name, ok := strings.CutPrefix(term, "inputs."); ok {
					value = inputs[name]
				} else if term == "github.action_ref" {
					value = ref
				} else {
					r.t.Fatalf("expression %q", term)
				}
				if value != "" {
					return value
				}
			}
			return ""
		})
	}
	for _, s := range a.Runs.Steps {
		switch s.If {
		case "":
		case "${{ inputs.command != 'install' }}":
			if inputs["command"] == "install" {
				continue
			}
		default:
			r.t.Fatalf("if: %s", s.If)
		}
		if s.Shell != "bash" {
			r.t.Fatalf("shell: %s", s.Shell)
		}
		env := make([]string, 0, len(s.Env))
		for name, value := range s.Env {
			env = append(env, name+"="+eval(value))
		}
		if err := r.run(s.Run, eval(s.WorkingDirectory), env); err != nil {
			return err
		}
	}
	return nil
}

// run runs the script of a step, then takes over what it left for later steps.
func (r *runner) run(script, dir string, env []string) error {
	files := make(map[string]string)
	work := r.t.TempDir()
	for _, name := range []string{"GITHUB_PATH", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} {
		files[name] = filepath.Join(work, name)
		if err := os.WriteFile(files[name], nil, 0o600); err != nil {
			r.t.Fatal(err)
		}
		env = append(env, name+"="+files[name])
	}
	file := filepath.Join(work, "script.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		r.t.Fatal(err)
	}
	system, arch, _ := strings.Cut(r.system, "-")
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	cmd.Dir = filepath.Join(r.dir, dir)
	cmd.Env = append(os.Environ(), "RUNNER_OS="+system, "RUNNER_ARCH="+arch, "RUNNER_TEMP="+work, "GITHUB_ACTIONS=true",
		"PATH="+strings.Join(append(r.path, os.Getenv("PATH")), ":"))
	cmd.Env = append(append(cmd.Env, r.env...), env...)
	cmd.Stdout, cmd.Stderr = &r.log, &r.log
	failed := cmd.Run()
	for name, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			r.t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSuffix(line, "\n")
			switch name {
			case "GITHUB_PATH":
				r.path = append([]string{line}, r.path...)
			case "GITHUB_ENV":
				r.env = append(r.env, line)
			case "GITHUB_OUTPUT":
				key, value, _ := strings.Cut(line, "=")
				r.status[key] = value
			}
		}
		if name == "GITHUB_STEP_SUMMARY" {
			r.summary += string(data)
		}
	}
	if failed != nil {
		return fmt.Errorf("%w\n%s", failed, &r.log)
	}
	return nil
}

// commands returns the lines of the log that the runner takes for commands: after ::stop-commands:: it takes none until the token.
func (r *runner) commands() (all []string) {
	stopped := ""
	for line := range strings.Lines(r.log.String()) {
		line = strings.TrimSpace(line)
		token, stops := strings.CutPrefix(line, "::stop-commands::")
		switch {
		case stopped != "" && line == "::"+stopped+"::":
			stopped = ""
		case stopped != "":
		case stops:
			stopped = token
		case strings.HasPrefix(line, "::") || strings.Contains(line, "##["):
			all = append(all, line)
		}
	}
	if stopped != "" {
		r.t.Error("the runner's commands stay stopped")
	}
	return all
}
