package shard

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/verify"
)

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
		if err := os.Chtimes(filepath.Join(dir, ".ffconvert", "running", "PART_00001"), at, at); err != nil {
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
