// Package arrowtest writes Arrow files and streams with Apache's library for Go. Only tests import it.
//
//	data := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, arrowtest.Batches(images, 5)...)
package arrowtest

import (
	"bytes"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Forms of what is written.
const (
	File   = "file"
	Stream = "stream"
)

// Compressions of buffers.
const (
	Plain = ""
	LZ4   = "lz4"
	Zstd  = "zstd"
)

// An Image is a row as Hugging Face's datasets have it.
type Image struct {
	Data  []byte // nil: null
	Path  string
	Label int64
}

// Features is the metadata of Hugging Face's datasets for a column of labels.
const Features = `{"info": {"features": {"image": {"_type": "Image"}, "label": {"names": ["circle", "glyphs", "stripes"], "_type": "ClassLabel"}}}}`

// Batches returns batches of images, each of some rows.
func Batches(images []Image, each int) (all []arrow.Record) {
	media := arrow.StructOf(arrow.Field{Name: "bytes", Type: arrow.BinaryTypes.Binary, Nullable: true}, arrow.Field{Name: "path", Type: arrow.BinaryTypes.String, Nullable: true})
	metadata := arrow.NewMetadata([]string{"huggingface"}, []string{Features})
	schema := arrow.NewSchema([]arrow.Field{{Name: "image", Type: media, Nullable: true}, {Name: "label", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, &metadata)
	for some := range slices.Chunk(images, each) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		image := b.Field(0).(*array.StructBuilder)
		data, path := image.FieldBuilder(0).(*array.BinaryBuilder), image.FieldBuilder(1).(*array.StringBuilder)
		for _, i := range some {
			image.Append(true)
			if i.Data == nil {
				data.AppendNull()
			} else {
				data.Append(i.Data)
			}
			path.Append(i.Path)
			b.Field(1).(*array.Int64Builder).Append(i.Label)
		}
		all = append(all, b.NewRecord())
	}
	return all
}

// Write returns batches as a file or a stream. Of one without rows only the schema is written.
func Write(form, codec string, batches ...arrow.Record) []byte {
	var b bytes.Buffer
	opts := []ipc.Option{ipc.WithSchema(batches[0].Schema())}
	switch codec {
	case LZ4:
		opts = append(opts, ipc.WithLZ4())
	case Zstd:
		opts = append(opts, ipc.WithZstd())
	}
	var w interface {
		Write(arrow.Record) error
		io.Closer
	}
	if form == File {
		file, err := ipc.NewFileWriter(&seeker{Buffer: &b}, opts...)
		must(err)
		w = file
	} else {
		w = ipc.NewWriter(&b, opts...)
	}
	for _, r := range batches {
		if r.NumRows() > 0 {
			must(w.Write(r))
		}
	}
	must(w.Close())
	return b.Bytes()
}

// Read returns the batches of a stream.
func Read(stream []byte) (all []arrow.Record) {
	r, err := ipc.NewReader(bytes.NewReader(stream))
	must(err)
	for r.Next() {
		r.Record().Retain()
		all = append(all, r.Record())
	}
	must(r.Err())
	return all
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// A seeker tells the writer of files where it is.
type seeker struct{ *bytes.Buffer }

func (s *seeker) Seek(off int64, whence int) (int64, error) {
	if off != 0 || whence != io.SeekCurrent {
		panic("a writer that goes back")
	}
	return int64(s.Len()), nil
}
