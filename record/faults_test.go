package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"
)

// The rows A1 to A7 of the fault table. Each prints its line; rows that are long under the race
// detector run whole with FFCONVERT_FAULTS=1.

func f3(t testing.TB) ([]byte, [][]byte) {
	b := shardOf(t, f3Samples()...)
	if len(b) != 4152 {
		t.Fatalf("F3 has %d bytes", len(b))
	}
	row := faultRow{}
	if row.try(b, f3Samples()); row.undetected != 1 || row.lost != 0 {
		t.Fatal("F3 itself is not accepted: the rows would prove nothing")
	}
	return b, f3Samples()
}

func TestFaultA1Cut(t *testing.T) {
	t.Parallel()
	b, want := f3(t)
	row := faultRow{id: "A1"}
	for k := range b {
		row.try(b[:k], want)
	}
	row.done(t, 4152)
}

// Not parallel: it measures what the process allocates.
func TestFaultA2FlipBit(t *testing.T) {
	b, want := f3(t)
	row := faultRow{id: "A2"}
	var peak uint64
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		before := allocated()
		row.try(b, want)
		peak = max(peak, allocated()-before)
		b[bit/8] ^= 1 << (bit % 8)
	}
	row.more = fmt.Sprintf(" largest_allocation=%d", peak) // in all, of a case
	row.done(t, 33216)
	if limit := uint64(1<<20 + len(b)); peak > limit {
		t.Errorf("a case allocated %d bytes, and the limit is %d", peak, limit)
	}
}

func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

func TestFaultA3FlipTwoBits(t *testing.T) {
	t.Parallel()
	want := [][]byte{{}, []byte("abc"), noise(7, 49)}
	b := shardOf(t, want...)
	if len(b) != 100 {
		t.Fatalf("the shard has %d bytes", len(b))
	}
	step, least := 37, 319600/37
	if full() {
		step, least = 1, 319600
	}
	row := faultRow{id: "A3"}
	k := 0
	for i := range 800 {
		for j := range i {
			if k++; k%step != 0 {
				continue
			}
			b[i/8] ^= 1 << (i % 8)
			b[j/8] ^= 1 << (j % 8)
			row.try(b, want)
			b[i/8] ^= 1 << (i % 8)
			b[j/8] ^= 1 << (j % 8)
		}
	}
	row.done(t, least)
}

// Appended bytes are found with the first sample that is needed, whichever it is.
func TestFaultA4Append(t *testing.T) {
	t.Parallel()
	b, want := f3(t)
	row := faultRow{id: "A4"}
	tail := noise(4, 4096)
	for k := 1; k <= 4096; k++ {
		for _, more := range [][]byte{make([]byte, k), tail[:k]} {
			row.try(append(slices.Clone(b), more...), want)
		}
	}
	row.done(t, 8192)

	for _, k := range []int{1, 512, 8192} {
		if _, err := readerOf(append(slices.Clone(b), make([]byte, k)...), Options{}); err == nil {
			t.Errorf("opened with %d bytes appended", k)
		}
	}
}

// mib is a shard of 1 MiB exactly, of samples of uneven size without zero runs.
func mib(t testing.TB) ([]byte, [][]byte) {
	var samples [][]byte
	left := 1<<20 - headSize
	for i := 0; ; i++ {
		size := i * 977 % 9000
		if left < rowSize+size+16384 {
			samples = append(samples, noise(uint64(i), left-rowSize))
			break
		}
		samples = append(samples, noise(uint64(i), size))
		left -= rowSize + size
	}
	b := shardOf(t, samples...)
	if len(b) != 1<<20 {
		t.Fatalf("the shard has %d bytes", len(b))
	}
	return b, samples
}

func TestFaultA5ZeroSector(t *testing.T) {
	t.Parallel()
	b, want := mib(t)
	step, least := 8, 2304/8
	if full() {
		step, least = 1, 2304
	}
	row := faultRow{id: "A5"}
	for _, size := range []int{512, 4096} {
		for off := 0; off < len(b); off += step * size {
			old := slices.Clone(b[off : off+size])
			clear(b[off : off+size])
			row.try(b, want)
			copy(b[off:], old)
		}
	}
	row.done(t, least)
}

func TestFaultA6Swap(t *testing.T) {
	t.Parallel()
	row := faultRow{id: "A6"}
	swap := func(b []byte, i, j, size int) {
		old := slices.Clone(b[i : i+size])
		copy(b[i:i+size], b[j:j+size])
		copy(b[j:], old)
	}
	b, want := mib(t)
	const page = 4096
	for i := range 255 {
		j := (i + 1 + i*7%(255-i)) * page // some later page
		swap(b, i*page, j, page)
		row.try(b, want)
		swap(b, i*page, j, page)
	}

	samples := make([][]byte, 261)
	for i := range samples {
		samples[i] = noise(uint64(i), 100)
	}
	b = shardOf(t, samples...)
	for i := range 260 {
		e, next := int(payloadOff(261))+100*i, int(payloadOff(261))+100*(i+1)
		swap(b, e, next, 100) // the samples alone
		row.try(b, samples)
		sums := headSize + sumSize*i
		swap(b, sums, sums+sumSize, sumSize) // and their CRCs with them
		row.try(b, samples)
		swap(b, sums, sums+sumSize, sumSize)
		swap(b, e, next, 100)
	}
	row.done(t, 516)
}

// edges are values of N at which arithmetic goes wrong.
var edges = []int64{
	0, 1, 2, 3, 4, 5, -1, -2, -12, math.MinInt64, math.MinInt64 + 1, math.MaxInt64, math.MaxInt64 - 1,
	maxN - 1, maxN, maxN + 1, math.MaxInt64 / 4, math.MaxInt64/4 + 1, math.MaxInt64/8 + 1, math.MaxUint32,
	math.MaxUint32 + 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32 / 12,
}

// A hostile header is judged as the oracle judges it, with and without legacy, and never allocates
// more than its file warrants. Not parallel: it measures memory.
func TestFaultA7HostileHeader(t *testing.T) {
	row := faultRow{id: "A7"}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	try := func(b []byte, want [][]byte, opts Options) {
		row.opts = opts
		if samples, ok := oracle(b); ok {
			lost, err := readAll(b, samples, opts)
			_, _, serr := scan(b, 7, opts)
			if lost > 0 || err != nil || serr != nil {
				t.Errorf("sound file refused: % x: %v, %v", b, err, serr)
			}
			return
		}
		row.try(b, want)
	}

	for _, n := range edges {
		for size := range 64 {
			for _, mode := range []string{"zero", "good", "bad"} {
				for _, fill := range []byte{0, 0x30} {
					b := bytes.Repeat([]byte{fill}, max(size, 12))
					putHead(b, 0, n)
					b = b[:size]
					if mode != "zero" && size >= 12 {
						end := 12
						if n > 0 && n <= 5 {
							end = min(size, 12+12*int(n))
						}
						binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:end]))
						if mode == "bad" {
							b[0] ^= 0x40
						}
					}
					try(b, nil, Options{})
				}
			}
		}
	}

	// Offsets that lie, under a good header CRC and without one.
	want := [][]byte{[]byte("one"), []byte("three"), []byte("seven")}
	good := shardOf(t, want...)
	for i := range 3 {
		for _, off := range append(slices.Clone(edges), 11, 12, 23, 24, 47, 49, 50, 51, 56, 60, 61, 62) {
			for _, legacy := range []bool{false, true} {
				b := slices.Clone(good)
				binary.LittleEndian.PutUint64(b[24+8*i:], uint64(off))
				binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:48]))
				if _, ok := oracle(b); ok {
					continue // the value that was there
				}
				if legacy {
					clear(b[:4])
				}
				try(b, want, Options{AllowLegacy: legacy})
			}
		}
	}
	runtime.ReadMemStats(&after)
	row.done(t, 5000)
	if per := (after.TotalAlloc - before.TotalAlloc) / uint64(row.cases); per > 64<<10 {
		t.Errorf("%d bytes allocated a case", per)
	}
}
