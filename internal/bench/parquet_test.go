//go:build bench && linux

package bench

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// pictures is eight Parquet files of images of 100 KB and their labels in row groups of 100, compressed with snappy, as
// Hugging Face's datasets write them; 20,000 images in all at 2 GiB.
var pictures = sync.OnceValues(func() (string, error) {
	noise := rand.NewChaCha8([32]byte{6})
	return makeParts("pictures", 8, "parquet", func(w *bufio.Writer, part int) {
		f := parquettest.NewWriter(w)
		images, paths, labels := make([][]byte, 100), make([]string, 100), make([]int64, 100)
		for range pictureCount() / 8 / 100 {
			for i := range images {
				images[i] = make([]byte, 100_000)
				noise.Read(images[i])
				paths[i], labels[i] = fmt.Sprintf("%d-%06d.jpg", part, i), int64(i%10)
			}
			f.Group(100, parquettest.Images(images, paths, labels, parquettest.Snappy, false)...)
		}
		f.Close(parquettest.ImageSchema(), nil) // its error is that of w, which makePart looks at
	})
})

func pictureCount() int64 { return max(volume*20_000/(2<<30)/800, 1) * 800 }

// columns10 and columns60 are Parquet files of ten and of sixty columns of float64 in row groups of 122,880, one page each,
// compressed with snappy; 10 million rows at 2 GiB, and a sixth of that.
var (
	columns10 = sync.OnceValues(func() (string, error) { return numbersOf("columns10", 10, columns10Rows()) })
	columns60 = sync.OnceValues(func() (string, error) { return numbersOf("columns60", 60, columns10Rows()/6) })
)

func numbersOf(name string, columns int, all int64) (string, error) {
	random := rand.New(rand.NewPCG(7, 8))
	return makeParts(name, 1, "parquet", func(w *bufio.Writer, _ int) {
		const rows = 122_880
		f := parquettest.NewWriter(w)
		var schema []parquettest.Element
		var chunks []parquettest.Chunk
		for i := range columns {
			var b []byte
			for range rows {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(random.Float64()))
			}
			page := parquettest.Page{Values: rows, Body: s2.EncodeSnappy(nil, b), Expanded: len(b)}
			schema = append(schema, parquettest.Element{Name: fmt.Sprint("c", i), Type: parquettest.Double, Converted: parquettest.None})
			chunks = append(chunks, parquettest.Chunk{Type: parquettest.Double, Codec: parquettest.Snappy, Values: rows, Pages: []parquettest.Page{page}})
		}
		for range max(all/rows, 1) {
			f.Group(rows, chunks...)
		}
		f.Close(append([]parquettest.Element{{Name: "schema", Type: parquettest.Group, Children: columns, Converted: parquettest.None}}, schema...), nil)
	})
}

func columns10Rows() int64 { return max(volume*10_000_000/(2<<30)/122_880, 1) * 122_880 }

// TestP1 converts Parquet files of images.
func TestP1(t *testing.T) {
	measure(t, "P1", func(record func(figure)) {
		beside(t, record, setOf(t, pictures), durableCopy, "parquet",
			figure{work: fmt.Sprintf("%d images of 100 KB in Parquet, snappy", pictureCount()), against: copied, target: atMost(1.2)})
	})
}

// TestP2 finds and converts rows of numbers.
func TestP2(t *testing.T) {
	measure(t, "P2", func(record func(figure)) {
		set, rows := setOf(t, columns10), float64(columns10Rows())
		all := compete(t, warm, set, rounds, convert("parquet", "--dry-run"), convert("parquet", "--no-verify"))
		index, whole := all[0].cpu(), all[1].cpu()
		what := fmt.Sprintf("%.0f rows of ten numbers in Parquet, snappy", rows)
		record(figure{work: what + ": index, processor time a row", value: index.each(func(x float64) float64 { return x / rows }), unit: micros, target: atMost(0.29e-6), ours: seconds.all(index)})
		record(figure{work: what + ", `--no-verify`: rows by the second of a processor", value: whole.under(rows), unit: millions("rows"), target: atLeast(2e6),
			ours: seconds.all(whole) + ", wall " + seconds.all(all[1].seconds())})
		written := float64(outputSize(t, set, convert("parquet", "--no-verify")))
		record(figure{work: what + ": bytes written, those of the numbers alone being 1", value: series{written / (rows * 80)}, unit: ratio, target: atMost(1), ours: size(int64(written))})
	})
}
