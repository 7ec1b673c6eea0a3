package csv

// What Python's csv module makes of a part, behind its delimiter, and float() of its
// values.
const pythonCSV = `
import struct, csv, io
import numpy
csv.field_size_limit(1 << 30)
def bits(s):
    try:
        return struct.pack(">d", float(s)).hex()
    except ValueError:
        return ""
def reply(data):
    delimiter, text = data[:1].decode(), data[1:].decode("utf-8-sig")
    rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if r]
    floats = [[bits(s) for s in r] for r in rows]
    packed = ["" if "" in f else numpy.array([float(s) for s in r]).tobytes().hex() for f, r in zip(floats, rows)]
    return {"Rows": rows, "Floats": floats, "Packed": packed}
`

// A pythonAnswer has the text, the float64 bits and, where all are numbers, the
// numpy array of each row.
type pythonAnswer struct {
	Rows   [][]string
	Floats [][]string
	Packed []string
}
