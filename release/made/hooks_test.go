package made

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// pre-commit accepts the hooks, and runs them: with the program of the release in place of one that it would build for minutes.
func TestHooks(t *testing.T) {
	t.Parallel()
	tool(t, "pre-commit", "git")
	manifest := filepath.Join("..", "..", ".pre-commit-hooks.yaml")
	run(t, exec.Command("pre-commit", "validate-manifest", manifest))
	var hooks []map[string]any
	readYAML(t, &hooks, ".pre-commit-hooks.yaml")
	for _, h := range hooks {
		if h["language"] != "golang" {
			t.Errorf("%s: language %v", h["id"], h["language"])
		}
		h["language"] = "system"
	}
	config, err := yaml.Marshal(map[string]any{"repos": []any{map[string]any{"repo": "local", "hooks": hooks}}})
	if err != nil {
		t.Fatal(err)
	}
	program, _ := unpack(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{".pre-commit-config.yaml": string(config), "data/a.tar": tarOf(t), "b.jsonl": "{\"a\": 1}\n", "notes.txt": "no data"})
	run(t, exec.Command("git", "init", "--quiet", dir))
	run(t, exec.Command(program, "tar", filepath.Join(dir, "data", "a.tar"), filepath.Join(dir, "out")))
	commit := func() (string, error) {
		run(t, exec.Command("git", "-C", dir, "add", "--all", "--force"))
		cmd := exec.Command("pre-commit", "run", "--all-files", "--color=never")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PRE_COMMIT_HOME="+filepath.Join(t.TempDir(), "cache"), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if said, err := commit(); err != nil || strings.Count(said, "Passed\n") != 3 || strings.Count(said, "Skipped\n") != 1 {
		t.Errorf("sound data: %v\n%s", err, said)
	}
	shard := filepath.Join(dir, "out", "PART_00000.ffr")
	data, err := os.ReadFile(shard)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	write(t, dir, map[string]string{"out/PART_00000.ffr": string(data), "data/a.tar": tarOf(t)[:5000]})
	said, err := commit()
	if err == nil || strings.Count(said, "Failed\n") != 2 || !strings.Contains(said, "wrong checksum") || !strings.Contains(said, "[truncated]") || !strings.Contains(said, "exit code: 2") {
		t.Errorf("damaged data: %v\n%s", err, said)
	}
}
