package view

import "fmt"

// A HexLine is up to sixteen bytes.
type HexLine struct {
	Off   string // of the first, "00000010"
	Hex   string // two digits each, with a space between
	ASCII string // the bytes that are printable ASCII, and a point for each other
}

// Hex returns lines of the first bytes of data, most at the most.
func Hex(data []byte, most int) []HexLine {
	data = data[:min(len(data), most)]
	var lines []HexLine
	for off := 0; off < len(data); off += 16 {
		part := data[off:min(off+16, len(data))]
		ascii := make([]byte, len(part))
		for i, c := range part {
			if ascii[i] = c; c < ' ' || c > '~' {
				ascii[i] = '.'
			}
		}
		lines = append(lines, HexLine{fmt.Sprintf("%08x", off), fmt.Sprintf("% x", part), string(ascii)})
	}
	return lines
}
