package tar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// What was written into a tar comes out of it, whatever the sizes, whatever lies between.
func TestReadSizes(t *testing.T) {
	t.Parallel()
	const kib, mib = 1 << 10, 1 << 20
	rnd := rand.New(rand.NewPCG(5, 0))
	words := make([]byte, 6*mib)
	for i := 0; i < len(words); i += 8 {
		binary.LittleEndian.PutUint64(words[i:], rnd.Uint64())
	}
	noise := string(words)
	for name, sizes := range map[string][]int{
		"small":              {0, 1, 511, 512, 513, 100},
		"around the first":   {firstRead - 513, firstRead - 512, firstRead - 511, firstRead, firstRead + 1},
		"around the window":  {mib - 1024, mib - 513, mib - 512, mib - 511, mib, mib + 1},
		"large among small":  append([]int{10, 5 * mib, 10, 20, 3 * mib}, slices.Repeat([]int{30 * kib}, 40)...),
		"all large":          {2 * mib, 2 * mib, 3 * mib, 2*mib + 1, 2 * mib},
		"many medium ones":   slices.Repeat([]int{100 * kib, 1, 77 * kib}, 20),
		"large, then a lull": append([]int{4 * mib}, slices.Repeat([]int{100}, 64)...),
	} {
		for _, between := range []int{0, 100, 300 * kib, 2 * mib} {
			t.Run(fmt.Sprintf("%s, %d between", name, between), func(t *testing.T) {
				skip := regular("README", strings.Repeat("r", between))
				var members [][]byte
				var want []content
				for i, n := range sizes {
					data := noise[i : i+n] // no two alike
					c := content{Key: fmt.Sprint("s", i), Fields: []namedData{{"a", data}, {"b", fmt.Sprint(i)}, {"c", data[:n/2]}}}
					want = append(want, c)
					members = append(members, regular(c.Key+".a", data))
					if between > 0 && i%5 == 0 {
						members = append(members, skip)
					}
					members = append(members, regular(c.Key+".b", fmt.Sprint(i)), regular(c.Key+".c", data[:n/2]))
				}
				got, err := contents(t, memory(Options{}, archive(members...)))
				if err != nil || !slices.EqualFunc(got, want, sameContent) {
					t.Errorf("%d samples, %d wanted, or their bytes differ; error %v", len(got), len(want), err)
				}
			})
		}
	}
}

// One sample read at random costs little more than its bytes, large members that are
// passed over cost nothing, and a run does not read beyond what ends it.
func TestReadLittle(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 10<<20)
	const slack = 4 << 10
	data := archive(regular("a.jpg", big[:200]), regular("b.jpg", big[:300_000]), regular("c.jpg", "1"), regular("README", big), regular("c.cls", "2"), regular("d.jpg", big))
	src, use := counted(memory(Options{}, data))
	var spans []converters.Span
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape != nil {
			spans = append(spans, converters.Span{Off: span.Off})
		}
	}
	if got, least := use.Read.Load(), int64(6*512+1024); got < least || got > 6*headerRead {
		t.Errorf("Index read %d bytes of 6 headers and 1,024 of zeros", got)
	}
	for i, most := range []int64{firstRead, firstRead + 300_000, 2*firstRead + slack, firstRead + 10<<20 + slack} {
		before := use.Read.Load()
		n := 0
		for _, err := range src.Read(t.Context(), converters.Run{Off: spans[i].Off, Count: 1}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if got := use.Read.Load() - before; n != 1 || got > most {
			t.Errorf("sample %d: %d samples, %d bytes read, at most %d wanted", i, n, got, most)
		}
	}
}

// A grown buffer is given back, and never holds more than a sample needs.
func TestWindowShrinks(t *testing.T) {
	t.Parallel()
	var members [][]byte
	members = append(members, regular("big.x", strings.Repeat("x", 8<<20)))
	for i := range 1000 {
		members = append(members, regular(fmt.Sprintf("%d.x", i), "small"))
	}
	data := archive(members...)
	var w scan.Window
	w.Reset(bytes.NewReader(data), int64(len(data)), 0, scan.Sizes{First: firstRead, Usual: windowSize})
	var sc scanner
	sc.reset(&w, converters.Part{Size: int64(len(data))}, &Options{MaxSample: DefaultMaxSample, MaxHeader: DefaultMaxHeader})
	peak := 0
	for {
		ev, err := sc.next()
		if err != nil {
			t.Fatal(err)
		}
		if ev == eventEnd {
			break
		}
		peak = max(peak, cap(w.Buf))
	}
	if peak > 12<<20 || cap(w.Buf) != windowSize {
		t.Errorf("the buffer had %d bytes, in the end it has %d", peak, cap(w.Buf))
	}
}

// Headers alone, between two fields of a sample, take no memory.
func TestSkippedInsideSample(t *testing.T) {
	t.Parallel()
	members := [][]byte{regular("a.x", "1")}
	for range 20_000 { // 10 MiB
		members = append(members, block(typeDirectory, "d/", 0))
	}
	data := archive(append(members, regular("a.y", "2"))...)
	var w scan.Window
	w.Reset(bytes.NewReader(data), int64(len(data)), 0, scan.Sizes{First: firstRead, Usual: windowSize})
	var sc scanner
	sc.reset(&w, converters.Part{Size: int64(len(data))}, &Options{MaxSample: DefaultMaxSample, MaxHeader: DefaultMaxHeader})
	for ev := eventSkip; ev == eventSkip; {
		var err error
		if ev, err = sc.next(); err != nil {
			t.Fatal(err)
		}
	}
	if cap(w.Buf) > windowSize || len(sc.group.sample.Fields) != 2 || string(w.Kept(1)) != "2" {
		t.Errorf("%d bytes of buffer, sample %v", cap(w.Buf), sc.group.sample)
	}
}

// A file that becomes shorter while it is read is found out.
func TestReadShrinking(t *testing.T) {
	t.Parallel()
	data := archive(regular("a.x", strings.Repeat("x", 200_000)), regular("b.x", "1"))
	for n := 0; n < len(data); n += 4999 {
		src := memory(Options{}, data)
		src.open = func(converters.Part, converters.Access) (converters.File, error) {
			return convertertest.Memory(data[:n]), nil
		}
		if got, err := contents(t, src.with(src.Parts())); err == nil {
			t.Errorf("at %d bytes: %d samples", n, len(got))
		}
	}
}

// An error of any read is reported.
func TestReadFaults(t *testing.T) {
	t.Parallel()
	data := archive(regular("a.x", strings.Repeat("x", 200_000)), pax("path=b.x"), regular("b", "1"))
	convertertest.FailReads(t, 5, func(wrap func(convertertest.Opener) convertertest.Opener) error {
		src := memory(Options{}, data)
		src.open = wrap(src.open)
		_, err := contents(t, src.with(src.Parts()))
		return err
	})
}

func TestAllocs(t *testing.T) {
	const n = 1000
	var members [][]byte
	for i := range n {
		members = append(members, regular(fmt.Sprintf("%04d.jpg", i), "x"), regular(fmt.Sprintf("%04d.cls", i), "x"))
	}
	src := memory(Options{}, archive(members...))
	read := func() {
		for _, err := range src.Read(t.Context(), converters.Run{Count: n}) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	// The key of each sample, and what a run costs.
	if got := testing.AllocsPerRun(10, read); got > n+20 {
		t.Errorf("%.0f allocations for %d samples", got, n)
	}
}

// Headers that are near each other are read together: few reads, and of no more than lies
// between the first and the last of them.
func TestReadTogether(t *testing.T) {
	t.Parallel()
	var members [][]byte
	for i := range 4000 {
		members = append(members, regular(fmt.Sprintf("%04d.bin", i), strings.Repeat("x", i%700)))
	}
	data := archive(append(members, regular("last.bin", strings.Repeat("x", 1<<20)))...)
	src, use := counted(memory(Options{}, data))
	for _, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	small := int64(len(data) - 1<<20)
	if got, most := use.Reads.Load(), small/headerReads+20; got > most {
		t.Errorf("%d reads of %d bytes, at most %d wanted", got, small, most)
	}
	if got := use.Read.Load(); got > small+2*headerReads {
		t.Errorf("%d bytes read of %d in small members", got, small)
	}
}
