package faults

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// Deaths of a program in shell: what is said after it has written $CUT bytes of a stream, $STREAM.
var deaths = map[string]string{
	"exit":    `head -c "$CUT" "$STREAM"; exit 1`,
	"SIGKILL": `head -c "$CUT" "$STREAM"; kill -9 $$`,
	"SIGPIPE": `cat "$STREAM" | head -c "$CUT"`, // of which a shell knows nothing: its status is 0
}

// mortal is a data set for examples/stream.py that dies at sample $AT.
const mortal = `
import os, signal
def train():
    for i in range(24):
        if i == int(os.environ["AT"]):
            if os.environ["DEATH"] == "SIGKILL":
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError("the disk is gone")
        yield {"x": i}
`

// A producer is one way in which samples come, and dies.
type producer struct{ kind, death string }

// TestFaultI4 has the program that writes the samples die at every sample, and within each: there is never a dataset, and the
// same command with a program that lives makes it.
func TestFaultI4(t *testing.T) {
	slow(t)
	need.Shell(t)
	python3 := python.Path(t, "cbor2")
	stream, err := filepath.Abs(filepath.Join("..", "..", "examples", "stream.py"))
	if err != nil {
		t.Fatal(err)
	}
	t.Parallel()
	whole, cuts, err := markedStream(24)
	if err != nil {
		t.Fatal(err)
	}
	plain := whole[cuts[2]:cuts[len(cuts)-3]] // from behind the begin mark to the end mark
	bin := filepath.Join(base, "bin-i4")
	err = errors.Join(os.Mkdir(bin, 0o755), os.Symlink(python3, filepath.Join(bin, "python")), os.Symlink(stream, filepath.Join(bin, "stream.py")),
		os.WriteFile(filepath.Join(bin, "marked"), whole, 0o644), os.WriteFile(filepath.Join(bin, "plain"), plain, 0o644),
		os.WriteFile(filepath.Join(bin, "mortal.py"), []byte(mortal), 0o644))
	for death, script := range deaths {
		err = errors.Join(err, os.WriteFile(filepath.Join(bin, "ffconvert-"+death), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	if err != nil {
		t.Fatal(err)
	}
	producers := []producer{
		{"pipe", "exit"}, {"pipe", "SIGKILL"}, {"pipe", "SIGPIPE"}, {"plain pipe", "exit"}, {"plain pipe", "SIGKILL"}, {"plain pipe", "SIGPIPE"},
		{"plugin", "exit"}, {"plugin", "SIGKILL"}, {"plugin", "SIGPIPE"}, {"filter", "exit"}, {"filter", "SIGKILL"},
		{"stream.py", "exit"}, {"stream.py", "SIGKILL"},
	}
	n := len(cuts) - 1 // the last one is no cut
	sum := each(t, spread(len(producers)*n, 3*len(producers)), func(i int, dir string) error {
		p, at := producers[i/n], i%n
		if err := p.die(bin, dir, at, cuts[at]); err != nil {
			return fmt.Errorf("%s, %s, cut %d: %w", p.kind, p.death, at, err)
		}
		return nil
	})
	for _, p := range producers {
		sum.cases++
		if err := p.live(bin, t.TempDir()); err != nil {
			t.Errorf("%s lives: %v", p.kind, err)
		}
	}
	t.Logf("I4 %v", sum)
}

// markedStream returns a stream of n samples with marks, and where it is cut: at the start of each item, and in its middle. The last
// is its size.
func markedStream(n int) (stream []byte, cuts []int, err error) {
	put := func(item any) {
		b, failed := cbor.Marshal(item)
		err = errors.Join(err, failed)
		cuts = append(cuts, len(stream), len(stream)+len(b)/2)
		stream = append(stream, b...)
	}
	put(map[string]any{"__begin__": map[string]any{}})
	for i := range n {
		put(map[string]any{"__key__": strconv.Itoa(i), "x": strings.Repeat("x", 100*i)})
	}
	put(map[string]any{"__end__": map[string]any{"count": n, "sha256": fmt.Sprintf("%x", sha256.Sum256(stream))}})
	return stream, append(cuts, len(stream)), err
}

// run runs a conversion whose producer dies in this way, after cut bytes or at sample at.
func (p producer) run(bin, dir, stream string, at, cut int) (result, error) {
	how := "--progress none "
	script := map[string]string{
		"pipe":       "sh " + bin + "/ffconvert-" + p.death + " | " + program() + " cbor " + how + "- out",
		"plain pipe": "sh " + bin + "/ffconvert-" + p.death + " | " + program() + " cbor --require-end " + how + "- out",
		"plugin":     program() + " " + p.death + " " + how + "out",
		"filter":     program() + " cbor --encode msgpack --filter " + bin + "/ffconvert-" + p.death + " " + how + bin + "/plain out",
		"stream.py":  `python -B $BIN/stream.py mortal:train | ` + program() + " cbor " + how + "- out",
	}[p.kind]
	cmd, cancel := command("sh", "-c", script)
	defer cancel()
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BIN="+bin, "PYTHONPATH="+bin, "DEATH="+p.death,
		"STREAM="+filepath.Join(bin, stream), "CUT="+strconv.Itoa(cut), "AT="+strconv.Itoa(at/2))
	return finish(cmd, cmd.Start, func(time.Time) {})
}

// stream is the name of the stream that the producer writes.
func (p producer) stream() string {
	if p.kind == "plain pipe" || p.kind == "filter" {
		return "plain"
	}
	return "marked"
}

func (p producer) die(bin, dir string, at, cut int) error {
	if p.kind == "stream.py" {
		at = min(at, 2*23)
	}
	r, err := p.run(bin, dir, p.stream(), at, cut)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "manifest.json")); r.code == 0 || err == nil {
		return fmt.Errorf("%w: a dataset without the samples that were not written: %v", errBad, r)
	}
	if r.code != 3 {
		return fmt.Errorf("%v", r)
	}
	return nil
}

// live runs the producer without a death, and looks whether all samples came.
func (p producer) live(bin, dir string) error {
	if p.kind == "plain pipe" || p.death == "exit" && p.kind != "stream.py" || p.death == "SIGKILL" && p.kind != "stream.py" {
		return nil // it has no other end
	}
	r, err := p.run(bin, dir, p.stream(), 1000, 1<<20)
	if err != nil || r.code != 0 {
		return errors.Join(err, fmt.Errorf("%v", r))
	}
	if r, err = run("ls", filepath.Join(dir, "out")); err == nil && strings.Count(r.stdout, "\n") != 24 {
		err = fmt.Errorf("%v: %q", r, r.stdout)
	}
	return err
}
