//go:build bench && linux

package bench

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A conversion by very many tasks. Its parts are one tar under many names.
const (
	manyParts  = 10_000
	manyTasks  = 10_000
	manyShards = 200_000
	ofTask     = manyShards / manyTasks // shards
	looks      = 7                      // tasks that are run: the first, the last but one, and some between
)

// manySamples is how many a part has: 10,000, at 2 GiB.
func manySamples() int64 { return volume * 10_000 / (2 << 30) }

// What a task may take before it begins to write.
const (
	startTime   = 0.1 // seconds
	startMemory = 64 << 20
)

// TestS13 plans for ten thousand tasks, runs some of them, and looks how far all are.
func TestS13(t *testing.T) {
	measure(t, "S13", func(record func(figure)) {
		set, out := manyNames(t), filepath.Join(work, "many-out")
		defer settle(t, set, out)
		plan := observe(t, program, "plan", "tar", "--shards", fmt.Sprint(manyShards), set, out, "--progress", "none")
		what := fmt.Sprintf("plan of %d samples, %d parts, %d shards", manyParts*manySamples(), manyParts, manyShards)
		record(figure{work: what + ": memory, VmHWM", value: series{float64(plan.peak)}, unit: memory, target: atMost(2 << 30), ours: seconds.one(plan.seconds) + " to index and plan"})
		file := sizeOf(t, []string{filepath.Join(out, ".ffconvert", "plan")})
		record(figure{work: what + ": its file", value: series{float64(file) / manyShards}, unit: unit{"%.0f", " bytes a shard", 1}, ours: size(file)})

		look := func(k int) []string {
			return []string{"run", out, "--task", fmt.Sprintf("%d/%d", k, manyTasks), "--jobs", "2", "--progress", "json"}
		}
		var begun, kept observations
		var each, more series
		for i := range looks {
			k := i * (manyTasks - 2) / (looks - 1)
			begun = append(begun, observe(t, program, look(k)...))
			kept = append(kept, observe(t, program, look(k)...))
			first, again := operations(t, look(k+1)), operations(t, look(k+1))
			each, more = append(each, again), append(more, (first-again)/ofTask)
		}
		task := fmt.Sprintf("a task of %d shards by that plan", ofTask)
		record(figure{work: task + ": time to its first event", value: begun.each(func(o observation) float64 { return o.first }), unit: millis, target: atMost(startTime), ours: seconds.all(begun.each(took)) + " in all"})
		record(figure{work: task + ": memory at its first event, VmHWM", value: begun.each(func(o observation) float64 { return float64(o.firstPeak) }), unit: memory, target: atMost(startMemory),
			ours: memory.all(begun.each(most)) + " in all"})
		record(figure{work: task + " that are done: time", value: kept.each(took), unit: millis, target: atMost(startTime)})
		record(figure{work: task + " that are done: memory, VmHWM", value: kept.each(most), unit: memory, target: atMost(startMemory)})
		count := unit{"%.0f", "", 1}
		record(figure{work: task + " that are done: operations on names", value: each, unit: count})
		record(figure{work: "operations on names more for each shard that is written", value: more, unit: count})

		status := func(how string) {
			o := observe(t, program, "status", out)
			record(figure{work: "`status` of that plan, " + how + ": time", value: series{o.seconds}, unit: seconds, ours: memory.one(float64(o.peak)) + ", VmHWM"})
		}
		status(fmt.Sprintf("%d tasks done", 2*looks))
		pretend(t, out)
		status("all done")
		var last observations
		for range looks {
			last = append(last, observe(t, program, look(0)...))
		}
		record(figure{work: task + " that are done, as all others are: time", value: last.each(took), unit: millis, target: atMost(startTime), ours: memory.all(last.each(most)) + ", VmHWM"})
	})
}

// manyNames makes the tar and its names.
func manyNames(t *testing.T) (dir string) {
	t.Helper()
	dir, err := makeSet("many", 1, manySamples(), []member{{"bin", 500}})
	if err != nil {
		t.Fatal(err)
	}
	one := glob(t, dir, "*.tar")[0]
	for i := range manyParts {
		if err := os.Link(one, filepath.Join(dir, fmt.Sprintf("part-%05d.tar", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(one); err != nil {
		t.Fatal(err)
	}
	return dir
}

// pretend makes every task done, as far as its journal and the names of its shards tell: each is
// given what the journal of the first says, with the names of its own.
func pretend(t *testing.T, out string) {
	t.Helper()
	journals := filepath.Join(out, ".ffconvert", "journals")
	model, err := os.ReadFile(glob(t, journals, fmt.Sprintf("00000-%05d.*", ofTask-1))[0])
	if err != nil {
		t.Fatal(err)
	}
	for k := range manyTasks {
		var journal bytes.Buffer
		for line := range strings.Lines(string(model)) {
			_, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			for i := range ofTask {
				text = strings.Replace(text, fmt.Sprintf(`"PART_%06d.ffr"`, i), fmt.Sprintf(`"SHARD_%06d.ffr"`, k*ofTask+i), 1)
			}
			text = strings.Replace(text, `"SHARD_`, `"PART_`, 1)
			fmt.Fprintf(&journal, "%08x %s\n", crc32.ChecksumIEEE([]byte(text)), text)
		}
		name := fmt.Sprintf("%05d-%05d.%013d", k*ofTask, k*ofTask+ofTask-1, k)
		err := os.WriteFile(filepath.Join(journals, name), journal.Bytes(), 0o644)
		for i := k * ofTask; i < (k+1)*ofTask && err == nil; i++ {
			var f *os.File
			if f, err = os.OpenFile(filepath.Join(out, fmt.Sprintf("PART_%06d.ffr", i)), os.O_CREATE, 0o644); err == nil {
				err = f.Close()
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
