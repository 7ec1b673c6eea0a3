//go:build bench && linux

package bench

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// labeledItems is the set of keyedItems with a class in place of the number, one of a thousand.
var labeledItems = sync.OnceValues(func() (string, error) {
	each := int(keyedCount() / 8)
	return makeParts("labeled", 8, "cbors", func(w *bufio.Writer, part int) {
		for i := range each {
			fmt.Fprintf(w, "\xa2\x67__key__\x6a%s\x63cls\x19", keyOf(part*each+i))
			w.Write(binary.BigEndian.AppendUint16(nil, uint16(i*7919%1000)))
		}
	})
})

// TestB1 searches a dataset of ten million samples as the pages of `browse` do, in one process that lives.
func TestB1(t *testing.T) {
	measure(t, "B1", func(record func(figure)) {
		set, out, searcher := setOf(t, labeledItems), filepath.Join(work, "labeled-out"), filepath.Join(work, "find.test")
		defer settle(t, set, out, searcher)
		execute(t, program, "cbor", "--encode", "msgpack", "--no-verify", "--progress", "none", set, out)
		build := exec.Command("go", "test", "-c", "-tags", "bench", "-o", searcher, "../../internal/browse")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		settle(t)
		figures := filepath.Join(work, "find.json")
		cmd := exec.Command(searcher, "-test.run", "^TestBig$")
		cmd.Env = append(os.Environ(), "FFCONVERT_BENCH_DATASET="+out, "FFCONVERT_BENCH_FIGURES="+figures)
		p := finish(t, cmd, true)
		text, err := os.ReadFile(figures)
		if err != nil {
			t.Fatal(err)
		}
		var took map[string]series
		if err := json.Unmarshal(text, &took); err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("of %d samples in %d shards", keyedCount(), len(glob(t, out, "*.ffr")))
		speed := func(name string) series {
			var s series
			for _, x := range took[name] {
				s = append(s, float64(keyedCount())/x)
			}
			return s
		}
		rows := millions("rows")
		record(figure{work: "a page of 60 samples from anywhere " + what, value: took["page"], unit: millis, target: atMost(0.05), ours: millis.all(took["open"]) + " to open, " + millis.all(took["first page"]) + " for the first page"})
		record(figure{work: "a key " + what, value: took["key"], unit: millis, target: atMost(0.06)})
		for _, name := range strings.Fields("class size prefix source") {
			record(figure{work: "a filter by " + name + " over all " + what, value: speed(name), unit: rows, target: atLeast(5e6)})
		}
		record(figure{work: "classes and sizes " + what, value: took["survey"], unit: seconds, target: atMost(3)})
		record(figure{work: "the list of the keys of one class " + what, value: took["keys"], unit: seconds})
		record(figure{work: "all of this " + what + ": memory, RssAnon", value: series{float64(p.anon)}, unit: memory, target: atMost(512 << 20)})
	})
}
