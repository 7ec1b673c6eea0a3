// Command arrowgo reads Parquet files with Apache's arrow-go and writes what their columns hold, a JSON line a file:
//
//	arrowgo FILE…
//	{"path":"a.parquet","leaves":[{"name":"n","flat":true,"words":["i1","null"]}]}
//	{"path":"b.parquet","error":"…"}
//
// A leaf is a column of the file. Words are those of package arrowjs, times in microseconds; of a leaf in lists only the values
// that are not null. Package parquettest runs it. It is a module of its own, since arrow-go requires newer versions of what
// the program links.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

type leaf struct {
	Name  string   `json:"name"`
	Flat  bool     `json:"flat"`
	Words []string `json:"words"`
}

type answer struct {
	Path   string `json:"path"`
	Leaves []leaf `json:"leaves"`
	Error  string `json:"error,omitempty"`
}

func main() {
	out := json.NewEncoder(os.Stdout)
	for _, path := range os.Args[1:] {
		a := answer{Path: path}
		var err error
		if a.Leaves, err = read(path); err != nil {
			a = answer{Path: path, Error: err.Error()}
		}
		if err := out.Encode(a); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func read(path string) (leaves []leaf, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("panic: %v", why)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	for i := range r.MetaData().Schema.NumColumns() {
		c := r.MetaData().Schema.Column(i)
		l := leaf{Name: c.Path(), Flat: !strings.Contains(c.Path(), ".") && c.MaxRepetitionLevel() == 0}
		for g := range r.NumRowGroups() {
			chunk, err := r.RowGroup(g).Column(i)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Path(), err)
			}
			if err := l.read(c, chunk); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Path(), err)
			}
		}
		leaves = append(leaves, l)
	}
	return leaves, nil
}

// read appends the values of a column of a row group.
func (l *leaf) read(c *schema.Column, chunk file.ColumnChunkReader) error {
	switch r := chunk.(type) {
	case *file.BooleanColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v bool) string { return fmt.Sprint(v) })
	case *file.Int32ColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v int32) string { return integer(c, int64(v)) })
	case *file.Int64ColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v int64) string { return integer(c, v) })
	case *file.Int96ColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v parquet.Int96) string { return fmt.Sprint("i", v.ToTime().UnixMicro()) })
	case *file.Float32ColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v float32) string { return float(float64(v)) })
	case *file.Float64ColumnChunkReader:
		return values(l, c, r.ReadBatch, float)
	case *file.ByteArrayColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v parquet.ByteArray) string { return text(c, v) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return values(l, c, r.ReadBatch, func(v parquet.FixedLenByteArray) string { return text(c, v) })
	}
	return fmt.Errorf("a column of the type %T", chunk)
}

// values reads batches to the end of a column.
func values[T any](l *leaf, c *schema.Column, batch func(int64, []T, []int16, []int16) (int64, int, error), word func(T) string) error {
	const most = 512
	all, defs, reps := make([]T, most), make([]int16, most), make([]int16, most)
	for {
		levels, n, err := batch(most, all, defs, reps)
		if err != nil {
			return err
		}
		if levels == 0 && n == 0 {
			return nil
		}
		at := 0
		for i := range levels {
			switch {
			case c.MaxDefinitionLevel() == 0 || defs[i] == c.MaxDefinitionLevel():
				l.Words = append(l.Words, word(all[at]))
				at++
			case l.Flat:
				l.Words = append(l.Words, "null")
			}
		}
	}
}

func float(v float64) string { return fmt.Sprintf("f%016x", math.Float64bits(v)) }

func integer(c *schema.Column, v int64) string {
	switch t := c.LogicalType().(type) {
	case schema.DecimalLogicalType:
		return scaled(big.NewInt(v), int(t.Scale()))
	case schema.TimestampLogicalType:
		return fmt.Sprint("i", micros(v, t.TimeUnit()))
	case schema.TimeLogicalType:
		return fmt.Sprint("i", micros(v, t.TimeUnit()))
	case schema.IntLogicalType:
		if !t.IsSigned() && t.BitWidth() == 64 {
			return fmt.Sprint("i", uint64(v))
		}
		if !t.IsSigned() {
			return fmt.Sprint("i", uint32(v))
		}
	}
	return fmt.Sprint("i", v)
}

func micros(v int64, unit schema.TimeUnitType) int64 {
	switch unit {
	case schema.TimeUnitMillis:
		return v * 1000
	case schema.TimeUnitNanos:
		return v / 1000
	}
	return v
}

func text(c *schema.Column, b []byte) string {
	switch t := c.LogicalType().(type) {
	case schema.DecimalLogicalType:
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return scaled(n, int(t.Scale()))
	case schema.StringLogicalType, schema.EnumLogicalType, schema.JSONLogicalType:
		return "t" + hex.EncodeToString(b)
	case schema.UUIDLogicalType:
		return "t" + hex.EncodeToString(fmt.Appendf(nil, "%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
	case schema.Float16LogicalType:
		return half(binary.LittleEndian.Uint16(b))
	}
	return "b" + hex.EncodeToString(b)
}

// half is a float of 16 bits that is not subnormal.
func half(h uint16) string {
	sign, exponent, fraction := float64(1-2*int(h>>15)), int(h>>10&31), float64(h&1023)/1024
	switch {
	case exponent == 31:
		return float(math.Inf(int(sign)))
	case exponent == 0:
		return float(sign * math.Ldexp(fraction, -14))
	}
	return float(sign * math.Ldexp(1+fraction, exponent-15))
}

// scaled writes a decimal.
func scaled(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return "t" + hex.EncodeToString([]byte(digits))
}
