//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// finalists is how many of fio's ways to read are measured beside verification. The
// fastest of them counts, in each round anew.
const finalists = 2

// TestS7 verifies shards that are not in the page cache.
func TestS7(t *testing.T) {
	measure(t, "S7", func(record func(figure)) {
		out, shards := freshShards(t)
		bytes := sizeOf(t, shards)
		ways := sweep(t, shards)[:finalists]
		var how string
		var inner, outer, cpu series // bytes a second twice, seconds a GB
		verify := func() {
			p, v := verifyOnce(t, out, bytes)
			how = fmt.Sprintf(" by %s, depth %d", v.Backend, v.QueueDepth)
			inner = append(inner, float64(bytes)/v.Seconds)
			outer = append(outer, float64(bytes)/p.seconds)
			cpu = append(cpu, p.cpu/(float64(bytes)/1e9))
		}
		device := make([]series, finalists)
		var touched, checked runs
		inTurn(rounds, 1+finalists, func(i int) {
			chill(t, shards)
			if i == finalists {
				verify()
				touched, checked = append(touched, touches(t, "", "")), append(checked, sums(t, "", ""))
				return
			}
			device[i] = append(device[i], ways[i].rate(t, shards, 0))
		})
		settle(t, out)
		best := greatest(device)
		record(figure{work: "`verify` of " + size(bytes) + ", cold, by the report's seconds", against: "the best of fio, direct",
			value: inner.over(best), unit: ratio, target: atLeast(0.97), ours: rate.all(inner) + how, theirs: rate.all(best)})
		record(figure{work: "`verify`: user and system time", value: cpu, unit: per("GB"), target: atMost(0.12)})
		record(figure{work: "`verify` by the seconds of the process", against: "the best of fio, direct",
			value: outer.over(best), unit: ratio, ours: rate.all(outer), theirs: rate.all(best)})
		meanwhile(record, touched, checked)
		for i, way := range ways { // one way for all rounds: the luckier of two is not in it
			record(figure{work: "the same by the report's seconds", against: "fio " + way.String(), value: inner.over(device[i]), unit: ratio,
				ours: rate.all(inner), theirs: rate.all(device[i])})
		}
	})
}

// A verdict is what verify says of itself.
type verdict struct {
	Bytes      int64   `json:"bytes"`
	Seconds    float64 `json:"seconds"`
	Backend    string  `json:"backend"`
	QueueDepth int     `json:"queue_depth"`
	ReadFrom   string  `json:"read_from"`
}

func verifyOnce(t *testing.T, out string, bytes int64) (process, verdict) {
	t.Helper()
	p := execute(t, program, "verify", "--progress", "none", "--format", "json", out)
	var v verdict
	if err := json.Unmarshal(p.stdout, &v); err != nil {
		t.Fatal(err)
	}
	if v.Bytes != bytes || v.ReadFrom != "device" {
		t.Fatalf("verified %d of %d bytes, read from: %v", v.Bytes, bytes, v.ReadFrom)
	}
	return p, v
}

// freshShards converts the main set.
func freshShards(t *testing.T) (out string, shards []string) {
	t.Helper()
	out = filepath.Join(work, "out")
	settle(t, out)
	convert("tar", "--no-verify")(t, setOf(t, photos), out)
	return out, glob(t, out, "*.ffr")
}

// sweep returns settings of fio to read files in order, the fastest first.
func sweep(t *testing.T, shards []string) []fioJob {
	t.Helper()
	var ways []fioJob
	for _, block := range []string{"256K", "1M", "4M"} {
		for _, depth := range []int{8, 32, 128} {
			ways = append(ways, fioJob{"read", block, depth, 1})
		}
	}
	ways = append(ways, fioJob{"read", "1M", 8, 2}, fioJob{"read", "1M", 32, 2})
	return bestFirst(t, ways, shards)
}

// bestFirst tries ways to read once each and returns them, the fastest first.
func bestFirst(t *testing.T, ways []fioJob, shards []string) []fioJob {
	t.Helper()
	ways[0].rate(t, shards, 0) // the first to read may pay for what others have cached below us
	rates := make(map[fioJob]float64)
	for _, way := range ways {
		chill(t, shards)
		rates[way] = way.rate(t, shards, 0)
		t.Logf("fio %v: %s", way, rate.one(rates[way]))
	}
	slices.SortStableFunc(ways, func(a, b fioJob) int { return int(rates[b] - rates[a]) })
	return ways
}
