package picture

import "image"

// A chroma is a plane of which each sample stands for across × down pixels.
type chroma struct {
	samples       func(row int) []byte // at least width of them; valid until the second next call
	width, height int                  // samples that the picture has
	across, down  int
	out           []byte
}

func newChroma(width, height, across, down int, samples func(int) []byte) *chroma {
	width, height = (width+across-1)/across, (height+down-1)/down
	return &chroma{samples, width, height, across, down, make([]byte, width*across)}
}

// planes returns the chroma of a picture that begins at 0, 0, as those of decoders do.
func planes(m *image.YCbCr) (cb, cr *chroma) {
	across, down := 1, 1
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		across = 2
	case image.YCbCrSubsampleRatio420:
		across, down = 2, 2
	case image.YCbCrSubsampleRatio440:
		down = 2
	case image.YCbCrSubsampleRatio411:
		across = 4
	case image.YCbCrSubsampleRatio410:
		across, down = 4, 2
	}
	of := func(plane []byte) *chroma {
		return newChroma(m.Rect.Dx(), m.Rect.Dy(), across, down, func(row int) []byte { return plane[row*m.CStride:] })
	}
	return of(m.Cb), of(m.Cr)
}

// pair returns the samples of the row that pixel row y is in, and of the row above or below, whichever is nearer. The first and the last row have
// themselves beyond the edge.
func (c *chroma) pair(y int) (near, far []byte) {
	at := y / 2
	next := min(at+1, c.height-1)
	if y%2 == 0 {
		next = max(at-1, 0)
	}
	return c.samples(at)[:c.width], c.samples(next)[:c.width]
}

// row returns a value for each pixel of a row, valid until the next call. Each is that of libjpeg-turbo (jdsample.c): a weighted mean, 3 to 1, of
// the nearer and the next sample where they stand for two pixels. Samples that stand for four pixels are repeated, and so are those of two in
// a row of at most two.
func (c *chroma) row(y int) []byte {
	switch {
	case c.across == 1 && c.down == 1:
		return c.samples(y)
	case c.across == 1 && c.down == 2:
		near, far := c.pair(y)
		c.between(near, far, 1+y%2)
	case c.across == 2 && c.width > 2 && c.down == 1:
		c.along(c.samples(y)[:c.width])
	case c.across == 2 && c.width > 2 && c.down == 2:
		near, far := c.pair(y)
		c.both(near, far)
	default:
		for x, v := range c.samples(y / c.down)[:c.width] {
			for k := range c.across {
				c.out[x*c.across+k] = v
			}
		}
	}
	return c.out
}

// between interpolates between rows.
func (c *chroma) between(near, far []byte, bias int) {
	far = far[:len(near)]
	for x, v := range near {
		c.out[x] = byte((3*int(v) + int(far[x]) + bias) >> 2)
	}
}

// along interpolates between the samples of a row.
func (c *chroma) along(row []byte) {
	last := len(row) - 1
	out := c.out[:2*len(row)]
	out[0], out[2*last+1] = row[0], row[last]
	for x := range last { // pixels 2x+1 and 2x+2 lie between samples x and x+1
		a, b := int(row[x]), int(row[x+1])
		out[2*x+1] = byte((3*a + b + 2) >> 2)
		out[2*x+2] = byte((3*b + a + 1) >> 2)
	}
}

// both interpolates between rows and between samples, and rounds once.
func (c *chroma) both(near, far []byte) {
	far = far[:len(near)]
	last := len(near) - 1
	out := c.out[:2*len(near)]
	a := 3*int(near[0]) + int(far[0])
	out[0] = byte((4*a + 8) >> 4)
	for x := range last {
		b := 3*int(near[x+1]) + int(far[x+1])
		out[2*x+1] = byte((3*a + b + 7) >> 4)
		out[2*x+2] = byte((3*b + a + 8) >> 4)
		a = b
	}
	out[2*last+1] = byte((4*a + 7) >> 4)
}

// What chroma adds to luma, as libjpeg has it (jdcolor.c): products of 16 bits of fraction, rounded. Green is the sum of two, rounded together.
var redOf, greenOfCb, greenOfCr, blueOf = func() (r, g, h, b [256]int32) {
	const half = 1 << 15
	for i := range int32(256) {
		x := i - 128
		r[i] = (91881*x + half) >> 16  // 1.40200
		b[i] = (116130*x + half) >> 16 // 1.77200
		g[i] = -22554*x + half         // 0.34414
		h[i] = -46802 * x              // 0.71414
	}
	return r, g, h, b
}()

// toRGB converts a row. cb and cr have at least as many values as luma, dst has three times as many.
func toRGB(dst, luma, cb, cr []byte) {
	cb, cr, dst = cb[:len(luma)], cr[:len(luma)], dst[:3*len(luma)]
	for x, l := range luma {
		y, b, r := int32(l), cb[x], cr[x]
		rgb := dst[3*x : 3*x+3 : 3*x+3]
		rgb[0] = clamp(y + redOf[r])
		rgb[1] = clamp(y + (greenOfCb[b]+greenOfCr[r])>>16)
		rgb[2] = clamp(y + blueOf[b])
	}
}

func clamp(v int32) byte {
	if uint32(v) > 255 {
		v = ^(v >> 31)
	}
	return byte(v)
}
