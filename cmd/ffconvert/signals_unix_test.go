//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// eventsOf is what Python makes of events.
func eventsOf(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.Command(python.Path(t), filepath.Join("testdata", "python", "events.py"))
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\nof\n%s", err, out, text)
	}
	return string(out)
}

// A conversion is signalled while it writes the second of three shards, or where the row says.
// It ends as the row says, and the same command goes on to the same bytes.
func TestSignals(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are signalled and waited for")
	const (
		begun0, shard0 = "begun PART_00000.ffr\n", "shard PART_00000.ffr 3 True\n"
		begun1, shard1 = "begun PART_00001.ffr\n", "shard PART_00001.ffr 3 True\n"
		begun2, shard2 = "begun PART_00002.ffr\n", "shard PART_00002.ffr 3 True\n"
		hour           = "--grace=1h"
	)
	stopped := func(status int, signal string, shards int) string {
		return fmt.Sprintf("error %d %s: stopped with %d of 3 shards finished; the same command goes on from there\n", status, signal, shards)
	}
	for _, row := range []struct {
		name   string
		args   []string
		at     int // the part that is held
		do     func(h *heldRun)
		status int
		events string
	}{
		{"SIGINT", nil, 1, func(h *heldRun) { h.signal(syscall.SIGINT, "SIGINT") }, 130,
			begun0 + shard0 + begun1 + "signal SIGINT 0\n" + stopped(130, "interrupt", 1)},
		{"SIGTERM", nil, 1, func(h *heldRun) { h.signal(syscall.SIGTERM, "SIGTERM") }, 143,
			begun0 + shard0 + begun1 + "signal SIGTERM 0\n" + stopped(143, "terminated", 1)},
		{"SIGUSR1", nil, 0, func(h *heldRun) { h.signal(syscall.SIGUSR1, "SIGUSR1") }, 128 + int(syscall.SIGUSR1),
			begun0 + "signal SIGUSR1 0\n" + stopped(128+int(syscall.SIGUSR1), "user defined signal 1", 0)},
		{"SIGINT with a grace", []string{hour}, 1, func(h *heldRun) { h.signal(syscall.SIGINT, "SIGINT") }, 130,
			begun0 + shard0 + begun1 + "signal SIGINT 0\n" + stopped(130, "interrupt", 1)},

		{"SIGTERM with a grace", []string{hour}, 1, func(h *heldRun) {
			h.signal(syscall.SIGTERM, "SIGTERM")
			h.let(1, 2)
		}, 143, begun0 + shard0 + begun1 + "signal SIGTERM 3600\n" + shard1 + stopped(143, "terminated", 2)},
		{"SIGUSR1 with a grace", []string{"--grace", "90s"}, 0, func(h *heldRun) {
			h.signal(syscall.SIGUSR1, "SIGUSR1")
			h.let(0, 1, 2)
		}, 128 + int(syscall.SIGUSR1), begun0 + "signal SIGUSR1 90\n" + shard0 + stopped(128+int(syscall.SIGUSR1), "user defined signal 1", 1)},
		{"with a grace, in the last shard", []string{hour}, 2, func(h *heldRun) {
			h.signal(syscall.SIGTERM, "SIGTERM")
			h.let(2)
		}, 0, begun0 + shard0 + begun1 + shard1 + begun2 + "signal SIGTERM 3600\n" + shard2 + "done out 9 3\n"},
		{"with a grace that ends", []string{"--grace", "300ms"}, 1, func(h *heldRun) { h.signal(syscall.SIGTERM, "SIGTERM") }, 143,
			begun0 + shard0 + begun1 + "signal SIGTERM 0.3\n" + stopped(143, "terminated", 1)},
		{"with a grace, a second signal", []string{hour}, 1, func(h *heldRun) {
			h.signal(syscall.SIGUSR1, "SIGUSR1")
			h.signal(syscall.SIGTERM, "SIGTERM")
		}, 143, begun0 + shard0 + begun1 + "signal SIGUSR1 3600\nsignal SIGTERM 0\n" + stopped(143, "terminated", 1)},
		{"with a grace, SIGINT", []string{hour}, 1, func(h *heldRun) {
			h.signal(syscall.SIGTERM, "SIGTERM")
			h.signal(syscall.SIGINT, "SIGINT")
		}, 130, begun0 + shard0 + begun1 + "signal SIGTERM 3600\nsignal SIGINT 0\n" + stopped(130, "interrupt", 1)},
		{"with a grace, a third signal", []string{hour, "--deaf"}, 1, func(h *heldRun) {
			h.signal(syscall.SIGUSR1, "SIGUSR1")
			h.signal(syscall.SIGTERM, "SIGTERM")
			h.cmd.Process.Signal(syscall.SIGTERM)
		}, 143, begun0 + shard0 + begun1 + "signal SIGUSR1 3600\nsignal SIGTERM 0\n"},
		{"a second signal", []string{"--deaf"}, 1, func(h *heldRun) {
			h.signal(syscall.SIGINT, "SIGINT")
			h.cmd.Process.Signal(syscall.SIGTERM)
		}, 143, begun0 + shard0 + begun1 + "signal SIGINT 0\n"},
		{"with a grace, while it indexes", []string{hour, "--pass", "index"}, 0, func(h *heldRun) {
			h.signal(syscall.SIGTERM, "SIGTERM")
		}, 143, "signal SIGTERM 0\nerror 143 terminated: stopped; run the same command again\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--progress", "json"}, row.args...)
			h := startHeld(t, args...)
			for part := range row.at {
				h.let(part)
			}
			h.at(row.at)
			h.until(fmt.Sprint(row.at, " finished shards"), func() bool { return strings.Count(h.said(), `"event":"shard"`) == row.at })
			row.do(h)
			if status := h.status(); status != row.status {
				t.Errorf("status %d, want %d", status, row.status)
			}
			if got, want := sortedHead(eventsOf(t, h.said())), sortedHead(row.events); got != want {
				t.Errorf("it said\n%swant\n%s", got, want)
			}
			if tmp, _ := filepath.Glob(filepath.Join(h.dir, "out", ".ffconvert", "tmp", "*")); len(tmp) > 0 && !slices.Contains(row.args, "--deaf") {
				t.Errorf("%q are left", tmp)
			}
			h.let(0, 1, 2)
			h.start(args...)
			if status := h.status(); status != 0 {
				t.Errorf("then status %d:\n%s", status, h.said())
			}
			ffconvert(t, h.dir, "tar", "-j1", "--shards", "3", "0.tar", "1.tar", "2.tar", "reference")
			for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr", "index/PART_00001.arrow", "meta.json"} {
				got, err := os.ReadFile(filepath.Join(h.dir, "out", name))
				want, err2 := os.ReadFile(filepath.Join(h.dir, "reference", name))
				if err != nil || err2 != nil || !bytes.Equal(got, want) {
					t.Errorf("%s differs: %v %v", name, err, err2)
				}
			}
		})
	}
}

// sortedHead sorts the events before a signal: a shard is finished while the next one is written.
func sortedHead(events string) string {
	head, tail, _ := strings.Cut(events, "signal ")
	lines := strings.SplitAfter(head, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "") + "signal " + tail
}

// People are told of a grace, too.
func TestSignalsPlain(t *testing.T) {
	t.Parallel()
	h := startHeld(t, "--progress", "plain", "--grace", "1h")
	h.at(0)
	h.signal(syscall.SIGTERM, "terminated: no more shards are begun; those under way have 1h0m0s\n")
	h.let(0)
	if status := h.status(); status != 143 {
		t.Errorf("status %d", status)
	}
	const want = "ffconvert: terminated: stopped with 1 of 3 shards finished; the same command goes on from there\n"
	if !strings.HasSuffix(h.said(), want) {
		t.Errorf("it said\n%s", h.said())
	}
}
