package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// shell is the command that runs a script; $1 is dir.
func shell(dir, script string) input.Command {
	return input.Command{Name: "a script", Args: []string{"/bin/sh", "-c", script, "sh", dir}}
}

// stageCommands opens the commands with a cache in dir.
func stageCommands(ctx context.Context, dir string, opts Options, commands ...input.Command) (*Set, error) {
	if opts.CacheDir == "" {
		opts.CacheDir = filepath.Join(dir, "cache")
	}
	var found []input.Name
	for _, c := range commands {
		found = append(found, input.FromCommand(c))
	}
	opts.Guarded = true
	return Open(ctx, found, opts)
}

func TestCommand(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	for _, tt := range []struct {
		name, script string
		want         string
	}{
		{"some bytes", "printf abc", "abc"},
		{"nothing", "exit 0", ""},
		{"many bytes", "head -c 3000000 /dev/zero", strings.Repeat("\x00", 3_000_000)},
		{"what looks compressed", `printf '\037\213\010'`, "\x1f\x8b\x08"},
		{"input is empty", "cat; echo end", "end\n"},
		{"a pause", "printf a; sleep 0.1; printf b", "ab"},
		{"runs on without an output", `printf a; exec >&-; sleep 0.2; : >"$1/ran"`, "a"},
		{"a child writes the rest", `(sleep 0.2; printf b) & printf a`, "ab"},
		{"a child runs on without an output", `sleep 0.3 >&- 2>&- & printf a`, "a"},
		{"arguments are not read by a shell", `printf '%s' "$0$#"`, "sh1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var read atomic.Int64
			opts := Options{Progress: func(name string, n int64) {
				if name == "a script" {
					read.Add(n)
				}
			}}
			set, err := stageCommands(t.Context(), dir, opts, shell(dir, tt.script))
			must(t, err)
			f := set.Parts[0]
			got, err := os.ReadFile(f.Path)
			must(t, err)
			fi, err := os.Stat(f.Path)
			must(t, err)
			size := int64(len(tt.want))
			want := converters.Part{Name: "a script", Path: f.Path, Size: size, ModTime: fi.ModTime(), Copy: f.Copy}
			if string(got) != tt.want || f != want || *f.Copy != (converters.Copy{Content: fmt.Sprintf("%016x", checksum.Sum64(got)), Sums: f.Copy.Sums}) || read.Load() != size {
				t.Errorf("%d bytes, %d told of, %+v; want %+v", len(got), read.Load(), f, want)
			}
			if _, err := os.Stat(filepath.Join(dir, "ran")); strings.Contains(tt.script, "ran") != (err == nil) {
				t.Error("it was not awaited:", err)
			}
			must(t, set.Release())
			must(t, set.Release())
			if _, err := os.Stat(filepath.Join(dir, "cache")); !os.IsNotExist(err) {
				t.Errorf("left %q", left(t, dir))
			}
		})
	}
}

func TestCommandFails(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	need.Shell(t)
	missing := filepath.Join(t.TempDir(), "missing")
	for _, tt := range []struct {
		name    string
		command input.Command
		opts    Options
		want    error
		says    string
	}{
		{"status", shell("", "printf abc; exit 3"), Options{}, input.ErrCommand, "a script: the command did not succeed: exit status 3"},
		{"status after much", shell("", "head -c 3000000 /dev/zero; exit 1"), Options{}, input.ErrCommand, "exit status 1"},
		{"status without output", shell("", "exit 255"), Options{}, input.ErrCommand, "exit status 255"},
		{"status after the output is closed", shell("", "printf a; exec >&-; sleep 0.1; exit 7"), Options{}, input.ErrCommand, "exit status 7"},
		{"killed", shell("", "printf abc; kill -9 $$"), Options{}, input.ErrCommand, "signal: killed"},
		{"killed by its own alarm", shell("", "printf abc; kill -14 $$"), Options{}, input.ErrCommand, "signal: alarm clock"},
		{"its output is held", shell("", "printf abc; sleep 60 & exit 0"), Options{grace: 100 * time.Millisecond}, input.ErrCommand, "still holds its output"},
		{"its output is held, and flows", shell("", "while printf abc; do sleep 0.01; done & exit 0"), Options{grace: 100 * time.Millisecond}, input.ErrCommand, "still holds its output"},
		{"its output is held by force", shell("", "(trap '' TERM; sleep 60; :) & exit 0"), Options{grace: 100 * time.Millisecond}, input.ErrCommand, "still holds its output"},
		{"status, and its output is held", shell("", "printf abc; sleep 60 & exit 3"), Options{grace: 100 * time.Millisecond}, input.ErrCommand, "exit status 3"},
		{"its messages are held", input.Command{Name: "a script", Args: []string{"/bin/sh", "-c", "sleep 60 >&- & exit 0"}, Stderr: new(bytes.Buffer)},
			Options{grace: 100 * time.Millisecond}, input.ErrCommand, "still holds its output"},
		{"over the quota", shell("", "exec yes"), Options{Quota: 1 << 20}, ErrQuota, "option cache-size"},
		{"over the quota, regardless of signals", shell("", "trap '' TERM PIPE; while :; do yes; done 2>/dev/null"),
			Options{Quota: 1 << 20, grace: 100 * time.Millisecond}, ErrQuota, "option cache-size"},
		{"the cache is full", shell("", "printf abc"), Options{fault: func(op string) error {
			if op == "close" {
				return syscall.ENOSPC
			}
			return nil
		}}, syscall.ENOSPC, "stage in"},
		{"no such program", input.Command{Name: "x", Args: []string{missing}}, Options{}, syscall.ENOENT, "x: run " + missing + ": no such file"},
		{"no path", input.Command{Name: "x", Args: []string{"sh"}}, Options{}, syscall.ENOENT, "x: run sh: no such file"},
		{"no permission", input.Command{Name: "x", Args: []string{"/dev/null"}}, Options{}, syscall.EACCES, "permission"},
		{"a directory", input.Command{Name: "x", Args: []string{"/"}}, Options{}, syscall.EACCES, "permission"},
		{"no arguments", input.Command{Name: "x"}, Options{}, input.ErrCommand, "no program"},
		{"hostile name", input.Command{Name: "x\n\x1b", Args: []string{missing}}, Options{}, syscall.ENOENT, `"x\n\x1b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			start := time.Now()
			set, err := stageCommands(t.Context(), dir, tt.opts, tt.command)
			var e *place.Error
			if set != nil || !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Where != tt.command.Name || e.Off != -1 ||
				!strings.Contains(err.Error(), tt.says) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %v; want %v, saying %q", err, tt.want, tt.says)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("it took %v", d)
			}
			if names := left(t, dir); names != nil {
				t.Errorf("left %q", names)
			}
		})
	}
}

// A command that fails takes no copy of another with it that a later run can use, and
// leaves none that it cannot.
func TestOneOfManyCommandsFails(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	write(t, dir, "good", compress(t, "gzip", smallTar(t)))
	opts := Options{Options: input.Options{LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache"), Workers: 1}
	found, err := input.Find(t.Context(), []string{filepath.Join(dir, "good")}, opts.Options)
	must(t, err)
	found = append(found, input.FromCommand(shell(dir, "printf abc")), input.FromCommand(shell(dir, "exit 3")))
	if _, err := Open(t.Context(), found, opts); !errors.Is(err, input.ErrCommand) {
		t.Fatal(err)
	}
	if names := left(t, dir); len(names) != 1 {
		t.Fatalf("left %q", names)
	}
}

// Commands, standard input and files in one set; two commands alike are two inputs.
func TestCommandsTogether(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	write(t, dir, "plain", []byte("plain"))
	opts := Options{Options: input.Options{LookupEnv: noEnv, Stdin: strings.NewReader("stdin")}, CacheDir: filepath.Join(dir, "cache"), Workers: 8}
	found, err := input.Find(t.Context(), []string{"-", filepath.Join(dir, "plain")}, opts.Options)
	must(t, err)
	want := []string{"stdin", "plain"}
	for i := range 8 {
		c := shell(dir, fmt.Sprintf("printf %d", i/2))
		if i == 7 {
			c.Name = "-" // it is not standard input for that
		}
		found = append(found, input.FromCommand(c))
		want = append(want, strconv.Itoa(i/2))
	}
	set, err := Open(t.Context(), found, opts)
	must(t, err)
	for i, f := range set.Parts {
		got, err := os.ReadFile(f.Path)
		must(t, err)
		if string(got) != want[i] || f.Name != found[i].Name {
			t.Errorf("%d: %s is %q, want %q", i, f.Name, got, want[i])
		}
	}
	if n := len(left(t, dir)); n != 9 {
		t.Errorf("%d copies", n)
	}
	must(t, set.Release())
	if left(t, dir) != nil {
		t.Errorf("left %q", left(t, dir))
	}
}

func TestCommandMessages(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "messages"))
	must(t, err)
	defer file.Close()
	var buffer bytes.Buffer
	for _, status := range []string{"0", "3"} {
		dir := t.TempDir()
		c := shell(dir, "echo a word >&2; exit "+status)
		c.Stderr = &buffer
		_, err := stageCommands(t.Context(), dir, Options{}, c)
		c.Stderr = file
		_, ferr := stageCommands(t.Context(), dir, Options{}, c)
		if errors.Is(err, input.ErrCommand) != (status == "3") || errors.Is(ferr, input.ErrCommand) != (status == "3") {
			t.Error(err, ferr)
		}
	}
	got, err := os.ReadFile(file.Name())
	must(t, err)
	if want := "a word\na word\n"; buffer.String() != want || string(got) != want {
		t.Errorf("got %q, and in the file %q", buffer.String(), got)
	}
}

// What a command started is cancelled with it: politely, and where that does not help,
// by force.
func TestCommandCancelled(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	need.Shell(t)
	const ready = `; : >"$1/ready"; `
	for _, tt := range []struct {
		name, script string
		grace        time.Duration
		tidied       bool // it had the time to end by itself
	}{
		{"silent", `echo $$ >"$1/pid"` + ready + "exec sleep 60", 0, false},
		{"writes", `echo $$ >"$1/pid"` + ready + "exec yes", 0, false},
		{"has a child", `sleep 60 & echo $! >"$1/pid"` + ready + "wait", 0, false},
		{"has closed its output", `echo $$ >"$1/pid"` + ready + "exec sleep 60 >&-", 0, false},
		{"tidies up", `trap ': >"$1/tidied"; exit 0' TERM; echo $$ >"$1/pid"` + ready + "while :; do sleep 0.05; done", 0, true},
		{"has a child that tidies up", `(trap 'sleep 0.2; : >"$1/tidied"; exit 0' TERM` + ready + `while :; do sleep 0.05; done) & echo $! >"$1/pid"; wait`, 0, true},
		{"ignores it", `trap '' TERM; echo $$ >"$1/pid"` + ready + "while :; do sleep 0.05; done", 200 * time.Millisecond, false},
		{"ignores it without output", `trap '' TERM; exec >&-; echo $$ >"$1/pid"` + ready + "while :; do sleep 0.05; done", 200 * time.Millisecond, false},
		{"has a child that ignores it", `(trap '' TERM` + ready + `while :; do sleep 0.05; done) & echo $! >"$1/pid"; wait`, 200 * time.Millisecond, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pid := func() int { // 0 until the shell has written it
				text, _ := os.ReadFile(filepath.Join(dir, "pid"))
				pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				return pid
			}
			why := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			var cancelled time.Time
			var wg sync.WaitGroup
			wg.Go(func() {
				await(t, func() bool { return exists(dir, "ready") && pid() > 0 })
				cancelled = time.Now()
				cancel(why)
			})
			_, err := stageCommands(ctx, dir, Options{grace: tt.grace}, shell(dir, tt.script))
			wg.Wait()
			if !errors.Is(err, why) || left(t, dir) != nil {
				t.Errorf("%v, left %q", err, left(t, dir))
			}
			if d := time.Since(cancelled); d < tt.grace || d > 4*time.Second {
				t.Errorf("it took %v", d)
			}
			if exists(dir, "tidied") != tt.tidied {
				t.Errorf("tidied up: %v", !tt.tidied)
			}
			await(t, func() bool { return !runs(pid()) })
		})
	}
}

func TestCommandIsNotRunOnceCancelled(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	_, err := stageCommands(ctx, dir, Options{}, shell(dir, `: >"$1/ran"`))
	if !errors.Is(err, why) || exists(dir, "ran") {
		t.Fatal(err)
	}
}

// Neither goroutines nor descriptors stay, however a command ends. Not parallel, so that
// it counts its own alone.
func TestCommandsLeaveNothing(t *testing.T) {
	need.Time(t, "many processes")
	need.Shell(t)
	dir := t.TempDir()
	run := func(script string) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		c := shell(dir, script)
		c.Stderr = new(bytes.Buffer)
		if set, err := stageCommands(ctx, dir, Options{Quota: 1 << 20, grace: 50 * time.Millisecond}, c); err == nil {
			must(t, set.Release())
		}
	}
	held := func() (int, int) {
		fds, _ := os.ReadDir("/dev/fd")
		return runtime.NumGoroutine(), len(fds)
	}
	run("printf a") // what the first one starts for good
	goroutines, fds := held()
	for _, script := range []string{"printf a", "exit 3", "kill -9 $$", "exec yes", "exec sleep 60", "sleep 60 & exit 0", "trap '' TERM; while :; do sleep 0.05; done"} {
		run(script)
		await(t, func() bool {
			g, f := held()
			return g <= goroutines && f <= fds
		})
	}
	if names := left(t, dir); names != nil {
		t.Errorf("left %q", names)
	}
}

// await waits until done, within reason.
func await(t *testing.T, done func() bool) {
	t.Helper()
	for start := time.Now(); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 20*time.Second {
			t.Error("waited in vain")
			return
		}
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// runs tells a process that runs from one that is no more, or that nobody has reaped.
func runs(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		after := stat[bytes.LastIndexByte(stat, ')')+1:]
		return !bytes.HasPrefix(after, []byte(" Z"))
	}
	return syscall.Kill(pid, 0) == nil
}
