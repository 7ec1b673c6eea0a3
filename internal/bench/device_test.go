//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// finalists is how many of fio's ways to read are measured beside verification. The
// fastest of them counts, in each round anew.
const finalists = 3

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
		inTurn(diskRounds, 1+finalists, func(i int) {
			chill(t, shards)
			if i == finalists {
				verify()
				touched, checked = append(touched, touches(t, "", "")), append(checked, sums(t, "", ""))
				return
			}
			device[i] = append(device[i], ways[i].rate(t, shards))
		})
		settle(t, out)
		best := greatest(device)
		record(figure{work: "`verify` of " + size(bytes) + ", cold, by the report's seconds", against: "the best of fio, direct",
			value: inner.over(best), unit: ratio, target: atLeast(0.97), ours: rate.all(inner) + how, theirs: rate.all(best)})
		record(figure{work: "`verify`: user and system time", value: cpu, unit: per("GB"), target: atMost(0.12)})
		record(figure{work: "`verify` by the seconds of the process", against: "the best of fio, direct",
			value: outer.over(best), unit: ratio, ours: rate.all(outer), theirs: rate.all(best)})
		meanwhile(record, touched, checked)
		for i, way := range ways { // one way for all rounds: the luckiest of three is not in it
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

// sweep tries fio's settings once each and returns them, the fastest first.
func sweep(t *testing.T, shards []string) []fioRead {
	t.Helper()
	plainRead.rate(t, shards) // the first to read may pay for what others have cached below us
	rates := make(map[fioRead]float64)
	var ways []fioRead
	for _, block := range []string{"256K", "1M", "4M"} {
		for _, depth := range []int{8, 32, 128} {
			for _, jobs := range []int{1, 2} {
				way := fioRead{"read", block, depth, jobs}
				chill(t, shards)
				rates[way] = way.rate(t, shards)
				t.Logf("fio %v: %s", way, rate.one(rates[way]))
				ways = append(ways, way)
			}
		}
	}
	slices.SortStableFunc(ways, func(a, b fioRead) int { return int(rates[b] - rates[a]) })
	return ways
}

// TestS8 reads random batches of samples.
func TestS8(t *testing.T) {
	measure(t, "S8", func(record func(figure)) {
		const batch = 128
		out, shards := freshShards(t)
		batches := photoSamples() / batch // each sample once, as fio reads each block once
		random := fioRead{"randread", "100k", 128, 1}
		var ours, device, p50, p95, slowest series
		var how string
		inTurn(diskRounds, 2, func(i int) {
			chill(t, shards)
			if i == 0 {
				device = append(device, random.rate(t, shards))
				return
			}
			r := readBatches(t, out, batch, batches)
			how = fmt.Sprintf(" by %s, depth %d", r.Backend, r.QueueDepth)
			ours = append(ours, r.Rate)
			p50, p95, slowest = append(p50, r.Batch.P50), append(p95, r.Batch.P95), append(slowest, r.Batch.Max)
		})
		settle(t, out)
		record(figure{work: fmt.Sprintf("%d random batches of %d samples of 100 KB, cold", batches, batch), against: "fio randread, direct, " + random.String(),
			value: ours.over(device), unit: ratio, target: atLeast(0.9), ours: rate.all(ours) + how, theirs: rate.all(device)})
		record(figure{work: "time of a batch, half of them", value: p50, unit: millis})
		record(figure{work: "time of a batch, 95 of 100", value: p95, unit: millis})
		record(figure{work: "time of the slowest batch", value: slowest, unit: millis})
	})
}

// A reading is what bench read says of itself.
type reading struct {
	Samples    int64   `json:"samples"`
	Rate       float64 `json:"bytes_per_second"`
	Backend    string  `json:"backend"`
	QueueDepth int     `json:"queue_depth"`
	Direct     bool    `json:"direct"`
	Batch      struct {
		P50 float64 `json:"p50"`
		P95 float64 `json:"p95"`
		Max float64 `json:"max"`
	} `json:"batch_seconds"`
}

func readBatches(t *testing.T, out string, batch, batches int64) (r reading) {
	t.Helper()
	p := execute(t, program, "bench", "read", out, "--batch", strconv.FormatInt(batch, 10), "--batches", strconv.FormatInt(batches, 10), "--format", "json")
	if err := json.Unmarshal(p.stdout, &r); err != nil {
		t.Fatal(err)
	}
	if r.Samples != batch*batches || !r.Direct || r.Rate <= 0 {
		t.Fatalf("read %d samples of %d, past the page cache: %v", r.Samples, batch*batches, r.Direct)
	}
	return r
}
