package shard

import (
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// The columns of index/PART_00000.arrow, an Arrow IPC file (Feather v2) with one row for each
// sample. A dataset without keys has no keyColumn, one without classes no labelColumn. If a rule
// in the schema gives the places, there is no column of placeTable.
var (
	keyColumn  = arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}
	placeTable = []arrow.Field{
		{Name: "ordinal", Type: arrow.PrimitiveTypes.Int64},       // in the shard
		{Name: "offset", Type: arrow.PrimitiveTypes.Int64},        // in the shard, bytes
		{Name: "length", Type: arrow.PrimitiveTypes.Int64},        // bytes
		{Name: "crc32", Type: arrow.PrimitiveTypes.Uint32},        // of the record
		{Name: "source", Type: arrow.PrimitiveTypes.Int32},        // row number in "sources" of the manifest
		{Name: "source_offset", Type: arrow.PrimitiveTypes.Int64}, // bytes
	}
	labelColumn = arrow.Field{Name: "label", Type: arrow.PrimitiveTypes.Int64, Nullable: true} // null: no integer class
)

// A record batch has indexRows rows, or fewer if their keys reach indexKeyBytes.
const (
	indexRows     = 8192
	indexKeyBytes = 16 << 20
)

func schemaOf(c plan.Columns, about *arrow.Metadata) *arrow.Schema {
	var columns []arrow.Field
	if about == nil {
		columns = placeTable
	}
	if c.Keys {
		columns = append([]arrow.Field{keyColumn}, columns...)
	}
	if c.Labels {
		columns = append(columns[:len(columns):len(columns)], labelColumn)
	}
	return arrow.NewSchema(columns, about)
}

// An indexFile is the index of a shard that is being written.
type indexFile struct {
	stream *direct.Stream
	out    *ipc.FileWriter
	schema *arrow.Schema
	shape  plan.Columns
	first  int32 // row number in "sources" of the manifest of part 0 of the entries
	rule   *rule // nil: the index has a row for every sample, with its place
	rows   indexBatch
}

// newIndex begins the index of a shard in an empty file.
func newIndex(f *os.File, j *Job, blocks [][]byte) (*indexFile, error) {
	x := &indexFile{shape: j.Shape, first: int32(j.Row)}
	var about *arrow.Metadata
	if x.shape.Alike = x.shape.Alike && j.Plan.Columns.Alike; x.shape.Alike {
		var err error
		x.rule = newRule(j.Shard, j.Row)
		if about, err = x.rule.metadata(); err != nil {
			return nil, err
		}
	}
	x.schema, x.stream = schemaOf(x.shape, about), direct.NewStream(f, blocks)
	var err error
	if x.out, err = ipc.NewFileWriter(x.stream, ipc.WithSchema(x.schema)); err != nil {
		x.stream.Close()
	}
	return x, err
}

// add adds the row of the sample that was written at e.
func (x *indexFile) add(ordinal int64, row *entry, key []byte, e record.Extent) error {
	b, i := &x.rows, x.rows.n
	b.n++
	if x.shape.Keys {
		b.addKey(key)
	}
	if x.rule == nil {
		b.ordinal[i], b.offset[i], b.length[i], b.crc[i] = ordinal, e.Off, e.Size, e.CRC
		b.source[i], b.sourceOffset[i] = x.first+row.part, row.off
	}
	if row.labels {
		b.addLabel(row.label)
	}
	return x.flushFull()
}

// addBatch adds rows of consecutive samples. ordinal is the number of the first one in the shard.
func (x *indexFile) addBatch(ordinal int64, b *batch) error {
	if x.rule != nil && !x.shape.Labels {
		return nil
	}
	if x.shape.Keys || x.shape.Labels {
		for i := range b.rows {
			if err := x.add(ordinal+int64(i), &b.rows[i], b.key(i), b.at[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for rows, at := b.rows, b.at; len(rows) > 0; {
		n := x.rows.addPlaces(ordinal, x.first, rows, at)
		rows, at, ordinal = rows[n:], at[n:], ordinal+int64(n)
		if err := x.flushFull(); err != nil {
			return err
		}
	}
	return nil
}

// flushFull writes the pending rows if they fill a record batch.
func (x *indexFile) flushFull() error {
	if x.rows.n < indexRows && len(x.rows.keys) < indexKeyBytes {
		return nil
	}
	return x.flush()
}

func (x *indexFile) flush() error {
	if x.rows.n == 0 {
		return nil
	}
	columns := x.rows.columns(x.shape)
	rec := array.NewRecord(x.schema, columns, int64(x.rows.n))
	defer rec.Release()
	for _, c := range columns {
		c.Release() // the record holds them
	}
	err := x.out.Write(rec)
	x.rows.reset()
	return err
}

// close writes the pending rows and the footer. The caller syncs the file.
func (x *indexFile) close() error {
	if x.rule != nil && !x.shape.Labels {
		x.rows.n = int(x.rule.Samples) // one batch without columns
	}
	if err := x.flush(); err != nil {
		return err
	}
	if err := x.out.Close(); err != nil {
		return err
	}
	return x.stream.Close()
}

// labelOf returns the class of a sample, if it is an integer.
func labelOf(s *converters.Sample) (int64, bool) {
	for _, name := range plan.LabelFields {
		v, ok := s.Field(name)
		if !ok {
			continue
		}
		switch v.Kind() {
		case converters.KindInt:
			return v.Int(), true
		case converters.KindBytes, converters.KindText:
			const longest = 24 // longer text cannot be an int64
			if v.Len() <= longest {
				n, err := strconv.ParseInt(strings.TrimSpace(string(v.Data())), 10, 64)
				return n, err == nil
			}
		}
		return 0, false
	}
	return 0, false
}
