//go:build bench && linux

package bench

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A growth is a set of three sizes, which ours convert and copy copies.
type growth struct {
	thing  string // what is counted
	counts [3]int64
	set    func(count int64) (string, error)
	before func(*testing.T, []string)
	copy   contender
	ours   []grown
}

// A grown is a contender with its targets for what a thing takes: times that of the copy, wall time, processor time.
type grown struct {
	how              string
	convert          contender
	times, wall, cpu target
}

// grow measures all over all sizes, round by round, and records what each thing takes.
func (g growth) grow(t *testing.T, record func(figure), f figure) {
	t.Helper()
	contenders := []contender{g.copy}
	for _, o := range g.ours {
		contenders = append(contenders, o.convert)
	}
	seconds, cpu := make([][]series, len(contenders)), make([][]series, len(contenders))
	for _, count := range g.counts {
		set := setOf(t, func() (string, error) { return g.set(count) })
		for i, r := range compete(t, g.before, set, rounds, contenders...) {
			seconds[i], cpu[i] = append(seconds[i], r.seconds()), append(cpu[i], r.cpu())
		}
	}
	f.work += fmt.Sprintf(", %d to %d of them", g.counts[0], g.counts[2])
	copied, copiedCPU := fit(g.counts[:], seconds[0]), fit(g.counts[:], cpu[0])
	for i, o := range g.ours {
		took, busy, row := fit(g.counts[:], seconds[i+1]), fit(g.counts[:], cpu[i+1]), f
		row.work += o.how + ": per " + g.thing
		row.value, row.unit, row.target, row.ours, row.theirs = took.each.over(copied.each), ratio, o.times, took.String(), copied.String()
		record(row)
		row.against, row.value, row.unit, row.target = "", took.each, micros, o.wall
		record(row)
		row.work += ", processor time"
		row.value, row.target, row.ours, row.theirs = busy.each, o.cpu, busy.String(), copiedCPU.String()
		record(row)
	}
}

// bySize returns make, which makes each size once.
func bySize(make func(count int64) (string, error)) func(int64) (string, error) {
	var made sync.Map
	return func(count int64) (string, error) {
		once, _ := made.LoadOrStore(count, sync.OnceValues(func() (string, error) { return make(count) }))
		return once.(func() (string, error))()
	}
}

// smallsOf makes tars of so many samples of 300 bytes, and smallShardsOf the dataset of them.
var (
	smallsOf = bySize(func(count int64) (string, error) {
		return makeSet(fmt.Sprint("smalls-", count), 4, count/4, []member{{"bin", 300}})
	})
	smallShardsOf = bySize(func(count int64) (string, error) {
		set, err := smallsOf(count)
		if err != nil {
			return "", err
		}
		dir := filepath.Join(work, fmt.Sprint("small-shards-", count))
		if out, err := exec.Command(program, "tar", set, dir, "--progress", "none").CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
		return dir, nil
	})
)

// smallCounts are the sizes of sets of small samples: 60,000, 240,000 and 960,000 at 2 GiB.
func smallCounts() [3]int64 {
	n := smallSamples() / 4
	return [3]int64{n, 4 * n, 16 * n}
}
