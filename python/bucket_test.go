package python_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// What docs/training-from-buckets.md prints works as printed, with a bucket of S3 and another place for the cache: the
// commands, and the loader, whose samples are those of the directory.
func TestBucketPage(t *testing.T) {
	t.Parallel()
	interpreter, program, s3 := python.Path(t, "torch", "PIL"), need.Program(t), versitygw.Start(t)
	s3.Bucket(t, "bucket")
	dir, cache := t.TempDir(), filepath.Join(t.TempDir(), "cache")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), s3.Env()...), "PYTHONPATH="+here, "FFCONVERT="+program)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	tars, err := filepath.Glob(filepath.Join(here, "../testdata/shards-*.tar"))
	if err != nil {
		t.Fatal(err)
	}
	run(program, append([]string{"tar", "--progress", "none", "--shards", "5"}, append(tars, "out")...)...)
	run(program, "copy", "--progress", "none", "out", "s3://bucket/data")

	page, err := os.ReadFile("../docs/training-from-buckets.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(page), "/nvme/cache", cache)
	commands := regexp.MustCompile(`(?m)^    ffconvert ((?:verify|cache|bench) .*?)(?: +#.*)?$`).FindAllStringSubmatch(text, -1)
	if len(commands) != 5 {
		t.Fatalf("the page has other commands: %q", commands)
	}
	for _, c := range commands[:3] { // those that look and clean come last
		run(program, strings.Fields(c[1])...)
	}
	block := regexp.MustCompile("(?s)```python\n(.*?)```").FindStringSubmatch(text)
	if block == nil {
		t.Fatal("the page has no Python")
	}
	const compare = `
local = Dataset("out", fields=["jpg;png", "cls"])
same = DataLoader(local, batch_size=32, shuffle=True, seed=7, collate_fn=list)
count = 0
for a, b in zip(loader, same):
    assert [(x["cls"], x["jpg"].tobytes()) for x in a] == [(x["cls"], x["jpg"].tobytes()) for x in b]
    count += len(a)
assert dataset.digest == local.digest and loader.state_dict() == same.state_dict()
print(count)
`
	if got := strings.TrimSpace(run(interpreter, "-W", "ignore", "-c", block[1]+compare)); got != "120" {
		t.Errorf("it printed %q, want 120 samples", got)
	}
	if got := run(program, strings.Fields(commands[3][1])...); !strings.Contains(got, "s3://bucket/data/") {
		t.Errorf("cache ls: %q", got)
	}
}
