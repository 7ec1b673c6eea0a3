package picture

import (
	"image"
	"image/color"
)

// An RGB is a picture as 8-bit red, green and blue, row by row, without padding: height × width × 3 bytes.
type RGB struct {
	Width, Height int
	Pix           []byte
}

// ToRGB converts a picture into dst, which it allocates anew if it is too small. Like Pillow's convert("RGB") it drops the alpha channel, repeats
// grey, and takes palettes by their colours. Of 16 bits it keeps the upper 8.
func ToRGB(dst []byte, m image.Image) RGB {
	r := m.Bounds()
	n := r.Dx() * r.Dy() * 3
	if cap(dst) < n {
		dst = make([]byte, n)
	}
	out := RGB{r.Dx(), r.Dy(), dst[:n]}
	for y := range out.Height {
		out.row(out.Pix[y*out.Width*3:(y+1)*out.Width*3], m, r.Min.X, r.Min.Y+y)
	}
	return out
}

// row converts the row of m that begins at (x0, y) into dst.
func (p *RGB) row(dst []byte, m image.Image, x0, y int) {
	switch m := m.(type) {
	case *image.YCbCr:
		at := m.YOffset(x0, y)
		for x := range p.Width {
			c := m.COffset(x0+x, y)
			dst[3*x], dst[3*x+1], dst[3*x+2] = color.YCbCrToRGB(m.Y[at+x], m.Cb[c], m.Cr[c])
		}
	case *image.Gray:
		grey := m.Pix[m.PixOffset(x0, y):]
		for x := range p.Width {
			dst[3*x], dst[3*x+1], dst[3*x+2] = grey[x], grey[x], grey[x]
		}
	case *image.RGBA: // of the decoders here, without transparency
		copyRGB(dst, m.Pix[m.PixOffset(x0, y):], p.Width)
	case *image.NRGBA:
		copyRGB(dst, m.Pix[m.PixOffset(x0, y):], p.Width)
	default:
		for x := range p.Width {
			dst[3*x], dst[3*x+1], dst[3*x+2] = opaque(m.At(x0+x, y))
		}
	}
}

func copyRGB(dst, rgba []byte, width int) {
	for x := range width {
		copy(dst[3*x:3*x+3], rgba[4*x:4*x+3])
	}
}

// opaque returns a colour without its alpha.
func opaque(c color.Color) (r, g, b uint8) {
	switch c := c.(type) {
	case color.NRGBA:
		return c.R, c.G, c.B
	case color.NRGBA64:
		return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
	case color.NYCbCrA:
		return color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return n.R, n.G, n.B
}
