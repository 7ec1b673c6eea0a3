package parquettest

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// ImageSchema is the schema of a column of images and a column of labels, as Hugging Face's datasets write it.
func ImageSchema() []Element {
	return []Element{
		{Name: "schema", Type: Group, Children: 2, Converted: None},
		{Name: "image", Type: Group, Repetition: Optional, Children: 2, Converted: None},
		{Name: "bytes", Type: Bytes, Repetition: Optional, Converted: None},
		{Name: "path", Type: Bytes, Repetition: Optional, Converted: Text},
		{Name: "label", Type: Int64, Repetition: Optional, Converted: None},
	}
}

// Images returns the chunks of a row group of ImageSchema. Each has one page. crc adds a CRC to each page.
func Images(images [][]byte, paths []string, labels []int64, codec int, crc bool) []Chunk {
	n := len(images)
	pictures, numbers := Levels(2, n), Levels(1, n)
	for _, image := range images {
		pictures = binary.LittleEndian.AppendUint32(pictures, uint32(len(image)))
		pictures = append(pictures, image...)
	}
	for _, l := range labels {
		numbers = binary.LittleEndian.AppendUint64(numbers, uint64(l))
	}
	chunk := func(kind int, b []byte) Chunk {
		p := Page{Kind: Data, Values: n, Body: b, Expanded: len(b), CRC: crc}
		if codec == Snappy {
			p.Body = s2.EncodeSnappy(nil, b)
		}
		return Chunk{Type: kind, Codec: codec, Values: n, Pages: []Page{p}}
	}
	return []Chunk{chunk(Bytes, pictures), chunk(Bytes, append(Levels(2, n), Strings(paths...)...)), chunk(Int64, numbers)}
}

// TwoImages is a file with two images and their labels, as Hugging Face has them.
func TwoImages() string {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Group(2, Images([][]byte{[]byte("one"), []byte("two")}, []string{"1.jpg", "2.jpg"}, []int64{0, 1}, Plain, true)...)
	if err := w.Close(ImageSchema(), nil); err != nil {
		panic(err)
	}
	return b.String()
}
