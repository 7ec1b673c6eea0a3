//go:build bench && linux

package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// roundTrip is how far away the object stores of T7 and T8 seem to be.
const roundTrip = 20 * time.Millisecond

const batchOf = 128 // samples of a batch of bucket.py

// A bucketTiming is what bucket.py prints.
type bucketTiming struct {
	timing
	Opened, First, Memory float64
	Came                  series // bytes, of each epoch
}

// bucket runs bucket.py.
func (p pythonTree) bucket(t *testing.T, env []string, args ...string) (m bucketTiming) {
	t.Helper()
	cmd := exec.Command(python.Path(t, "torch", "numpy", "msgpack"), append([]string{filepath.Join("testdata", "bucket.py"), p.dir}, args...)...)
	cmd.Env = append(append(os.Environ(), "FFCONVERT="+program, "FFCONVERT_NATIVE="+p.native), env...)
	if err := json.Unmarshal(finish(t, cmd, false).stdout, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestT7 trains from an S3 server on this machine, which 20 ms are added to, beside the same shards on the disk.
func TestT7(t *testing.T) {
	measure(t, "T7", func(record func(figure)) {
		set, out, cache := setOf(t, photos), filepath.Join(work, "out"), filepath.Join(work, "cache")
		settle(t, out)
		convert("tar", "--no-verify", "--shards", "20")(t, set, out)
		shards, py := glob(t, out, "*.ffr"), pythonPackage(t)
		bytes := sizeOf(t, shards)
		versitygw.Need(t)
		bucket := t.TempDir()
		server, err := versitygw.Run(bucket)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range filesUnder(t, out) {
			name, err := filepath.Rel(out, f)
			if err != nil {
				t.Fatal(err)
			}
			server.Put(t, "bench", "out/"+filepath.ToSlash(name), f)
		}
		server.Stop()
		if server, err = versitygw.Keeping().Run(bucket); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Stop)
		far := testproxy.Far(t, server.Address, roundTrip)
		env := server.EnvAt(far)
		n := py.bucket(t, nil, out, "", "", "0").Samples
		var cold, warmed, first, flowing, full, batch, later, copied series
		inTurn(slowRounds, 5, func(i int) {
			switch i {
			case 0:
				chill(t, shards)
				cold = append(cold, py.bucket(t, nil, out, "", "", "1").perSecond(t, n))
			case 1:
				warm(t, shards)
				m := py.bucket(t, nil, out, "", "", "2")
				warmed = append(warmed, float64(n)/m.Seconds[1])
			case 2:
				settle(t, cache)
				m := py.bucket(t, env, "s3://bench/out", cache, "", "2")
				first, full, batch = append(first, float64(n)/m.Seconds[0]), append(full, float64(n)/m.Seconds[1]), append(batch, m.First)
				flowing = append(flowing, float64(n-batchOf)/(m.Opened+m.Seconds[0]-m.First))
				if got := m.Came[0] + m.Came[1]; got < float64(bytes)*0.99 || got > float64(bytes)*1.1 {
					t.Errorf("%.0f bytes came, the shards have %d", got, bytes)
				}
			case 3:
				settle(t, cache)
				m := py.bucket(t, env, "s3://bench/out", cache, strconv.FormatInt(bytes/2+1<<20, 10), "2")
				later = append(later, m.Came[1]/float64(bytes))
			case 4:
				settle(t, cache)
				if err := os.Mkdir(cache, 0o755); err != nil {
					t.Fatal(err)
				}
				args := slices.Concat(signedCurl, []string{"--parallel-immediate"})
				for _, f := range shards {
					args = append(args, "-o", filepath.Join(cache, filepath.Base(f)), "http://"+far+"/bench/out/"+filepath.Base(f))
				}
				copied = append(copied, float64(n)/finish(t, exec.Command("curl", args...), false).seconds)
			}
		})
		settle(t, out, cache)
		what := fmt.Sprintf("%d samples of 100 KB in random batches of %d by the Python package's DataLoader, two threads, from an S3 server on loopback behind %v, ", n, batchOf, roundTrip)
		record(figure{work: what + "cache empty", against: "the shards on the disk, cold", value: first.over(cold), unit: ratio, target: atLeast(0.6),
			ours: samplesPerSecond.all(first), theirs: samplesPerSecond.all(cold)})
		record(figure{work: what + "cache empty: from the first batch on", against: "the shards on the disk, cold", value: flowing.over(cold), unit: ratio,
			ours: samplesPerSecond.all(flowing), theirs: samplesPerSecond.all(cold)})
		record(figure{work: what + "cache empty", against: "`curl --parallel` of the shards to the disk from there, which reads nothing", value: first.over(copied), unit: ratio,
			ours: samplesPerSecond.all(first), theirs: samplesPerSecond.all(copied)})
		record(figure{work: what + "all in the cache", against: "the shards on the disk, in the page cache", value: full.over(warmed), unit: ratio, target: atLeast(0.95),
			ours: samplesPerSecond.all(full), theirs: samplesPerSecond.all(warmed)})
		record(figure{work: what + "cache for half of the bytes: bytes that come in a later epoch", against: "all bytes", value: later, unit: ratio, target: atMost(0.52)})
		record(figure{work: what + "cache empty: the first batch, from the opening on", value: batch, unit: millis, target: atMost(0.5 + 3*roundTrip.Seconds())})
	})
}

// TestT8 opens datasets of very many samples, on the disk and from a web server, which 20 ms are added to.
func TestT8(t *testing.T) {
	measure(t, "T8", func(record func(figure)) {
		py, out, cache := pythonPackage(t), filepath.Join(work, "out"), filepath.Join(work, "cache")
		for _, c := range []struct {
			samples string
			shards  int
			each    int64
		}{{"10⁸", 200, 500_000}, {"10⁹", 2000, 500_000}} {
			settle(t, out)
			enlarge(t, out, c.shards, c.each)
			web := httptest.NewServer(http.FileServer(http.Dir(work)))
			address := testproxy.Far(t, strings.TrimPrefix(web.URL, "http://"), roundTrip)
			var here, far, memoryHere, memoryFar series
			inTurn(slowRounds, 2, func(i int) {
				var m bucketTiming
				if i == 0 {
					m = py.bucket(t, nil, out, "", "", "0")
					here, memoryHere = append(here, m.Opened), append(memoryHere, m.Memory)
				} else {
					settle(t, cache)
					m = py.bucket(t, nil, "http://"+address+"/out", cache, "", "0")
					far, memoryFar = append(far, m.Opened), append(memoryFar, m.Memory)
				}
				if int64(m.Samples) != int64(c.shards)*c.each {
					t.Fatalf("%d samples", m.Samples)
				}
			})
			web.Close()
			settle(t, out, cache)
			what := fmt.Sprintf("a dataset of %s samples in %d shards opened by the Python package's Reader, ", c.samples, c.shards)
			targets := [3]target{atMost(0.2), atMost(1), atMost(64 << 20)}
			if c.shards > 200 {
				targets = [3]target{}
			}
			record(figure{work: what + "on the disk", value: here, unit: millis, target: targets[0]})
			record(figure{work: what + "from a web server behind " + roundTrip.String() + ", cache empty", value: far, unit: millis, target: targets[1]})
			record(figure{work: what + "peak memory of the process", value: memoryHere, unit: memory, target: targets[2], ours: "from the web server " + memory.all(memoryFar)})
		}
	})
}

// enlarge makes a dataset whose shards have as many samples each, by their heads and the manifest; all else is zero, and on no disk.
func enlarge(t *testing.T, out string, shards int, samples int64) {
	t.Helper()
	rows := filepath.Join(work, "rows.csv")
	if err := os.WriteFile(rows, []byte("n\n"+strings.Repeat("1\n", shards)), 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, program, "csv", rows, out, "--shards", strconv.Itoa(shards), "--no-verify", "--progress=none")
	one := sizeOf(t, glob(t, out, "*.ffr")[:1])
	size, count := 12+13*samples, int64(shards)
	var pairs []string
	for _, p := range []struct {
		name    string
		is, now int64
	}{{"bytes", one, size}, {"bytes", count * one, count * size}, {"samples", 1, samples}, {"samples", count, count * samples}, {"samples_found", count, count * samples},
		{"samples_written", count, count * samples}} {
		pairs = append(pairs, fmt.Sprintf("%q: %d,", p.name, p.is), fmt.Sprintf("%q: %d,", p.name, p.now))
	}
	path := filepath.Join(out, dataset.ManifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(string(text), `  "sha256"`)
	body = strings.NewReplacer(pairs...).Replace(body)
	if err := os.WriteFile(path, fmt.Appendf(nil, "%s  \"sha256\": \"%x\"\n}\n", body, sha256.Sum256([]byte(body))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range glob(t, out, "*.ffr") {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(samples)), 4)
		if err := errors.Join(err, f.Truncate(size), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
}
