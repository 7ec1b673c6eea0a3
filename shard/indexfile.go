package shard

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// indexSchema is that of index/PART_00000.arrow, an Arrow IPC file (Feather v2) of one
// row a sample.
var indexSchema = arrow.NewSchema([]arrow.Field{
	{Name: "key", Type: arrow.BinaryTypes.String},
	{Name: "ordinal", Type: arrow.PrimitiveTypes.Int64},               // in the shard
	{Name: "offset", Type: arrow.PrimitiveTypes.Int64},                // in the shard, bytes
	{Name: "length", Type: arrow.PrimitiveTypes.Int64},                // bytes
	{Name: "crc32", Type: arrow.PrimitiveTypes.Uint32},                // of the record
	{Name: "source", Type: arrow.PrimitiveTypes.Int32},                // row of "sources" in the manifest
	{Name: "source_offset", Type: arrow.PrimitiveTypes.Int64},         // bytes
	{Name: "label", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, // the class, where the sample has an integer one
}, nil)

// indexRows is how many rows make a record batch.
const indexRows = 8192

// labelFields are where WebDataset keeps the class of a sample.
var labelFields = []string{"cls", "index"}

// indexName is where the index of a shard is.
func indexName(shard string) string {
	return indexDir + "/" + strings.TrimSuffix(shard, record.Ext) + ".arrow"
}

// An indexFile is the index of a shard that is being written.
type indexFile struct {
	name  string
	file  *atomicfile.File
	buf   *bufio.Writer
	out   *ipc.FileWriter
	batch *array.RecordBuilder
	rows  int
}

// A counted writer says how much went through it, which is all the seeking that an Arrow
// writer does.
type counted struct {
	w   io.Writer
	off int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.off += int64(n)
	return n, err
}

func (c *counted) Seek(off int64, whence int) (int64, error) {
	if off != 0 || whence != io.SeekCurrent {
		return 0, errors.ErrUnsupported
	}
	return c.off, nil
}

func createIndex(root *os.Root, shard string) (*indexFile, error) {
	name := indexName(shard)
	f, err := atomicfile.Create(root, tmp(name))
	if err != nil {
		return nil, err
	}
	buf := bufio.NewWriterSize(io.NewOffsetWriter(newWriteBehind(f.File), 0), 1<<20)
	out, err := ipc.NewFileWriter(&counted{w: buf}, ipc.WithSchema(indexSchema))
	if err != nil {
		f.Discard()
		return nil, err
	}
	return &indexFile{name: name, file: f, buf: buf, out: out, batch: array.NewRecordBuilder(memory.DefaultAllocator, indexSchema)}, nil
}

// add enters the sample that was written at e.
func (x *indexFile) add(ordinal int64, part int, s *converters.Sample, e record.Extent) error {
	if x.rows == 0 {
		x.batch.Reserve(indexRows)
	}
	x.batch.Field(0).(*array.StringBuilder).Append(s.Key)
	x.batch.Field(1).(*array.Int64Builder).Append(ordinal)
	x.batch.Field(2).(*array.Int64Builder).Append(e.Off)
	x.batch.Field(3).(*array.Int64Builder).Append(e.Size)
	x.batch.Field(4).(*array.Uint32Builder).Append(e.CRC)
	x.batch.Field(5).(*array.Int32Builder).Append(int32(part))
	x.batch.Field(6).(*array.Int64Builder).Append(s.Off)
	label := x.batch.Field(7).(*array.Int64Builder)
	if class, ok := labelOf(s); ok {
		label.Append(class)
	} else {
		label.AppendNull()
	}
	if x.rows++; x.rows < indexRows {
		return nil
	}
	return x.flush()
}

func (x *indexFile) flush() error {
	if x.rows == 0 {
		return nil
	}
	rec := x.batch.NewRecord()
	defer rec.Release()
	x.rows = 0
	return x.out.Write(rec)
}

// sync completes the index and brings it to the device.
func (x *indexFile) sync() error {
	if err := x.flush(); err != nil {
		return err
	}
	if err := x.out.Close(); err != nil {
		return err
	}
	if err := x.buf.Flush(); err != nil {
		return err
	}
	return x.file.Sync()
}

func (x *indexFile) discard() {
	x.batch.Release()
	x.file.Discard()
}

// labelOf returns the class of a sample, where it has an integer one.
func labelOf(s *converters.Sample) (int64, bool) {
	for _, name := range labelFields {
		v, ok := s.Field(name)
		if !ok {
			continue
		}
		switch v.Kind() {
		case converters.KindInt:
			return v.Int(), true
		case converters.KindBytes, converters.KindText:
			const longest = 24 // more is no int64
			if v.Len() <= longest {
				n, err := strconv.ParseInt(strings.TrimSpace(string(v.Data())), 10, 64)
				return n, err == nil
			}
		}
		return 0, false
	}
	return 0, false
}
