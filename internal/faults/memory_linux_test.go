package faults

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// margin is what a process may have beyond what it needs for a batch of sound shards.
const margin = 16 << 20

// arena is by how much the Go runtime extends its address space. It begins at a random
// place in the first one, so that a second is needed at times, however little is used.
const arena = 64 << 20

// batch is how many shards a process verifies.
const batch = 512

// TestFaultA2 has the built program verify shards with one bit flipped, and with hostile
// headers, where it may have little more memory than as many sound shards take: each must be
// found, and no process may die.
func TestFaultA2(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tools(t, "prlimit")
	f3 := buildShard([]byte{}, []byte("ffshard"), noise(rand.New(rand.NewPCG(3, 3)), 4097))
	if len(f3) != 4152 {
		t.Fatalf("the shard has %d bytes", len(f3))
	}
	limits := leastMemory(t, f3)
	flipped := func(bit int) []byte {
		b := slices.Clone(f3)
		b[bit/8] ^= 1 << (bit % 8)
		return b
	}
	t.Logf("A2 [ulimit] %v %v", limits.verify(t, 8*len(f3), flipped), limits)
	headers := hostileHeaders(f3)
	t.Logf("A7 [ulimit] %v %v", limits.verify(t, len(headers), func(i int) []byte { return headers[i] }), limits)
	if full {
		limits.control(t)
	}
}

// buildShard writes FFRecord bytes by their definition, which is at parseShard.
func buildShard(samples ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint64(make([]byte, 4), uint64(len(samples)))
	for _, s := range samples {
		b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(s))
	}
	for off, i := 12+12*len(samples), 0; i < len(samples); i++ {
		b = binary.LittleEndian.AppendUint64(b, uint64(off))
		off += len(samples[i])
	}
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:]))
	return slices.Concat(b, slices.Concat(samples...))
}

// hostileHeaders returns shards with N at the values where arithmetic goes wrong, in files
// of 0 to 63 bytes, with no, a good or a bad checksum; and with offsets that lie. Few of
// them happen to be sound.
func hostileHeaders(f3 []byte) [][]byte {
	edges := []int64{
		0, 1, 2, 3, 4, 5, -1, -2, -12, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1, math.MaxInt64 / 12,
		math.MaxInt64/12 + 1, math.MaxInt64/8 + 1, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt32, math.MaxInt32 + 1,
		math.MaxUint32 / 12, 1 << 22, 1 << 27, 1<<27 + 1,
	}
	var all [][]byte
	for _, n := range edges {
		for size := range 64 {
			for _, sum := range []string{"none", "good", "bad"} {
				for _, fill := range []byte{0, 0x30} {
					b := slices.Repeat([]byte{fill}, max(size, 12))
					binary.LittleEndian.PutUint64(b[4:], uint64(n))
					end := len(b)
					if n >= 0 && n <= 4 {
						end = min(size, 12+12*int(n))
					}
					crc := crc32.ChecksumIEEE(b[4:max(end, 12)])
					switch sum {
					case "none":
						crc = 0
					case "bad":
						crc ^= 0x40
					}
					binary.LittleEndian.PutUint32(b, crc)
					all = append(all, b[:size])
				}
			}
		}
	}
	for i := range 3 {
		for _, off := range append(edges, 11, 12, 23, 47, 48, 49, 54, 55, 56, 4151, 4152, 4153) {
			b := slices.Clone(f3)
			binary.LittleEndian.PutUint64(b[24+8*i:], uint64(off))
			binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:48]))
			all = append(all, b)
		}
	}
	return all
}

// A memoryLimit is what a process may map, and what of that it may write to. The Go
// runtime reserves far more than it uses, so that the second is the tight one.
type memoryLimit struct{ space, data int } // bytes

func (l memoryLimit) String() string {
	return fmt.Sprintf("space_mib=%d data_mib=%d", l.space>>20, l.data>>20)
}

// run verifies files within the limits, one after the other.
func (l memoryLimit) run(files ...string) (result, error) {
	args := []string{fmt.Sprintf("--as=%d", l.space), fmt.Sprintf("--data=%d", l.data), program(), "verify", "--format", "json", "--progress", "none", "-j1"}
	return execute("prlimit", append(args, files...)...)
}

// leastMemory returns the least limits under which the program verifies a batch of sound shards, with the margin. One shard
// takes less: the heap grows with the report, and where the Go runtime begins it is random.
func leastMemory(t *testing.T, shard []byte) memoryLimit {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for i := range batch {
		path := filepath.Join(dir, fmt.Sprintf("%07d.ffr", i))
		if err := os.WriteFile(path, shard, 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	works := func(l memoryLimit) bool {
		for range 3 {
			if r, err := l.run(files...); err != nil || r.code != 0 {
				return false
			}
		}
		return true
	}
	least := func(with func(limit int) memoryLimit) int {
		const step, enough = 32 << 20, 4 << 30
		high := step
		for ; !works(with(high)); high += step { // upwards: the Go runtime does without some where it has less
			if high > enough {
				t.Fatalf("%d shards are not verified in %d bytes", batch, high)
			}
		}
		for low := high - step; high-low > 1<<20; {
			if middle := (low + high) / 2; works(with(middle)) {
				high = middle
			} else {
				low = middle
			}
		}
		return high
	}
	const much = 64 << 30
	space := least(func(limit int) memoryLimit { return memoryLimit{limit, much} })
	data := least(func(limit int) memoryLimit { return memoryLimit{much, limit} })
	return memoryLimit{space + arena + margin, data + margin}
}

// verify verifies n shards within the limits: those that are sound by their definition
// must be said to be, and all others not.
func (l memoryLimit) verify(t *testing.T, n int, shard func(i int) []byte) tally {
	t.Helper()
	var mu sync.Mutex
	total := tally{}
	batches := (n + batch - 1) / batch
	each(t, spread(batches, 2), func(i int, dir string) error {
		wrong := make(map[string]bool)
		var files []string
		for k := i * batch; k < min(n, (i+1)*batch); k++ {
			name := fmt.Sprintf("%07d.ffr", k)
			b := shard(k)
			_, err := parseShard(name, b)
			wrong[name] = err != nil
			files = append(files, filepath.Join(dir, name))
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				return err
			}
		}
		r, err := l.run(files...)
		var rep report
		if err == nil {
			rep, err = parseReport(r)
		}
		mu.Lock()
		defer mu.Unlock()
		total.cases += len(files)
		if err != nil {
			total.lost += len(files)
			return err
		}
		told := rep.shards()
		for name, bad := range wrong {
			switch {
			case bad && !told[name]:
				total.undetected++
				err = fmt.Errorf("%s: %w as sound: % x", name, errBad, head(filepath.Join(dir, name)))
			case !bad && told[name]:
				total.lost++
				err = fmt.Errorf("%s is sound, and was refused: % x", name, head(filepath.Join(dir, name)))
			}
		}
		return err
	})
	return total
}

// head returns the first bytes of a file, to be shown.
func head(path string) []byte {
	b, _ := os.ReadFile(path)
	return b[:min(64, len(b))]
}

// shards returns the shards that have a problem.
func (r report) shards() map[string]bool {
	names := make(map[string]bool)
	problems, _ := r["problems"].([]any)
	for _, p := range problems {
		if p, ok := p.(map[string]any); ok {
			name, _ := p["shard"].(string)
			names[name] = true
		}
	}
	return names
}

// control shows that the limits are tight: a sound shard whose header takes 48 MiB, as a
// smaller file could claim of its own, does not get through.
func (l memoryLimit) control(t *testing.T) {
	t.Helper()
	const samples = 4 << 20
	path := filepath.Join(base, "control.ffr")
	defer os.Remove(path)
	if err := os.WriteFile(path, buildShard(make([][]byte, samples)...), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := run("verify", "--progress", "none", path); err != nil || r.code != 0 {
		t.Fatalf("without a limit: %v, %v", r, err)
	}
	r, err := l.run(path)
	if err != nil || r.code == 0 || r.stdout != "" {
		t.Errorf("a header of %d MiB is read within %v: %v, %v; the limits show nothing", 12*samples>>20, l, r, err)
	}
}
