package view

import (
	"fmt"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// maxScans is how many scans of a JPEG are decoded. A scan may have ten bytes in the file and covers all pixels;
// encoders write about ten scans.
const maxScans = 200

// cost returns an upper bound on the bytes that the decoders allocate, and the orientation of a JPEG.
func cost(h picture.Head, data []byte) (need int64, turn turn, err error) {
	strips := int64(h.Width)*4*2*stripRows + 1<<20 // for shrink, and small allocations
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

// pngBytes returns the bytes of memory per pixel. The head of a PNG is 8 bytes, then a length and IHDR, width and
// height of 4 bytes each, bit depth, colour type, compression, filter, interlace. The decoder converts to alpha if a
// later chunk defines transparent colours.
func pngBytes(data []byte) int64 {
	depth, colour, interlace := data[24], data[25], data[28]
	n := int64(4)
	if colour == 3 {
		n = 1
	} else if depth == 16 {
		n = 8
	}
	if interlace != 0 {
		n *= 2 // each pass is an image
	}
	return n
}

// webpBytes returns the memory of a WebP. A lossless image, or the alpha of another, takes up to two images of 4 bytes
// per pixel, and up to 65,536 groups of five Huffman trees, at most one for each square of 4 pixels, of a few bits each
// in the file.
func webpBytes(h picture.Head, data []byte) int64 {
	groups := min(1<<16, (int64(h.Width)/4+1)*(int64(h.Height)/4+1), int64(len(data)))
	return (int64(h.Width)+16)*(int64(h.Height)+16)*12 + groups*5*(512+64)
}
