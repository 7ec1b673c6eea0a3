//go:build bench && linux

package bench

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/ffconvert/ffconvert/record"
)

// TestS8 reads random batches of samples.
func TestS8(t *testing.T) {
	measure(t, "S8", func(record func(figure)) {
		const batch = 128
		out, shards := freshShards(t)
		batches := photoSamples() / batch // each sample once, as fio reads each block once
		random := fioJob{"randread", "100k", 128, 1}
		var ours, device, p50, p95, slowest series
		var how string
		inTurn(rounds, 2, func(i int) {
			chill(t, shards)
			if i == 0 {
				device = append(device, random.rate(t, shards, 0))
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
	PerSecond  float64 `json:"samples_per_second"`
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

// TestS8b reads random batches of small samples by the library, one caller at a time.
func TestS8b(t *testing.T) {
	measure(t, "S8b", func(record func(figure)) {
		const batch = 128
		out := filepath.Join(work, "out")
		settle(t, out)
		convert("tar", "--no-verify")(t, setOf(t, smalls), out)
		shards := glob(t, out, "*.ffr")
		samples := smallSamples() / 4 / batch * batch // of each kind of reading, every one once
		settle(t)

		warmed := [2]series{}
		inTurn(rounds, 2, func(i int) {
			warm(t, shards)
			if i == 0 {
				warmed[0] = append(warmed[0], float64(samples)/readSmall(t, out, samples, batch, func() {}).seconds)
			} else {
				warmed[1] = append(warmed[1], float64(samples)/preadSmall(t, shards, samples).seconds)
			}
		})
		what := fmt.Sprintf("%d random batches of %d samples of 300 bytes by `ReadBatch`", samples/batch, batch)
		each := millions("samples")
		each.format = "%.3f"
		record(figure{work: what + ", warm", value: warmed[0], unit: each, target: atLeast(300e3)})
		record(figure{work: what + ", warm", against: "one pread and one CRC-32 a sample", value: warmed[0].over(warmed[1]), unit: ratio,
			ours: each.all(warmed[0]), theirs: each.all(warmed[1])})

		var cold, device series
		random := fioJob{"randread", "4k", recordDepth, 1}
		inTurn(slowRounds, 2, func(i int) {
			chill(t, shards)
			if i == 0 {
				cold = append(cold, float64(samples)/readSmall(t, out, samples, batch, func() { chill(t, shards) }).seconds)
			} else {
				device = append(device, random.rate(t, shards, samples*4096)/4096)
			}
		})
		settle(t, out)
		record(figure{work: what + ", cold", against: "fio randread, direct, as many times, " + random.String(), value: cold.over(device), unit: ratio, target: atLeast(1),
			ours: each.all(cold), theirs: each.all(device)})
	})
}

const recordDepth = record.BatchDepth // in flight for a caller of ReadBatch

// readSmall reads samples in batches by ReadBatch, in a random order. Before is called once the shards are open and their headers are mapped.
func readSmall(t *testing.T, out string, samples, batch int64, before func()) process {
	t.Helper()
	r, err := record.Open(out, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range r.Len() { // headers are read and mapped
		if _, _, err := r.Extent(i); err != nil {
			t.Fatal(err)
		}
	}
	order := rand.New(rand.NewPCG(8, 0)).Perm(r.Len())[:samples]
	before()
	return timed(func() {
		var bufs [][]byte
		for ; len(order) > 0; order = order[batch:] {
			if bufs, err = r.ReadBatch(context.Background(), order[:batch], bufs); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// preadSmall reads as many samples with one call each, and checks them.
func preadSmall(t *testing.T, shards []string, samples int64) process {
	t.Helper()
	type sample struct {
		file      *os.File
		off, size int64
		sum       uint32
	}
	var all []sample
	for _, name := range shards {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		head := make([]byte, 12)
		if _, err := io.ReadFull(f, head); err != nil {
			t.Fatal(err)
		}
		n := int64(binary.LittleEndian.Uint64(head[4:]))
		tables := make([]byte, 12*n)
		if _, err := io.ReadFull(f, tables); err != nil {
			t.Fatal(err)
		}
		end := sizeOf(t, []string{name})
		first := len(all)
		all = append(all, make([]sample, n)...)
		for i := n - 1; i >= 0; i-- {
			off := int64(binary.LittleEndian.Uint64(tables[4*n+8*i:]))
			all[first+int(i)] = sample{f, off, end - off, binary.LittleEndian.Uint32(tables[4*i:])}
			end = off
		}
	}
	rand.New(rand.NewPCG(8, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	buf := make([]byte, 64<<10)
	return timed(func() {
		for _, s := range all[:samples] {
			if _, err := s.file.ReadAt(buf[:s.size], s.off); err != nil || crc32.ChecksumIEEE(buf[:s.size]) != s.sum {
				t.Fatalf("%s: sample at %d: %v", s.file.Name(), s.off, err)
			}
		}
	})
}
