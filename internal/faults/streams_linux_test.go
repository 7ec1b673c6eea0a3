package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// TestFaultH6Streams gives other bytes of the same size to a dataset that was planned, begun or
// completed from standard input, a command or a plugin: they are refused, and nothing of the
// dataset changes. The same bytes complete it.
func TestFaultH6Streams(t *testing.T) {
	slow(t)
	need.Shell(t)
	need.Tools(t, "gzip")
	t.Parallel()
	all, err := everyFormat()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(all[3].from[0])
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(base, "bin-h6")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "ffconvert-asis"), []byte("#!/bin/sh\nexec cat \"$1\"\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	var cases []streamCase
	for _, kind := range []string{"stdin", "stdin, compressed", "pipe", "plugin"} {
		for _, moment := range []string{"complete", "interrupted", "repaired", "planned"} {
			if moment == "planned" && kind != "pipe" { // a plan is of what tasks can have again
				continue
			}
			for i := range 4 {
				cases = append(cases, streamCase{kind, moment, i, data, bin})
			}
		}
	}
	sum := each(t, spread(len(cases), 14), func(i int, dir string) error {
		if err := cases[i].run(dir); err != nil {
			return fmt.Errorf("%s, %s, %d: %w", cases[i].kind, cases[i].moment, cases[i].change, err)
		}
		return nil
	})
	t.Logf("H6 [stream] %v", sum)
}

type streamCase struct {
	kind, moment string
	change       int
	data         []byte
	bin          string
}

// other returns other bytes, which are as sound.
func (c streamCase) other() []byte {
	b := bytes.Clone(c.data)
	switch at := bytes.Index(b, []byte("jpg")); c.change {
	case 0: // a bit of the first item
		b[at+20] ^= 1
	case 1: // of the last one
		b[len(b)-30] ^= 1
	case 2: // its keys
		b = bytes.ReplaceAll(b, []byte("0/0"), []byte("7/0"))
	case 3: // all bytes of pictures that are alike
		b = bytes.ReplaceAll(b, b[at+100:at+104], []byte("abcd"))
	}
	return b
}

func (c streamCase) run(dir string) error {
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	put := func(b []byte) error { return os.WriteFile(in, b, 0o644) }
	if err := put(c.data); err != nil {
		return err
	}
	how := []string{"--shards", "3", "--progress", "none"}
	args := append([]string{"cbor", "--allow-pipe"}, append(how, "-", out)...)
	again := []string{"repair", "--progress", "none", "--allow-pipe", out}
	switch c.kind {
	case "pipe":
		args[len(args)-2] = "pipe:cat " + in
	case "plugin":
		args = append(append([]string{"asis"}, how...), in, out)
		again = []string{"repair", "--progress", "none", "--plugin", "asis", out, in}
	default:
		again = append(again, "-")
	}
	if _, err := c.convert(in, args, 0); err != nil {
		return err
	}
	whole, err := readTree(out)
	if err != nil {
		return err
	}
	switch c.moment {
	case "complete":
		again = args
	case "interrupted":
		again, err = args, errors.Join(os.Remove(filepath.Join(out, "PART_00001.ffr")), os.Remove(filepath.Join(out, "manifest.json")))
	case "repaired":
		err = os.Remove(filepath.Join(out, "PART_00002.ffr"))
	case "planned":
		if err := os.RemoveAll(out); err != nil {
			return err
		}
		if _, err := c.convert(in, append([]string{"plan"}, args...), 0); err != nil {
			return err
		}
		again = []string{"run", "--progress", "none", "--allow-pipe", out}
	}
	if err != nil {
		return err
	}
	before, err := readTree(out)
	if err != nil {
		return err
	}
	if err := put(c.other()); err != nil {
		return err
	}
	r, err := c.convert(in, again, 3)
	if err != nil {
		return err
	}
	if !strings.Contains(r.stderr, "another input than the one that was planned") {
		return fmt.Errorf("%v", r)
	}
	after, err := readTree(out)
	if err != nil {
		return err
	}
	if err := after.withoutScratch().differ(before.withoutScratch()); err != nil {
		return fmt.Errorf("%w: it is refused, and yet: %w", errBad, err)
	}
	if err := put(c.data); err != nil {
		return err
	}
	if _, err := c.convert(in, again, 0); err != nil {
		return fmt.Errorf("the same input again: %w", err)
	}
	if c.moment == "planned" {
		if _, err := c.convert(in, []string{"finish", out}, 0); err != nil {
			return err
		}
	}
	if after, err = readTree(out); err != nil {
		return err
	}
	return after.withoutScratch().differ(whole.withoutScratch())
}

// convert runs a command with what the case reads.
func (c streamCase) convert(in string, args []string, code int) (result, error) {
	cmd, cancel := command(program(), args...)
	defer cancel()
	cmd.Env = append(os.Environ(), "PATH="+c.bin+":"+os.Getenv("PATH"))
	f, err := os.Open(in)
	if err != nil {
		return result{}, err
	}
	defer f.Close()
	if cmd.Stdin = f; c.kind == "stdin, compressed" {
		zip, cancel := command("gzip", "-c")
		defer cancel()
		zip.Stdin = f
		if cmd.Stdin, err = zip.StdoutPipe(); err != nil {
			return result{}, err
		}
		if err := zip.Start(); err != nil {
			return result{}, err
		}
		defer zip.Wait()
	}
	r, err := finish(cmd, cmd.Start, func(time.Time) {})
	switch {
	case err != nil:
		return r, err
	case code != 0 && r.code == 0:
		return r, fmt.Errorf("%s: %w: %v", args[0], errBad, r)
	case code != 0:
		return r, r.clean(code)
	case r.code != 0:
		return r, fmt.Errorf("%s: %v", args[0], r)
	}
	return r, nil
}
