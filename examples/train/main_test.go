package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/loader"
)

// TestMain runs the example where a test starts this program again.
func TestMain(m *testing.M) {
	if os.Getenv("TRAIN_EXAMPLE") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func shapes(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	c := exec.Command(need.Program(t), "folder", filepath.Join("..", "..", "testdata", "shapes"), dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func read(t *testing.T, name string) (c checkpoint) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err := errors.Join(err, json.Unmarshal(text, &c)); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTrain: the loss goes down, and a run that is killed again and again ends with the same weights.
func TestTrain(t *testing.T) {
	t.Parallel()
	dir, whole, pieces := shapes(t), filepath.Join(t.TempDir(), "whole.json"), filepath.Join(t.TempDir(), "pieces.json")
	const epochs = 30
	if err := (training{dir, whole, epochs, 6, io.Discard}).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := read(t, whole)
	if first, last := want.Losses[0], want.Losses[epochs-1]; len(want.Losses) != epochs || first < 0.5 || last > first/4 {
		t.Errorf("the loss went from %.3f to %.3f: %.3f", first, last, want.Losses)
	}

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	kills := 0
	for done := false; !done; {
		c := exec.Command(self, "-epochs", "30", "-state", pieces, dir)
		c.Env = append(os.Environ(), "TRAIN_EXAMPLE=1")
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		var killed *time.Timer
		if kills < 4 {
			killed = time.AfterFunc(time.Duration(30+rand.IntN(60))*time.Millisecond, func() { c.Process.Kill() })
		}
		err := c.Wait()
		if killed != nil {
			killed.Stop()
		}
		if done = err == nil; !done && c.ProcessState.ExitCode() != -1 {
			t.Fatalf("%v: %s", err, said.Bytes())
		}
		kills++
	}
	if got := read(t, pieces); !reflect.DeepEqual(got, want) {
		t.Errorf("after %d kills: losses %v, want %v", kills-1, got.Losses, want.Losses)
	}
}

// TestRefused: a state of another run is refused, an interrupted run says so.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir, state := shapes(t), filepath.Join(t.TempDir(), "run.json")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (training{dir, state, 1, 6, io.Discard}).run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (training{dir, state, 1, 6, io.Discard}).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := (training{dir, state, 2, 8, io.Discard}).run(t.Context()); !errors.Is(err, loader.ErrState) {
		t.Errorf("a state of another batch size: %v", err)
	}
	if err := os.WriteFile(state, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (training{dir, state, 2, 6, io.Discard}).run(t.Context()); err == nil {
		t.Error("a state file that is cut was accepted")
	}
}
