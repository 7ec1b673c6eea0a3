package view

import "fmt"

// A HexLine is up to sixteen bytes.
type HexLine struct {
	Off   string // offset of the first byte, "00000010"
	Hex   string // two digits per byte, separated by spaces
	ASCII string // printable ASCII characters, a point for other bytes
}

// Hex returns lines for the first bytes of data, at most most bytes.
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
