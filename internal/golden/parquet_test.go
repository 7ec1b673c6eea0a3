package golden

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// parquetOf is a Parquet file of the pictures of a folder and their classes, in row groups of five. The last picture is a
// file beside it.
func parquetOf(t *testing.T, folder, outside string, codec int) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	classes := []string{"circle", "glyphs", "stripes"}
	var b bytes.Buffer
	w := parquettest.NewWriter(&b)
	for some := range slices.Chunk(files, 5) {
		var images [][]byte
		var paths []string
		var labels []int64
		for _, name := range some {
			image, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			images, paths = append(images, image), append(paths, filepath.Base(name))
			labels = append(labels, int64(slices.Index(classes, filepath.Base(filepath.Dir(name)))))
		}
		w.Group(len(some), parquettest.Images(images, paths, labels, codec, true)...)
	}
	if outside != "" {
		chunks := parquettest.Images([][]byte{nil}, []string{outside}, []int64{0}, codec, false)
		chunks[0].Codec = parquettest.Plain
		chunks[0].Pages[0] = parquettest.Page{Values: 1, Body: parquettest.Levels(1, 1)} // null
		w.Group(1, chunks...)
	}
	features := `{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["circle", "glyphs", "stripes"], "_type": "ClassLabel"}}}}`
	if err := w.Close(parquettest.ImageSchema(), [][2]string{{"huggingface", features}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
