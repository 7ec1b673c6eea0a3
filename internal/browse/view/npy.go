package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/x448/float16"

	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/text"
)

// maxHeader limits the header of an array, in bytes. NumPy writes some hundred.
const maxHeader = 64 << 10

// The header of an array is a Python dictionary of three members, which NumPy writes in this order.
var npyHeader = text.Pattern(`^\{'descr': '([<>|=]?)([biufc?])([0-9]{0,2})', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? *\}\s*$`)

var npySizes = map[byte][]int{'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8}, 'c': {8, 16}}

// array shows a NumPy array.
//
//	93 "NUMPY"   version 2 (1.0, 2.0, 3.0)   length of the header 2, from version 2.0 on 4   header   numbers
//
// It returns false if data is not such a file. An array of another type, or a truncated one, is shown as bytes, with a
// Problem.
func (v *viewer) array(f *Field, data []byte) bool {
	rest, ok := bytes.CutPrefix(data, []byte("\x93NUMPY"))
	if !ok || len(rest) < 6 {
		return false
	}
	head, at := int(binary.LittleEndian.Uint16(rest[2:])), 4
	if rest[0] >= 2 {
		head, at = int(min(binary.LittleEndian.Uint32(rest[2:]), maxHeader+1)), 6
	}
	f.Kind, f.Type, f.Hex, f.Cut = kindHex, "NumPy array", Hex(data, v.limits.Hex), len(data) > v.limits.Hex
	if head > maxHeader || head > len(rest)-at {
		f.Problem = "the header of the array is cut"
		return true
	}
	a, err := parseArray(rest[at:at+head], rest[at+head:])
	if f.Problem = err; err != "" {
		return true
	}
	f.Type, f.Shape = "NumPy array of "+a.name(), join(a.shape)
	if len(a.shape) == 0 {
		f.Kind, f.Text, f.Hex, f.Cut = kindValue, a.number(a.data), nil, false
		return true
	}
	if a.count > 0 {
		f.Hex = nil
		v.table(f, a.shape, a.at)
	}
	return true
}

// An array is numbers in memory.
type array struct {
	order   binary.ByteOrder
	kind    byte // NumPy's kind: b, i, u, f, c
	size    int  // bytes per number
	fortran bool // the first index changes fastest
	shape   []int
	count   int
	data    []byte
}

// parseArray parses a header, and returns the array or a problem with it.
func parseArray(header, data []byte) (a array, problem string) {
	m := npyHeader().FindSubmatch(header)
	if m == nil {
		return a, "not an array of numbers: " + text.Line(string(header[:min(len(header), 80)]))
	}
	a = array{order: binary.LittleEndian, kind: m[2][0], fortran: m[4][0] == 'T', count: 1, data: data}
	if string(m[1]) == ">" {
		a.order = binary.BigEndian
	}
	if a.size, _ = strconv.Atoi(string(m[3])); a.kind == '?' {
		a.kind, a.size = 'b', 1
	}
	if !slices.Contains(npySizes[a.kind], a.size) {
		return a, fmt.Sprintf("numbers of the type %c%d are not shown", a.kind, a.size)
	}
	const most = 1 << 40 // exceeds the numbers of any field
	for word := range strings.SplitSeq(string(m[5]), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		n, err := strconv.ParseInt(word, 10, 40)
		if err != nil || len(a.shape) == maxDepth {
			return a, "not an array of numbers: " + text.Line(string(header[:min(len(header), 80)]))
		}
		if n > 0 && a.count > most/int(n) {
			a.count = most
		} else {
			a.count *= int(n)
		}
		a.shape = append(a.shape, int(n))
	}
	if a.count > len(data)/a.size {
		return a, fmt.Sprintf("the array is cut: %s for the shape %s", text.Count(int64(len(data)), "byte"), join(a.shape))
	}
	return a, ""
}

func (a array) name() string {
	names := map[byte]string{'b': "bool", 'i': "int", 'u': "uint", 'f': "float", 'c': "complex"}
	if a.kind == 'b' {
		return names['b']
	}
	return names[a.kind] + strconv.Itoa(8*a.size)
}

// at formats the number at an index.
func (a array) at(index []int) (string, bool) {
	place := 0
	if a.fortran {
		for i := len(index) - 1; i >= 0; i-- {
			place = place*a.shape[i] + index[i]
		}
	} else {
		for i := range index {
			place = place*a.shape[i] + index[i]
		}
	}
	return a.number(a.data[place*a.size:]), true
}

// number formats the number at the start of b.
func (a array) number(b []byte) string {
	switch a.kind {
	case 'b':
		return strconv.FormatBool(b[0] != 0)
	case 'f':
		return a.float(b, a.size)
	case 'c':
		im := a.float(b[a.size/2:], a.size/2)
		if !strings.HasPrefix(im, "-") {
			im = "+" + im
		}
		return a.float(b, a.size/2) + im + "j"
	}
	var n uint64
	switch a.size {
	case 1:
		n = uint64(b[0])
	case 2:
		n = uint64(a.order.Uint16(b))
	case 4:
		n = uint64(a.order.Uint32(b))
	default:
		n = a.order.Uint64(b)
	}
	if a.kind == 'u' {
		return strconv.FormatUint(n, 10)
	}
	shift := 64 - 8*a.size
	return strconv.FormatInt(int64(n<<shift)>>shift, 10)
}

// float formats a floating-point number with as many digits as its type has.
func (a array) float(b []byte, size int) string {
	switch size {
	case 2:
		return short(float16.Frombits(a.order.Uint16(b)).Float32())
	case 4:
		return short(math.Float32frombits(a.order.Uint32(b)))
	}
	return string(jsonvalue.AppendFloat(nil, math.Float64frombits(a.order.Uint64(b))))
}

func short(x float32) string { return strconv.FormatFloat(float64(x), 'g', -1, 32) }
