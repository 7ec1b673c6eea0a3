//go:build unix

package export_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A program that is killed at any time leaves no tar that is not whole, and the same command goes on.
func TestKill(t *testing.T) {
	t.Parallel()
	need.Time(t, "many processes")
	program := need.Program(t)
	r := rand.New(rand.NewPCG(11, 11))
	parts := random(r, 400)
	for _, samples := range parts {
		for i := range samples {
			samples[i].Fields = append(samples[i].Fields, converters.Field{Name: "big", Value: converters.Bytes(bytes.Repeat([]byte{byte(i)}, 50_000))})
		}
	}
	dir := shards(t, parts, encode.Options{}, 2)
	want, _ := tars(t, dir, export.Options{Sizes: plan.Sizes{Shards: 12}})
	whole := make(map[string][]byte)
	for _, path := range want {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole[filepath.Base(path)] = data
	}
	kills := 0
	for range 3 {
		out := filepath.Join(t.TempDir(), "out")
		most, before := 150*time.Millisecond, 0 // until a kill; tars there
		for done := false; !done; {
			cmd := exec.Command(program, "export", "tar", "--shards", "12", "-j", "2", "--progress", "none", dir, filepath.Join(out, "x-%03d.tar"))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(20*time.Millisecond+time.Duration(r.Int64N(int64(most))), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			if timer.Stop(); err == nil {
				done = true
			} else if stderr.Len() > 0 {
				t.Fatalf("after %d kills: %s", kills, stderr.Bytes())
			}
			kills++
			found, _ := filepath.Glob(filepath.Join(out, "*.tar"))
			for _, path := range found {
				if data, err := os.ReadFile(path); err != nil || !bytes.Equal(data, whole[filepath.Base(path)]) {
					t.Errorf("%s after a kill: %d bytes, want %d, %v", filepath.Base(path), len(data), len(whole[filepath.Base(path)]), err)
				}
			}
			if _, err := os.Stat(filepath.Join(out, "x.export.json")); err == nil && len(found) != 12 {
				t.Error("a manifest of an export that is not finished")
			}
			if len(found) == before { // a busy machine needs longer for one tar
				most += most / 8
			}
			before = len(found)
			if kills > 400 {
				t.Fatal("it does not come to its end")
			}
		}
		if left, err := os.ReadDir(filepath.Join(out, ".ffconvert")); err == nil {
			t.Errorf("left %v", left)
		}
	}
	t.Logf("%d processes", kills)
}

// A folder is exported by a program that is killed at any time, and run again: the files are right, and nothing is beside them.
func TestKillFolder(t *testing.T) {
	t.Parallel()
	need.Time(t, "many processes")
	program := need.Program(t)
	r := rand.New(rand.NewPCG(13, 13))
	parts := [][]converters.Sample{nil}
	for i := range 300 {
		parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("d%d/%d", i%7, i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(bytes.Repeat([]byte{byte(i)}, 100*i))}}})
	}
	dir := shards(t, parts, encode.Options{}, 2)
	want := filepath.Join(t.TempDir(), "want")
	if _, err := folder(t.Context(), t, dir, want, export.Options{}); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for range 3 {
		out, most := filepath.Join(t.TempDir(), "out"), 50*time.Millisecond // until a kill
		for done := false; !done; most += most / 8 {
			cmd := exec.Command(program, "export", "folder", "-j", "2", "--progress", "none", dir, out)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(r.Int64N(int64(most))), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			if timer.Stop(); err == nil {
				done = true
			} else if stderr.Len() > 0 {
				t.Fatalf("after %d kills: %s", kills, stderr.Bytes())
			}
			kills++
		}
		if got := files(t, out); !slices.Equal(got, files(t, want)) {
			t.Errorf("%d files", len(got))
		}
	}
	t.Logf("%d processes", kills)
}
