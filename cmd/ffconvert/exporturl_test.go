package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/services"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// madeHere converts the ten tars of the test data into a directory.
func madeHere(t *testing.T, dir string, more ...string) {
	t.Helper()
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"tar", "--shards", "3"}, more...)
	if out := ffconvert(t, filepath.Dir(dir), append(args, filepath.Join(data, "shards-{000..009}.tar"), filepath.Base(dir))...); out.status != exitOK {
		t.Fatal(out)
	}
}

// ffconvertAt is ffconvert with more environment variables.
func ffconvertAt(t *testing.T, env []string, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args, cmd.Env = append([]string{"ffconvert"}, args...), append(append(os.Environ(), offline...), env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Run()
	return result{args, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// tree returns the bytes of the files below a directory, but for times.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err != nil || st.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		if !strings.HasSuffix(name, "export.json") {
			all[filepath.ToSlash(name)] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A dataset on a service is exported to the bytes to which its copy on this machine is, in each form and by each choice. Replies
// that are late, cut or wrong change nothing. Streams and choices by key take no copy of a shard; nothing is left behind.
func TestExportURL(t *testing.T) {
	t.Parallel()
	need.Time(t, "object stores")
	dir := t.TempDir()
	madeHere(t, filepath.Join(dir, "out"))
	if err := os.WriteFile(filepath.Join(dir, "keys"), []byte("000003\n000077\n000078\n000119\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	exports := [][]string{
		{"jsonl", "-"}, {"cbor", "-"}, {"msgpack", "-"}, {"arrow", "--columns", "cls,json", "-"}, {"tar", "--shards", "2", "TO/%06d.tar"}, {"folder", "TO"},
		{"jsonl", "--keys", "@keys", "-"}, {"jsonl", "--slice", "30:90:7", "-"}, {"jsonl", "--limit", "50", "-"}, {"jsonl", "--where", "label=1", "-"},
		{"jsonl", "--where", "jpg.size>4000", "-"}, {"jsonl", "--sort", "label", "-"}, {"tar", "--sample", "0.2", "TO/%03d.tar"}, {"folder", "--keys", "not=@keys", "--fields", "jpg;png,json", "TO"},
		{"folder", "--keys", "@keys", "TO"}, {"tar", "--where", "label=1", "TO/%03d.tar"}, {"tar", "--slice", "100:", "--key", "ordinal", "TO/%03d.tar"},
	}
	type exported struct {
		stdout string
		files  map[string]string
	}
	run := func(t *testing.T, env []string, source, to string, args []string) (exported, result) {
		words := append([]string{"export"}, args[:len(args)-1]...)
		words = append(words, source, strings.Replace(args[len(args)-1], "TO", to, 1))
		r := ffconvertAt(t, env, dir, words...)
		x := exported{stdout: r.stdout}
		if _, err := os.Stat(to); err == nil {
			x.files = treeOf(t, to)
		}
		return x, r
	}
	want := make([]exported, len(exports))
	for i, args := range exports {
		var r result
		if want[i], r = run(t, nil, "out", filepath.Join(t.TempDir(), "to"), args); r.status != exitOK || want[i].stdout == "" && len(want[i].files) == 0 {
			t.Fatal(r)
		}
	}
	for _, row := range []struct {
		name, kind string
		lies       bool // a reply may be whole, and wrong
		opts       testproxy.Options
	}{
		{"web", "web", false, testproxy.Options{}},
		{"ais", "ais", false, testproxy.Options{}},
		{"s3", "s3", false, testproxy.Options{}},
		{"gs", "gs", false, testproxy.Options{}},
		{"web with faults", "web", false, testproxy.Options{Pick: testproxy.Some(14, 0.15, testproxy.CutBody, testproxy.Busy, testproxy.Refuse)}},
		{"s3 with faults", "s3", false, testproxy.Options{Pick: testproxy.Some(15, 0.15)}},
		{"s3 that lies", "s3", true, testproxy.Options{Pick: testproxy.Some(16, 0.05, testproxy.Lies()...)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := services.Start(t, row.kind, filepath.Join(dir, "out"), row.opts)
			for i, args := range exports {
				temp, to := t.TempDir(), filepath.Join(t.TempDir(), "to")
				got, r := run(t, append(s.Env, "TMPDIR="+temp), s.URL, to, args)
				for n := 0; n < 3 && row.lies && (r.status == exitRefused || r.status == exitIO); n++ { // it gave up, and says so
					got, r = run(t, append(s.Env, "TMPDIR="+temp), s.URL, to, args)
				}
				if r.status != exitOK || strings.Contains(r.stderr, services.Password) {
					t.Fatal(r)
				}
				if got.stdout != want[i].stdout {
					t.Errorf("%q: %d other bytes, %d here", args, len(got.stdout), len(want[i].stdout))
				}
				for name, text := range want[i].files {
					if got.files[name] != text {
						t.Errorf("%q: %s differs", args, name)
					}
				}
				if len(got.files) != len(want[i].files) {
					t.Errorf("%q: %d files, %d here", args, len(got.files), len(want[i].files))
				}
				if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
					t.Errorf("%q: left %v, %v", args, left, err)
				}
			}
		})
	}
}
