package view

import (
	"fmt"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// maxScans is how many scans of a JPEG are decoded. Each goes over all pixels, and takes ten bytes of the file; encoders make about ten.
const maxScans = 200

// cost returns how many bytes decoding may take, at most, by what the decoders allocate, and which way up a JPEG is.
func cost(h picture.Head, data []byte) (need int64, turn turn, err error) {
	strips := int64(h.Width)*4*2*stripRows + 1<<20 // what shrink takes, and small things
	pixels := int64(h.Width) * int64(h.Height)
	switch h.Type.Name {
	case "JPEG":
		j := readJPEG(data)
		if n := countScans(data); n > maxScans {
			return 0, 0, fmt.Errorf("%w: a JPEG of %d × %d pixels with %d scans, and %d are allowed", picture.ErrUnchecked, h.Width, h.Height, n, maxScans)
		}
		return j.memory(h.Width, h.Height) + strips, j.turn, nil
	case "PNG":
		return pixels*pngBytes(data) + strips, 0, nil
	case "GIF":
		return pixels + strips, 0, nil
	}
	return webpBytes(h, data) + strips, 0, nil
}

// pngBytes returns the bytes of memory for each pixel. The head of a PNG is 8 bytes, then a length and IHDR, width and height of 4 bytes each,
// bit depth, type of colour, compression, filter, interlace. The decoder makes alpha of what a later chunk calls transparent.
func pngBytes(data []byte) int64 {
	depth, colour, interlace := data[24], data[25], data[28]
	n := int64(4)
	if colour == 3 {
		n = 1
	} else if depth == 16 {
		n = 8
	}
	if interlace != 0 {
		n *= 2 // the passes are images of their own
	}
	return n
}

// webpBytes: a lossless image, or the alpha of another, is two images of 4 bytes a pixel at times, and up to 65,536 groups of five Huffman trees,
// one for each square of 4 pixels at most, some bits of the file each.
func webpBytes(h picture.Head, data []byte) int64 {
	groups := min(1<<16, (int64(h.Width)/4+1)*(int64(h.Height)/4+1), int64(len(data)))
	return (int64(h.Width)+16)*(int64(h.Height)+16)*12 + groups*5*(512+64)
}
