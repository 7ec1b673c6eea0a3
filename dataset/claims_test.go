package dataset_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// Where there are no locks, a claim that is fresh keeps others from replacing and from writing
// the whole of a dataset; nothing is changed then. One that is stale does not, nor one whose
// process has ended on this machine. A dataset that is all there can be finished.
func TestAloneWithoutLocks(t *testing.T) {
	t.Parallel()
	src, other := memsource.New(71, 2, 30, 900), memsource.New(72, 2, 30, 900)
	p, another := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards), shardtest.NewPlan(t, other, encode.Options{}, shardtest.FourShards)
	for _, row := range []struct {
		name string
		do   func(t *testing.T, out *dataset.Writing) error
	}{
		{"replace", func(t *testing.T, out *dataset.Writing) error {
			return shardtest.BeginIn(out, another, other.Parts(), true)
		}},
		{"write", func(t *testing.T, out *dataset.Writing) error {
			_, err := write.All(t.Context(), write.Local(src), p, out, write.Options{})
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := shardtest.Begin(t, p, src)
			for k := range 2 {
				if _, err := shardtest.RunTask(t, dir, plan.Task{K: k, N: 2}, src, true, write.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			before := shardtest.Files(t, dir)
			shardtest.Claimed(t, dir, "PART_00001.ffr", time.Minute)
			out := dataset.OpenUnlocked(t, dir)
			if err := errors.Join(row.do(t, out), out.Close()); !errors.Is(err, dataset.ErrLocked) {
				t.Errorf("beside a living process: %v", err)
			}
			if !maps.Equal(shardtest.Files(t, dir), before) {
				t.Error("beside a living process it has changed the shards")
			}
			shardtest.Claimed(t, dir, "PART_00001.ffr", time.Hour)
			out = dataset.OpenUnlocked(t, dir)
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
	src := memsource.New(75, 2, 30, 900)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for _, order := range [][]string{{"aaaaaaaaaaaaa", "bbbbbbbbbbbbb"}, {"bbbbbbbbbbbbb", "aaaaaaaaaaaaa"}} {
		dir := shardtest.Begin(t, p, src)
		for i, noVerify := range []bool{true, false} {
			if _, err := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{NoVerify: noVerify}); err != nil {
				t.Fatal(err)
			}
			journals := filepath.Join(dir, filepath.FromSlash(dataset.JournalsDir))
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
		report, err := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{})
		if err != nil || report.Kept != len(p.Shards) {
			t.Errorf("%q: a third run has kept %+v, %v", order, report, err)
		}
		for range 2 { // by the journals, and by the one that they have become
			if report, err := shardtest.Finish(t, dir, write.Options{}); err != nil || !report.Manifest.Verified {
				t.Errorf("%q: the manifest says that it is not verified, %v", order, err)
			}
		}
	}
}

// A shard whose temporary file another process removes, which took this one for dead, is not said
// to be corrupt.
func TestTemporaryFileRemoved(t *testing.T) {
	t.Parallel()
	src := memsource.New(76, 2, 30, 900)
	dir := shardtest.Begin(t, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 1}}), src)
	src.Fail = func(int, int64) error { return os.RemoveAll(filepath.Join(dir, filepath.FromSlash(dataset.TmpDir))) }
	if _, err := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{Workers: 1}); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, verify.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// The times of files are what somebody has set. JSON has years up to 9999.
func TestStatusOfOddTimes(t *testing.T) {
	t.Parallel()
	src := memsource.New(77, 1, 20, 100)
	dir := shardtest.Begin(t, shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards), src)
	shardtest.Claimed(t, dir, "PART_00001.ffr", 0)
	for _, at := range []time.Time{time.Unix(1e12, 0), time.Unix(-1e11, 0)} { // some file systems round them
		if err := os.Chtimes(filepath.Join(dir, ".ffconvert", "running", "PART_00001"), at, at); err != nil {
			t.Fatal(err)
		}
		s, err := shardtest.Status(dir)
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
	src := memsource.New(75, 2, 30, 900)
	dir := shardtest.Begin(t, shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards), src)
	shardtest.Claimed(t, dir, "PART_00001.ffr", time.Minute)
	for k := range 2 {
		if _, err := shardtest.RunTask(t, dir, plan.Task{K: k, N: 2}, src, true, write.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	shardtest.Claimed(t, dir, "PART_00001.ffr", time.Minute)
	out := dataset.OpenUnlocked(t, dir)
	report, err := write.Finish(t.Context(), out, write.Options{})
	if err := errors.Join(err, out.Close()); err != nil || report.Manifest == nil {
		t.Error(err)
	}
}
