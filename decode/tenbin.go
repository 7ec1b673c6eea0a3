package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/heads"
)

// A file of arrays as webdataset has it (tenbin.py). Each array is two chunks, its head and its items. All numbers are little-endian.
//
//	┌────────────┬─────────┬────────┬───────────────────────────────────────┐
//	│ "~TenBin~" │ n       │ n      │ zeros up to a multiple of 64 bytes,   │
//	│ 8          │ i64     │ bytes  │ counted from the first of the n bytes │
//	└────────────┴─────────┴────────┴───────────────────────────────────────┘
//	head: type 8 bytes ("f4" and zeros), name 8 bytes, number of axes i64, length of each axis i64
const (
	tenbinMagic  = "~TenBin~"
	tenbinAlign  = 64
	tenbinFixed  = 3 * 8 // of a head, bytes
	tenbinOfAxis = 8
	mostAxes     = 32 // numpy's limit
)

// tenbinTypes are numpy's names of the types that such a file has.
var tenbinTypes = map[string]string{
	"f2": "<f2", "f4": "<f4", "f8": "<f8", "i1": "|i1", "i2": "<i2", "i4": "<i4", "i8": "<i8", "u1": "|u1", "u2": "<u2", "u4": "<u4", "u8": "<u8",
}

// tenbin decodes a file of arrays to a list of array files of numpy. An array that has a name is refused, since a list has no place for it.
func tenbin(_ *decoder, data []byte) (converters.Value, error) {
	list, all := []any{}, make([]byte, 0, len(data))
	for rest := data; len(rest) > 0; {
		head, items := []byte(nil), []byte(nil)
		var err error
		if head, rest, err = tenbinChunk(rest); err == nil {
			items, rest, err = tenbinChunk(rest)
		}
		if err != nil {
			return converters.Value{}, fmt.Errorf("array %d: %w", len(list), err)
		}
		descr, shape, err := tenbinHead(head, int64(len(items)))
		if err != nil {
			return converters.Value{}, fmt.Errorf("array %d: %w", len(list), err)
		}
		from := len(all)
		all = append(heads.AppendArray(all, descr, shape), items...)
		list = append(list, all[from:len(all):len(all)])
	}
	return converters.Nested(list), nil
}

// tenbinChunk returns the content of the first chunk and what follows it.
func tenbinChunk(data []byte) (content, rest []byte, err error) {
	if begin := data[:min(len(data), len(tenbinMagic))]; !strings.HasPrefix(tenbinMagic, string(begin)) {
		return nil, nil, malformed("a chunk begins with %q, not with %q", begin, tenbinMagic)
	}
	if len(data) < len(tenbinMagic)+8 {
		return nil, nil, malformed("the file ends too early")
	}
	n := binary.LittleEndian.Uint64(data[len(tenbinMagic):])
	data = data[len(tenbinMagic)+8:]
	if n > uint64(len(data)) || (n+tenbinAlign-1)/tenbinAlign*tenbinAlign > uint64(len(data)) {
		return nil, nil, malformed("a chunk of %d bytes, and %d follow", n, len(data))
	}
	return data[:n], data[(n+tenbinAlign-1)/tenbinAlign*tenbinAlign:], nil
}

// tenbinHead returns the type and the shape of an array with this number of bytes.
func tenbinHead(head []byte, items int64) (descr string, shape []int64, err error) {
	if len(head) < tenbinFixed || len(head)%tenbinOfAxis != 0 {
		return "", nil, malformed("a head of %d bytes", len(head))
	}
	short, name := strings.TrimRight(string(head[:8]), "\x00"), strings.TrimRight(string(head[8:16]), "\x00")
	descr, ok := tenbinTypes[short]
	if !ok {
		return "", nil, malformed("no array has the type %q", short)
	}
	if name != "" {
		return "", nil, fmt.Errorf("%w: it has the name %q, and decoded it would have none", converters.ErrUnsupported, name)
	}
	axes := binary.LittleEndian.Uint64(head[16:])
	if axes > mostAxes || int(axes)*tenbinOfAxis != len(head)-tenbinFixed {
		return "", nil, malformed("%d axes, and a head of %d bytes", axes, len(head))
	}
	want, fits := int64(short[1]-'0'), true
	for at := tenbinFixed; at < len(head); at += tenbinOfAxis {
		n := int64(binary.LittleEndian.Uint64(head[at:]))
		if fits = fits && n >= 0 && (n == 0 || want <= math.MaxInt64/n); fits {
			want *= n
		}
		shape = append(shape, n)
	}
	if !fits || want != items {
		return "", nil, malformed("%d bytes of items, and the shape %v of %s wants others", items, shape, short)
	}
	return descr, shape, nil
}

// AppendTenbin appends a file of arrays as webdataset's tenbin has it, which [NewField] decodes to x, a list of array files of numpy in C
// order. It reports false, and appends nothing, if x is something else.
func AppendTenbin(b []byte, x any) ([]byte, bool) {
	list, ok := x.([]any)
	if !ok {
		return b, false
	}
	from := len(b)
	for _, x := range list {
		file, ok := x.([]byte)
		if !ok {
			return b[:from], false
		}
		head, items, ok := tenbinOf(file)
		if !ok {
			return b[:from], false
		}
		b = appendTenbinChunk(appendTenbinChunk(b, head), items)
	}
	return b, true
}

func appendTenbinChunk(b, content []byte) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, tenbinMagic...), uint64(len(content)))
	b = append(b, content...)
	return append(b, make([]byte, -len(content)&(tenbinAlign-1))...)
}

// tenbinOf returns the head and the items of an array file, if its head is one that the function tenbin writes.
func tenbinOf(file []byte) (head, items []byte, ok bool) {
	short, shape := npyType().FindSubmatch(file[:min(len(file), 1<<10)]), npyShape().FindSubmatch(file[:min(len(file), 1<<10)])
	if short == nil || shape == nil || verifyNPY(file) != nil {
		return nil, nil, false
	}
	name := string(short[1]) + string(short[2])
	var axes []int64
	for edge := range strings.SplitSeq(string(shape[1]), ",") {
		var n int64
		if edge = strings.TrimSpace(edge); edge == "" {
			continue
		}
		if _, err := fmt.Sscan(edge, &n); err != nil {
			return nil, nil, false
		}
		axes = append(axes, n)
	}
	plain := heads.AppendArray(nil, tenbinTypes[name], axes)
	if tenbinTypes[name] == "" || len(axes) > mostAxes || !bytes.HasPrefix(file, plain) {
		return nil, nil, false
	}
	head = append(slices.Grow([]byte(name), 8), make([]byte, 16-len(name))...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(axes)))
	for _, n := range axes {
		head = binary.LittleEndian.AppendUint64(head, uint64(n))
	}
	return head, file[len(plain):], true
}
