//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// leastOfDevice is the part of the device's own rate that verification must reach.
const leastOfDevice = 0.9

// deviceRounds are more than elsewhere: the rate of a device that others use too wavers
// by a quarter from one second to the next.
const deviceRounds = 15

// TestVerify reads cold shards: once by fio, which does nothing with them, once by us.
func TestVerify(t *testing.T) {
	out := filepath.Join(work, "out")
	settle(t, out)
	convert("tar", "--no-verify")(t, setOf(t, photos), out)
	shards := glob(t, out, "*.ffr")
	size := sizeOf(t, shards)

	var verdict struct {
		Bytes      int64   `json:"bytes"`
		Seconds    float64 `json:"seconds"`
		Backend    string  `json:"backend"`
		QueueDepth int     `json:"queue_depth"`
		PageCache  bool    `json:"page_cache"`
	}
	var device, inner, outer series // bytes a second
	verify := func() {
		chill(t, shards)
		p := execute(t, program, "verify", "--progress", "none", "--format", "json", out)
		if err := json.Unmarshal(p.stdout, &verdict); err != nil {
			t.Fatal(err)
		}
		if verdict.Bytes != size || verdict.PageCache {
			t.Fatalf("verified %d of %d bytes, by the page cache: %v", verdict.Bytes, size, verdict.PageCache)
		}
		inner = append(inner, float64(size)/verdict.Seconds)
		outer = append(outer, float64(size)/p.seconds)
	}
	deviceRate(t, shards) // the first to read may pay for what others have cached below us
	for round := range deviceRounds {
		if round%2 == 1 {
			verify()
		}
		chill(t, shards)
		device = append(device, deviceRate(t, shards))
		if round%2 == 0 {
			verify()
		}
	}
	settle(t, out)

	how := fmt.Sprintf(" by %s, depth %d", verdict.Backend, verdict.QueueDepth)
	fio := fmt.Sprintf("%.0f MB/s", device.median()/1e6)
	for _, m := range []struct {
		what string
		rate series
	}{
		{"verification ÷ fio, rate", inner},
		{"the same, start of the process included", outer},
	} {
		ratio := m.rate.over(device)
		report(t, row{m.what, ratio.String(), fmt.Sprintf("≥ %.1f", leastOfDevice), fmt.Sprintf("%.0f MB/s", m.rate.median()/1e6) + how, fio})
		if ratio.median() < leastOfDevice {
			t.Errorf("%s: %v; want %.1f at least", m.what, ratio, leastOfDevice)
		}
	}
}

// deviceRate is what fio reads of the files past the page cache, bytes a second.
func deviceRate(t *testing.T, files []string) float64 {
	t.Helper()
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.ReplaceAll(f, ":", `\:`)
	}
	p := execute(t, "fio", "--name=device", "--filename="+strings.Join(names, ":"), "--rw=read", "--direct=1", "--ioengine=libaio",
		"--bs=1M", "--iodepth=32", "--output-format=json")
	var out struct {
		Jobs []struct {
			Read struct {
				Rate float64 `json:"bw_bytes"`
			} `json:"read"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(p.stdout, &out); err != nil || len(out.Jobs) != 1 || out.Jobs[0].Read.Rate <= 0 {
		t.Fatalf("fio: %v\n%s", err, p.stdout)
	}
	return out.Jobs[0].Read.Rate
}
