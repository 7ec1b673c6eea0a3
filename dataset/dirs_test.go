package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// OpenUnlocked opens a directory as it is on a file system that has no locks.
func OpenUnlocked(t testing.TB, dir string) *Writing {
	t.Helper()
	out, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.release(); err != nil {
		t.Fatal(err)
	}
	out.lock = nil
	return out
}

// CheckKept compares the plan and the journal in a directory with a manifest.
func CheckKept(dir string, m *Manifest) (*Repairable, error) {
	d, err := View(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.checkKept(m)
}

// Who gives up a claim that another process has seized leaves it alone.
func TestReleaseOwnClaim(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var mine, his *Claims
	for _, c := range []**Claims{&mine, &his} {
		out, err := OpenTask(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if *c, err = out.NewClaims(plan.Task{}); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "PART_00000.ffr", "PART_00001.ffr"
	for _, shard := range []string{first, second} {
		if free, err := mine.Take(shard); !free || err != nil {
			t.Fatal(free, err)
		}
		if free, err := his.Take(shard); free || err != nil {
			t.Fatal(free, err)
		}
		if err := his.Seize(shard); err != nil {
			t.Fatal(err)
		}
	}
	mine.Release(first)
	mine.Close()
	for _, shard := range []string{first, second} {
		if c, ok, _ := readClaim(his.dir.Root, shard); !ok || c.Token != his.dir.token {
			t.Errorf("%s: its claim is %+v", shard, c)
		}
	}
	his.Close()
	if left, err := readClaims(his.dir.Root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A task that is told who has the directory is not told of a process that was killed.
func TestLockForgetsTheDead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lock := filepath.Join(dir, filepath.FromSlash(LockName))
	if err := os.Mkdir(filepath.Dir(lock), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(lock, []byte(`{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	task, err := OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	if _, err := Open(dir); !errors.Is(err, ErrLocked) || strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("the whole beside a task: %v", err)
	}
}

// A claim of this machine whose process has ended is a dead one's at once; that of another
// machine, or of another PID namespace, is not known to be.
func TestDeadHolder(t *testing.T) {
	t.Parallel()
	h := newHolder()
	if h.Space == "" {
		need.Missing(t, "no /proc/self/ns/pid, which names the PID namespace")
	}
	if h.dead() {
		t.Error("this process is dead")
	}
	ended := exec.Command(need.Tool(t, "true"))
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	h.PID = ended.ProcessState.Pid()
	if !h.dead() {
		t.Error("a process that has ended is alive")
	}
	far, apart := h, h
	far.Host, apart.Space = "elsewhere", "pid:[1]"
	if far.dead() || apart.dead() {
		t.Error("it is known of a process elsewhere that it is dead")
	}
}

// A file beside the shards that is not what was written does not get its name.
func TestWriteBeside(t *testing.T) {
	t.Parallel()
	out, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	for _, text := range []string{"", "a", strings.Repeat("b", 1<<20+1)} {
		err := out.writeBeside("final", func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		data, err2 := out.Root.ReadFile("final")
		if err != nil || err2 != nil || string(data) != text {
			t.Fatalf("%d bytes became %d: %v, %v", len(text), len(data), err, err2)
		}
	}
	errBroken := errors.New("broken")
	err = out.writeBeside("final", func(w io.Writer) error {
		io.WriteString(w, "wrong")
		return errBroken
	})
	if !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if names, err := readNames(out.Root, "."); err != nil || strings.Join(names, " ") != ".ffconvert final" {
		t.Errorf("left %q, %v", names, err)
	}
	if err := out.Root.WriteFile("tmp", []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := aio.NewReader(aio.Options{Backend: aio.Pread})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, err = ReadBack(context.Background(), r, &files.Temp{Dir: out.Root, Tmp: "tmp"}, verify.Sum{Name: "meta.json", Bytes: 7, CRC: 1}, verify.Options{})
	if !errors.Is(err, verify.ErrCorrupt) || !strings.Contains(err.Error(), "meta.json: its checksum is") {
		t.Error(err)
	}
}

// The time of a file may have a year that JSON does not have.
func TestClaimOfOddTime(t *testing.T) {
	t.Parallel()
	c := claim{seen: time.Unix(1e12, 0)}
	if _, err := json.Marshal(c.shown()); err != nil {
		t.Error(err)
	}
}

func openShared(t testing.TB, dir string) *Task {
	t.Helper()
	o, err := OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}
