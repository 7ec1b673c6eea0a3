//go:build bench && linux

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
)

// keyedCount is ten million, at 2 GiB.
func keyedCount() int64 { return volume * 10_000_000 / (2 << 30) / 8 * 8 }

// keyedItems is eight CBOR sequences of maps of a key and a number: shards of few bytes and very many samples.
var keyedItems = sync.OnceValues(func() (string, error) {
	each := int(keyedCount() / 8)
	return makeParts("keyed", 8, "cbors", func(w *bufio.Writer, part int) {
		for i := range each {
			fmt.Fprintf(w, "\xa2\x67__key__\x6a%s\x61x\x1a", keyOf(part*each+i))
			w.Write(binary.BigEndian.AppendUint32(nil, uint32(1<<20+i)))
		}
	})
})

func keyOf(i int) string { return fmt.Sprintf("%010d", i) }

// lookups is how many samples are looked up, each by a process of its own.
const lookups = 31

// TestG1 looks single samples up in a dataset of ten million.
func TestG1(t *testing.T) {
	measure(t, "G1", func(record func(figure)) {
		set, out := setOf(t, keyedItems), filepath.Join(work, "keyed-out")
		defer settle(t, set, out)
		execute(t, program, "cbor", "--no-verify", "--progress", "none", set, out)
		settle(t)
		what := fmt.Sprintf("in %d samples of %d shards", keyedCount(), len(glob(t, out, "*.ffr")))
		record(figure{work: "`get` by key " + what + ": memory, VmHWM", value: series{float64(observe(t, program, "get", out, keyOf(7)).peak)}, unit: memory, target: atMost(32 << 20)})
		rnd := rand.New(rand.NewPCG(6, 0))
		look := func(cold func(), name func(int) string) (took series) {
			for range lookups {
				n := rnd.IntN(int(keyedCount()))
				cold()
				took = append(took, observe(t, program, "get", out, name(n)).seconds)
			}
			return took
		}
		dropped := func() { forget(t, filesUnder(t, out)) }
		number := func(n int) string { return fmt.Sprint("#", n) }
		record(figure{work: "`get` by key " + what + ", none of it in the page cache", value: look(dropped, keyOf), unit: millis, target: atMost(0.06)})
		record(figure{work: "`get` by number " + what + ", none of it in the page cache", value: look(dropped, number), unit: millis, target: atMost(0.02)})
		record(figure{work: "`get` by key " + what + ", in the page cache", value: look(func() {}, keyOf), unit: millis})
		record(figure{work: "`get` by key " + what + ", the program not in the page cache either", value: look(func() { chill(t, filesUnder(t, out)) }, keyOf), unit: millis})
		var none series
		for range lookups {
			none = append(none, observe(t, program, "version").seconds)
		}
		record(figure{work: "`version`, which does nothing, for comparison", value: none, unit: millis})
	})
}
