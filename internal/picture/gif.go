package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/gif"
	"io"
)

// gifFrame is the memory of a frame without its pixels (palette, decoder state), in pixels.
const gifFrame = 4096

// gifPixels walks the blocks of a GIF and returns the number of pixels of all frames, plus
// gifFrame for each. The decoder holds all frames, and a small file can have many.
//
//	┌───────────┬──────────────────────────┬────────────────────────────────┬─────────┐
//	│ GIF89a 6  │ width 2, height 2,       │ blocks: 21 label 1, data;      │ trailer │
//	│           │ flags 1, 2; palette      │ 2C place 4, size 4, flags 1,   │ 3B      │
//	│           │ 3·2^(n+1) with flag 80   │ palette, code size 1, data     │         │
//	└───────────┴──────────────────────────┴────────────────────────────────┴─────────┘
//
// data is a list of sub-blocks, each a length byte and that number of bytes, up to one of length 0.
func gifPixels(data []byte) (int64, error) {
	r := bytes.NewReader(data)
	var head [13]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, err
	}
	skipPalette(r, head[10])
	pixels := int64(0)
	for {
		kind, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch kind {
		case 0x3B:
			return pixels, nil
		case 0x21:
			if err := checkExtension(r); err != nil {
				return 0, err
			}
		case 0x2C:
			var frame [9]byte
			if _, err := io.ReadFull(r, frame[:]); err != nil {
				return 0, err
			}
			width, height := binary.LittleEndian.Uint16(frame[4:]), binary.LittleEndian.Uint16(frame[6:])
			pixels += int64(width)*int64(height) + gifFrame
			skipPalette(r, frame[8])
			skip(r, 1)
		default:
			return 0, fmt.Errorf("the byte 0x%02x begins no block", kind)
		}
		for {
			n, err := r.ReadByte()
			if err != nil {
				return 0, err
			}
			if n == 0 {
				break
			}
			skip(r, int64(n))
		}
	}
}

// checkExtension moves past the label of an extension. It refuses a first sub-block that does not
// have the length of the standard: the decoder assumes the standard length and would find other
// frames than gifPixels counts.
func checkExtension(r *bytes.Reader) error {
	label, err := r.ReadByte()
	if err != nil {
		return err
	}
	size, err := r.ReadByte()
	if err != nil {
		return err
	}
	if label == 0x01 && size != 12 || label == 0xF9 && size != 4 || label == 0xFF && size == 0 {
		return fmt.Errorf("an extension 0x%02x of %d bytes", label, size)
	}
	return r.UnreadByte()
}

func skipPalette(r *bytes.Reader, flags byte) {
	if flags&0x80 != 0 {
		skip(r, 3<<(flags&7+1))
	}
}

// skip moves n bytes forward. If that is past the end, the next read returns io.EOF.
func skip(r *bytes.Reader, n int64) { r.Seek(n, io.SeekCurrent) }

// decodeGIF decodes all frames and returns the first.
func decodeGIF(data []byte) (image.Image, error) {
	g, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return g.Image[0], nil
}

// firstOfGIF decodes the first frame alone.
func firstOfGIF(data []byte) (image.Image, error) { return gif.Decode(bytes.NewReader(data)) }
