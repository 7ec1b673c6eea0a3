package view

import "fmt"

// A HexLine is up to sixteen bytes.
type HexLine struct {
	Off   string // of the first, "00000010"
	Hex   string // two digits each, with a space between
	ASCII string // the bytes that are printable ASCII, and a point for each other
}

// Hex returns lines of at most some bytes of data, from the offset off on.
func Hex(data []byte, off int64, most int) []HexLine {
	off = max(0, min(off, int64(len(data))))
	data = data[off:]
	data = data[:max(0, min(len(data), most))]
	var lines []HexLine
	for len(data) > 0 {
		part := data[:min(16, len(data))]
		data = data[len(part):]
		ascii := make([]byte, len(part))
		for i, c := range part {
			if ascii[i] = c; c < ' ' || c > '~' {
				ascii[i] = '.'
			}
		}
		lines = append(lines, HexLine{fmt.Sprintf("%08x", off), fmt.Sprintf("% x", part), string(ascii)})
		off += int64(len(part))
	}
	return lines
}
