//go:build bench && linux

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// examples is ten TFRecord files of Examples of 100 KB, 21,474 in all at 2 GiB.
var examples = sync.OnceValues(func() (string, error) {
	noise := rand.NewChaCha8([32]byte{6})
	picture := make([]byte, 100_000)
	each := volume / 10 / int64(len(picture))
	return makeParts("examples", 10, "tfrecord", func(w *bufio.Writer, part int) {
		for i := range each {
			noise.Read(picture)
			writeRecord(w, example(fmt.Sprintf("%08d", int64(part)*each+i), picture, uint64(i%1000)))
		}
	})
})

// example is an Example with a key, a picture and a label.
func example(key string, picture []byte, label uint64) []byte {
	under := func(num protowire.Number, b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
	}
	var entries []byte
	for _, e := range []struct {
		name string
		list []byte
	}{
		{"image/class/label", under(3, under(1, protowire.AppendVarint(nil, label)))},
		{"image/encoded", under(1, under(1, picture))},
		{"__key__", under(1, under(1, []byte(key)))},
	} {
		entries = append(entries, under(1, append(under(1, []byte(e.name)), under(2, e.list)...))...)
	}
	return under(1, entries)
}

// writeRecord writes data as a record of TFRecord.
func writeRecord(w *bufio.Writer, data []byte) {
	masked := func(b []byte) uint32 {
		sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (sum>>15 | sum<<17) + 0xa282ead8
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	w.Write(binary.LittleEndian.AppendUint32(head, masked(head)))
	w.Write(data)
	w.Write(binary.LittleEndian.AppendUint32(nil, masked(data)))
}

// TestS15 converts TFRecord beside a copy of it, and watches the memory.
func TestS15(t *testing.T) {
	measure(t, "S15", func(record func(figure)) {
		set := setOf(t, examples)
		what := size(sizeOf(t, filesUnder(t, set))) + " of TFRecord, pictures of 100 KB in ten files"
		beside(t, record, set, durableCopy, "tfrecord", figure{work: what, against: copied, target: atMost(1.2)})
		p := watchFormat(t, "tfrecord", set, "2")
		record(figure{work: what + ": peak anonymous memory, `--jobs 2`", value: series{float64(p.anon)}, unit: memory, target: atMost(mostMemory), ours: "with file pages " + memory.one(float64(p.peak))})
	})
}
