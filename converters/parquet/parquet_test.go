package parquet

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// pictureSize is more than Index reads of a plain page around a length.
const pictureSize = 100_000

// images are a file of row groups of three images.
func images(first, n, codec int, crc bool) []byte {
	var b bytes.Buffer
	w := pq.NewWriter(&b)
	for from := first; from < first+n; from += 3 {
		var data [][]byte
		var paths []string
		var labels []int64
		for i := from; i < min(from+3, first+n); i++ {
			data = append(data, bytes.Repeat([]byte{byte(i)}, pictureSize+i))
			paths = append(paths, fmt.Sprintf("%d.jpg", i))
			labels = append(labels, int64(i%2))
		}
		w.Group(len(data), pq.Images(data, paths, labels, codec, crc)...)
	}
	features := `{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}`
	if err := w.Close(pq.ImageSchema(), [][2]string{{"huggingface", features}}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		codec int // of packed rows: the type of a column
		crc   bool
		opts  Options
	}{
		{"plain", pq.Plain, false, Options{}},
		{"plain, all read", pq.Plain, false, Options{Load: func(string) bool { return true }}},
		{"plain, with a CRC", pq.Plain, true, Options{}},
		{"snappy", pq.Snappy, false, Options{}},
		{"labels", pq.Plain, false, Options{Fields: [][]string{{"label", "cls"}}}},
		{"packed", pq.Double, false, Options{Pack: true}},
		{"of two types", pq.Int64, false, Options{Pack: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				dir := t.TempDir()
				data := [][]byte{images(0, 7, row.codec, row.crc), images(7, 3, row.codec, row.crc)}
				if row.opts.Pack {
					for i := range data {
						data[i], _ = numbersOf(900+i, numberColumn{kind: pq.Double, page: 256, codec: pq.Snappy}, numberColumn{kind: row.codec, page: 99})
					}
				}
				var paths []string
				for i, b := range data {
					paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.parquet", i)))
					if err := os.WriteFile(paths[i], b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				reopen := func(t *testing.T) converters.Source {
					// Some of the files that the suite cuts are refused when they are opened.
					parts := convertertest.Parts(t, paths...)
					s, err := Open(t.Context(), parts, row.opts)
					if err != nil {
						return convertertest.Refused(parts, err)
					}
					return s
				}
				size := int64(len(data[0]))
				cuts := []int64{0, 3, 11, 100, size / 2, size - 9, size - 8, size - 1}
				return convertertest.Fixture{Source: reopen(t), Files: paths, Reopen: reopen, Cuts: cuts}
			})
		})
	}
}

// Index of plain pages reads a few KiB for each image; of compressed ones, and of those with a CRC, all. With few columns it
// reads these alone.
func TestIndexReads(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		codec  int
		crc    bool
		fields [][]string
		least  int64 // of thousand bytes of the file
		most   int64
	}{
		{"plain", pq.Plain, false, nil, 0, 60},
		{"with a CRC", pq.Plain, true, nil, 950, 1050},
		{"labels", pq.Plain, true, [][]string{{"label"}}, 0, 30},
	} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		data := images(0, 60, row.codec, row.crc)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		open, use := convertertest.Count(new(converters.Files).Open)
		s, err := openSource(t.Context(), convertertest.Parts(t, path), Options{Fields: row.fields}, open)
		if err != nil {
			t.Fatal(err)
		}
		if offs, err := indexOf(t, s, 0); len(offs) != 60 || err != nil {
			t.Fatal(len(offs), err)
		}
		if of := 1000 * use.Read.Load() / int64(len(data)); of < row.least || of > row.most {
			t.Errorf("%s: Index read %d of 1000 bytes, want %d to %d", row.name, of, row.least, row.most)
		}
		if use.Opened.Load() != use.Closed.Load() {
			t.Errorf("%s: %d files opened, %d closed", row.name, use.Opened.Load(), use.Closed.Load())
		}
	}
}
