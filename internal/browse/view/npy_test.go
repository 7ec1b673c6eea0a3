package view

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// npy returns an array as NumPy writes it.
func npy(descr string, fortran bool, shape string, numbers any) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	return npyOf(fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape), numbers)
}

func npyOf(header string, numbers any) []byte {
	header += strings.Repeat(" ", (64-(11+len(header))%64)%64) + "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(header)))
	b, err := binary.Append(append(b, header...), binary.LittleEndian, numbers)
	if err != nil {
		panic(err)
	}
	return b
}

func TestArrays(t *testing.T) {
	t.Parallel()
	second := npy("<i2", false, "(2,)", []int16{1, -2})
	second[6] = 2
	second = append(append(second[:8:8], append(second[8:10:10], 0, 0)...), second[10:]...)
	for _, row := range []struct {
		name  string
		data  []byte
		of    string // "NumPy array of" it
		shape string
		table string
		cut   bool
	}{
		{"int64", npy("<i8", false, "(3,)", []int64{1, -2, math.MaxInt64}), "int64", "3", `[["1","-2","9223372036854775807"]]`, false},
		{"uint64", npy("<u8", false, "(1,)", []uint64{math.MaxUint64}), "uint64", "1", `[["18446744073709551615"]]`, false},
		{"int32", npy("<i4", false, "(2,)", []int32{math.MinInt32, 7}), "int32", "2", `[["-2147483648","7"]]`, false},
		{"uint8", npy("|u1", false, "(2, 2)", []byte{0, 255, 1, 2}), "uint8", "2 × 2", `[["0","255"],["1","2"]]`, false},
		{"int8", npy("|i1", false, "(1,)", []int8{-1}), "int8", "1", `[["-1"]]`, false},
		{"float32", npy("<f4", false, "(3,)", []float32{0.1, 2, float32(math.NaN())}), "float32", "3", `[["0.1","2","NaN"]]`, false},
		{"float64", npy("<f8", false, "(2,)", []float64{0.1, math.Inf(-1)}), "float64", "2", `[["0.1","-inf"]]`, false},
		{"float16", npy("<f2", false, "(2,)", []uint16{0x3c00, 0xc000}), "float16", "2", `[["1","-2"]]`, false},
		{"complex", npy("<c16", false, "(1,)", []float64{1.5, -2}), "complex128", "1", `[["1.5-2.0j"]]`, false},
		{"bool", npy("|b1", false, "(2,)", []byte{0, 1}), "bool", "2", `[["false","true"]]`, false},
		{"big-endian", npy(">i2", false, "(2,)", []byte{0, 1, 1, 0}), "int16", "2", `[["1","256"]]`, false},
		{"fortran", npy("|u1", true, "(2, 3)", []byte{1, 4, 2, 5, 3, 6}), "uint8", "2 × 3", `[["1","2","3"],["4","5","6"]]`, false},
		{"three dimensions", npy("|u1", false, "(2, 1, 2)", []byte{1, 2, 3, 4}), "uint8", "2 × 1 × 2", `[["1","2"]]`, true},
		{"version 2", second, "int16", "2", `[["1","-2"]]`, false},
		{"one number", npy("<f8", false, "()", []float64{2.5}), "float64", "", `null`, false},
		{"no numbers", npy("<f8", false, "(0, 5)", []float64{}), "float64", "0 × 5", `null`, false},
		{"no numbers, many", npy("<f8", false, "(1000000000, 1000000000, 0)", []float64{}), "float64", "1000000000 × 1000000000 × 0", `null`, false},
		{"many", npy("|u1", false, "(1000,)", make([]byte, 1000)), "uint8", "1000", "", true},
	} {
		f := Fields(sampleOf(converters.Bytes(row.data)))[0]
		table, _ := json.Marshal(f.Table)
		if f.Type != "NumPy array of "+row.of || f.Shape != row.shape || row.table != "" && string(table) != row.table || f.Problem != "" || row.table != "null" && f.Cut != row.cut {
			t.Errorf("%s: %s", row.name, show(f))
		}
		for n := range row.data {
			if f := Fields(sampleOf(converters.Bytes(row.data[:n])))[0]; n >= 12 && row.of != "" && f.Problem == "" && f.Kind == kindNumbers {
				t.Errorf("%s, cut to %d of %d bytes: %s", row.name, n, len(row.data), show(f))
			}
		}
	}
	if f := Fields(sampleOf(converters.Bytes(npy("<f8", false, "()", []float64{2.5}))))[0]; f.Kind != kindValue || f.Text != "2.5" {
		t.Errorf("one number: %s", show(f))
	}
}

// Each row is a header that is not shown as numbers.
func TestArraysRefused(t *testing.T) {
	t.Parallel()
	const dict = "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
	for name, row := range map[string]struct{ header, problem string }{
		"objects":          {strings.Replace(dict, "<f8", "|O", 1), "not an array of numbers"},
		"text":             {strings.Replace(dict, "<f8", "<U5", 1), "not an array of numbers"},
		"records":          {strings.Replace(dict, "'<f8'", "[('a', '<f8')]", 1), "not an array of numbers"},
		"program":          {strings.Replace(dict, "'<f8'", "__import__('os').system('true')", 1), "not an array of numbers"},
		"size":             {strings.Replace(dict, "<f8", "<f3", 1), "f3 are not shown"},
		"no size":          {strings.Replace(dict, "<f8", "<f", 1), "f0 are not shown"},
		"long double":      {strings.Replace(dict, "<f8", "<f16", 1), "f16 are not shown"},
		"large":            {strings.Replace(dict, "(1,)", "(2,)", 1), "the array is cut: 8 bytes for the shape 2"},
		"larger":           {strings.Replace(dict, "(1,)", "(1099511627775, 1099511627775)", 1), "too many"},
		"overflow":         {strings.Replace(dict, "(1,)", "(4294967296, 4294967296)", 1), "the array is cut"},
		"larger than int":  {strings.Replace(dict, "(1,)", "(99999999999999999999,)", 1), "not an array of numbers"},
		"negative":         {strings.Replace(dict, "(1,)", "(-1,)", 1), "not an array of numbers"},
		"two numbers":      {strings.Replace(dict, "(1,)", "(1 1)", 1), "not an array of numbers"},
		"many dimensions":  {strings.Replace(dict, "(1,)", "("+strings.Repeat("1,", 33)+")", 1), "not an array of numbers"},
		"control":          {"{'\x1b[2J\u202e", `not an array of numbers: {'\x1b[2J\u202e`},
		"without a header": {"", "not an array of numbers"},
	} {
		f := Fields(sampleOf(converters.Bytes(npyOf(row.header, []float64{1}))))[0]
		if row.problem == "too many" {
			row.problem = "not an array of numbers"
		}
		if f.Kind != kindHex || len(f.Hex) == 0 || !strings.Contains(f.Problem, row.problem) || f.Table != nil {
			t.Errorf("%s: %s", name, show(f))
		}
	}
}
