//go:build bench && linux

package bench

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

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

// TestP1 converts Parquet files of images.
func TestP1(t *testing.T) {
	measure(t, "P1", func(record func(figure)) {
		beside(t, record, setOf(t, pictures), durableCopy, "parquet",
			figure{work: fmt.Sprintf("%d images of 100 KB in Parquet, snappy", pictureCount()), against: copied, target: atMost(1.2)})
	})
}
