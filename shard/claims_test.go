package shard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/verify"
)

// openUnlocked opens a directory as it is on a file system that has no locks.
func openUnlocked(t testing.TB, dir string) *Output {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.release(); err != nil {
		t.Fatal(err)
	}
	out.lock = nil
	return out
}

// claimed makes the claim of another process.
func claimed(t testing.TB, dir, shard string, age time.Duration) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(claimName(shard)))
	text := `{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z","task":"1/2","token":"aaaaaaaaaaaaa"}`
	at := time.Now().Add(-age)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// Where there are no locks, a claim that is fresh keeps others from replacing and from writing
// the whole of a dataset; nothing is changed then. One that is stale does not, nor one whose
// process has ended on this machine. A dataset that is all there can be finished.
func TestAloneWithoutLocks(t *testing.T) {
	t.Parallel()
	src, other := newFixture(71, 2, 30, 900), newFixture(72, 2, 30, 900)
	plan, another := newPlan(t, src, encode.Options{}, fourShards), newPlan(t, other, encode.Options{}, fourShards)
	for _, row := range []struct {
		name string
		do   func(t *testing.T, out *Output) error
	}{
		{"replace", func(t *testing.T, out *Output) error {
			return out.Begin(another, other.Parts(), nil, true)
		}},
		{"write", func(t *testing.T, out *Output) error {
			_, err := Write(t.Context(), src, plan, out, WriteOptions{})
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, plan, src)
			for k := range 2 {
				if _, err := runTask(t, dir, Task{k, 2}, src, true, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			claimed(t, dir, "PART_00001.ffr", time.Minute)
			out := openUnlocked(t, dir)
			if err := errors.Join(row.do(t, out), out.Close()); !errors.Is(err, ErrLocked) {
				t.Errorf("beside a living process: %v", err)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Error("beside a living process it has changed the shards")
			}
			claimed(t, dir, "PART_00001.ffr", time.Hour)
			out = openUnlocked(t, dir)
			if err := errors.Join(row.do(t, out), out.Close()); err != nil {
				t.Errorf("beside a dead process: %v", err)
			}
		})
	}
}

// Who gives up a claim that another process has seized leaves it alone.
func TestReleaseOwnClaim(t *testing.T) {
	t.Parallel()
	src := newFixture(73, 1, 20, 100)
	dir := begin(t, newPlan(t, src, encode.Options{}, fourShards), src)
	var mine, his *claims
	for _, c := range []**claims{&mine, &his} {
		out, err := OpenShared(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		if *c, err = out.newClaims(Task{}); err != nil {
			t.Fatal(err)
		}
	}
	const first, second = "PART_00000.ffr", "PART_00001.ffr"
	for _, shard := range []string{first, second} {
		if free, err := mine.take(shard); !free || err != nil {
			t.Fatal(free, err)
		}
		if free, err := his.take(shard); free || err != nil {
			t.Fatal(free, err)
		}
		if err := his.seize(shard); err != nil {
			t.Fatal(err)
		}
	}
	mine.release(first)
	mine.close()
	for _, shard := range []string{first, second} {
		if c, ok, _ := readClaim(his.out.root, shard); !ok || c.Token != his.out.token {
			t.Errorf("%s: its claim is %+v", shard, c)
		}
	}
	his.close()
	if left, err := readClaims(his.out.root); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A task that is told who has the directory is not told of a process that was killed.
func TestLockForgetsTheDead(t *testing.T) {
	t.Parallel()
	src := newFixture(74, 1, 20, 100)
	dir := begin(t, newPlan(t, src, encode.Options{}, fourShards), src)
	lock := filepath.Join(dir, filepath.FromSlash(lockName))
	if err := os.WriteFile(lock, []byte(`{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	task, err := OpenShared(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer task.Close()
	if _, err := OpenOutput(dir); !errors.Is(err, ErrLocked) || strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("the whole beside a task: %v", err)
	}
}

// A shard that one task has verified and another has not is verified, whichever journal is read
// last.
func TestVerifiedByOne(t *testing.T) {
	t.Parallel()
	src := newFixture(75, 2, 30, 900)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	for _, order := range [][]string{{"aaaaaaaaaaaaa", "bbbbbbbbbbbbb"}, {"bbbbbbbbbbbbb", "aaaaaaaaaaaaa"}} {
		dir := begin(t, plan, src)
		for i, noVerify := range []bool{true, false} {
			if _, err := runTask(t, dir, Task{}, src, true, WriteOptions{NoVerify: noVerify}); err != nil {
				t.Fatal(err)
			}
			journals := filepath.Join(dir, filepath.FromSlash(journalsDir))
			names, err := filepath.Glob(filepath.Join(journals, "00000-*"))
			for _, name := range names {
				if i == 0 || filepath.Ext(name) != "."+order[0] {
					err = os.Rename(name, filepath.Join(journals, "00000-00003."+order[i]))
				}
			}
			if err != nil || len(names) != i+1 {
				t.Fatal(names, err)
			}
		}
		report, err := runTask(t, dir, Task{}, src, true, WriteOptions{})
		if err != nil || report.Kept != len(plan.Shards) {
			t.Errorf("%q: a third run has kept %+v, %v", order, report, err)
		}
		for range 2 { // by the journals, and by the one that they have become
			if report, err := finishDir(t, dir, FinishOptions{}); err != nil || !report.Manifest.Verified {
				t.Errorf("%q: the manifest says that it is not verified, %v", order, err)
			}
		}
	}
}

// A shard whose temporary file another process removes, which took this one for dead, is not said
// to be corrupt.
func TestTemporaryFileRemoved(t *testing.T) {
	t.Parallel()
	src := newFixture(76, 2, 30, 900)
	dir := begin(t, newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 1}}), src)
	src.fail = func(int, int64) error { return os.RemoveAll(filepath.Join(dir, filepath.FromSlash(tmpDir))) }
	if _, err := runTask(t, dir, Task{}, src, true, WriteOptions{Workers: 1}); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, verify.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// The times of files are what somebody has set. JSON has years up to 9999.
func TestStatusOfOddTimes(t *testing.T) {
	t.Parallel()
	src := newFixture(77, 1, 20, 100)
	dir := begin(t, newPlan(t, src, encode.Options{}, fourShards), src)
	claimed(t, dir, "PART_00001.ffr", 0)
	for _, at := range []time.Time{time.Unix(1e12, 0), time.Unix(-1e11, 0)} { // some file systems round them
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(claimName("PART_00001.ffr"))), at, at); err != nil {
			t.Fatal(err)
		}
		s, err := ReadStatus(dir)
		if err != nil || len(s.Running) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	}
	c := claim{seen: time.Unix(1e12, 0)} // as a file system that keeps it gives it
	if _, err := json.Marshal(c.shown()); err != nil {
		t.Error(err)
	}
}

// A dataset that is all there is finished, whoever still claims something of it.
func TestFinishWithoutLocks(t *testing.T) {
	t.Parallel()
	src := newFixture(75, 2, 30, 900)
	dir := begin(t, newPlan(t, src, encode.Options{}, fourShards), src)
	claimed(t, dir, "PART_00001.ffr", time.Minute)
	for k := range 2 {
		if _, err := runTask(t, dir, Task{k, 2}, src, true, WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	claimed(t, dir, "PART_00001.ffr", time.Minute)
	out := openUnlocked(t, dir)
	report, err := Finish(t.Context(), out, FinishOptions{})
	if err := errors.Join(err, out.Close()); err != nil || report.Manifest == nil {
		t.Error(err)
	}
}

// A claim of this machine whose process has ended is a dead one's at once; that of another
// machine, or of another PID namespace, is not known to be.
func TestDeadHolder(t *testing.T) {
	t.Parallel()
	h := newHolder()
	if h.Space == "" {
		t.Skip("the system does not say what a PID is a number of")
	}
	if h.dead() {
		t.Error("this process is dead")
	}
	ended := exec.Command("true")
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
