package view

import (
	"bytes"
	"encoding/binary"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// A jpegHead is the content of the segments of a JPEG before its first scan.
type jpegHead struct {
	known       bool // the frame is where the standard has it; otherwise the most expensive form is assumed
	progressive bool
	rgb         bool   // the components may be red, green and blue
	sampling    []byte // per component: horizontal and vertical factor, 4 bits each
	turn        turn
}

// readJPEG walks the segments up to the frame.
//
//	FFD8  then segments: FF, marker 1, length 2 (itself and the data), data
//	FFE1  "Exif" 0 0, then a TIFF: byte order "II" or "MM", 42, offset 4 of a list: count 2, entries tag 2, type 2, count 4, value 4
//	FFC0… a frame: bits 1, height 2, width 2, components 1, then of each: number 1, sampling 1, table 1; FFC2 is progressive
func readJPEG(data []byte) (h jpegHead) {
	jfif, adobe := false, bytes.Contains(data, []byte("Adobe"))
	data = data[2:]
	for len(data) >= 4 && data[0] == 0xff {
		marker, n := data[1], 2+int(binary.BigEndian.Uint16(data[2:]))
		if n > len(data) {
			return h
		}
		body := data[min(4, n):n]
		switch {
		case marker == 0xff: // padding
			data = data[1:]
			continue
		case marker == 0xe0:
			jfif = jfif || bytes.HasPrefix(body, []byte("JFIF\x00"))
		case marker == 0xe1:
			h.turn = max(h.turn, readTurn(body))
		case marker >= 0xc0 && marker <= 0xc2:
			if len(body) < 6 || len(body) != 6+3*int(body[5]) {
				return h
			}
			var names []byte
			for i := 6; i < len(body); i += 3 {
				names, h.sampling = append(names, body[i]), append(h.sampling, body[i+1])
			}
			h.known, h.progressive = true, marker == 0xc2
			h.rgb = !jfif && (adobe || string(names) == "RGB")
			return h
		case marker < 0xc0 || marker >= 0xd0 && marker <= 0xda: // a scan before a frame, or not a segment
			return h
		}
		data = data[n:]
	}
	return h
}

// countScans returns how many scans of a JPEG the decoder reads: up to the end of the picture, after which a camera may
// have appended a film. Between segments, and in the data of a scan, it skips all bytes up to an FF that is followed by
// neither 0 nor a restart.
func countScans(data []byte) (n int) {
	for {
		at := bytes.IndexByte(data, 0xff)
		if at < 0 || len(data)-at < 4 {
			return n
		}
		data = data[at+1:]
		switch marker := data[0]; {
		case marker == 0xff: // padding
		case marker == 0xd9: // the end
			return n
		case marker == 0 || marker == 1 || marker >= 0xd0 && marker <= 0xd8: // without a length
			data = data[1:]
		default:
			if marker == 0xda {
				n++
			}
			data = data[min(len(data), 1+int(binary.BigEndian.Uint16(data[1:]))):]
		}
	}
}

// memory returns the bytes that the decoder allocates for a picture of this size. It decodes whole blocks of 8 × 8
// samples times the sampling factors; for a progressive picture it keeps all coefficients, 4 bytes each; for CMYK and
// RGB it makes another picture of 4 bytes per pixel.
func (h jpegHead) memory(width, height int) int64 {
	area := (int64(width) + 31) &^ 31 * ((int64(height) + 31) &^ 31)
	if !h.known {
		return area * (4*5 + 4)
	}
	across, down := 1, 1
	for _, s := range h.sampling {
		across, down = max(across, int(s>>4)), max(down, int(s&15))
	}
	samples := int64(0)
	for _, s := range h.sampling {
		samples += area * int64(s>>4) * int64(s&15) / int64(across*down)
	}
	if len(h.sampling) == 1 {
		samples = area
	}
	n := samples
	if h.progressive {
		n += 4 * samples
	}
	if h.rgb || len(h.sampling) == 4 {
		n += 4 * area
	}
	return n
}

// A turn is the orientation in Exif: how to turn a picture upright. 0 and 1: unchanged, 2: mirrored, 3: by 180°, 4:
// upside down, 5 to 8: the first four with rows and columns exchanged.
type turn uint8

const orientation = 0x0112

// readTurn returns the orientation in an Exif segment, 0 if it has none.
func readTurn(b []byte) turn {
	b, ok := bytes.CutPrefix(b, []byte("Exif\x00\x00"))
	if !ok || len(b) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(b[:2]) == "MM" {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(b[4:]))
	if at+2 > int64(len(b)) {
		return 0
	}
	entries := b[at+2:]
	for range order.Uint16(b[at:]) {
		if len(entries) < 12 {
			return 0
		}
		if order.Uint16(entries) == orientation {
			if v := order.Uint16(entries[8:]); v <= 8 {
				return turn(v)
			}
			return 0
		}
		entries = entries[12:]
	}
	return 0
}

// apply turns a picture upright.
func (t turn) apply(p picture.RGB) picture.RGB {
	if t < 2 {
		return p
	}
	out := picture.RGB{Width: p.Width, Height: p.Height, Pix: make([]byte, len(p.Pix))}
	if t >= 5 {
		out.Width, out.Height = p.Height, p.Width
	}
	for y := range out.Height {
		for x := range out.Width {
			fx, fy := x, y // in the stored picture
			if t >= 5 {
				fx, fy = y, x
			}
			if t == 2 || t == 3 || t == 7 || t == 8 {
				fx = p.Width - 1 - fx
			}
			if t == 3 || t == 4 || t == 6 || t == 7 {
				fy = p.Height - 1 - fy
			}
			copy(out.Pix[3*(y*out.Width+x):][:3], p.Pix[3*(fy*p.Width+fx):][:3])
		}
	}
	return out
}
