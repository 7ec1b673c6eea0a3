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

// ToRGB converts a picture into dst, which it reallocates if it is too small. See [NewRows] for its colours.
func ToRGB(dst []byte, m image.Image) RGB {
	r := m.Bounds()
	n := r.Dx() * r.Dy() * 3
	if cap(dst) < n {
		dst = make([]byte, n)
	}
	out := RGB{r.Dx(), r.Dy(), dst[:n]}
	rows := NewRows(m)
	for y := range out.Height {
		rows.Read(out.Pix[y*out.Width*3:(y+1)*out.Width*3], y)
	}
	return out
}

// rows reads a decoded picture row by row as RGB. Like Pillow's convert("RGB") it drops the alpha channel, repeats grey, takes palettes by their
// colours and multiplies inks. Chroma with fewer samples than there are pixels is interpolated as libjpeg and libwebp do. Of 16 bits it keeps the
// upper 8. It must not be used concurrently.
type rows struct {
	m      image.Image
	box    image.Rectangle
	cb, cr *chroma
	inks   []byte // of a row, the first and the last component
}

// NewRows returns the rows of a picture that this package has decoded.
func NewRows(m image.Image) *rows {
	r := &rows{m: m, box: m.Bounds()}
	switch m := m.(type) {
	case *image.YCbCr:
		r.cb, r.cr = planes(m)
	case *video:
		r.cb, r.cr = planes(&m.m.YCbCr)
	case *inks:
		r.cb, r.cr = m.chroma(1), m.chroma(2)
		r.inks = make([]byte, 2*r.box.Dx())
	}
	return r
}

// Read writes row y of the picture, from 0, into dst, 3 bytes a pixel.
func (r *rows) Read(dst []byte, y int) {
	width, x0 := r.box.Dx(), r.box.Min.X
	switch m := r.m.(type) {
	case *image.YCbCr:
		toRGB(dst, m.Y[m.YOffset(x0, r.box.Min.Y+y):][:width], r.cb.row(y), r.cr.row(y))
	case *video:
		m.row(dst[:3*width], y, r.cb, r.cr)
	case *inks:
		m.row(dst[:3*width], y, r)
	case *image.Gray:
		grey := m.Pix[m.PixOffset(x0, r.box.Min.Y+y):]
		for x := range width {
			dst[3*x], dst[3*x+1], dst[3*x+2] = grey[x], grey[x], grey[x]
		}
	case *image.RGBA: // of the decoders here, without transparency
		copyRGB(dst, m.Pix[m.PixOffset(x0, r.box.Min.Y+y):], width)
	case *image.NRGBA:
		copyRGB(dst, m.Pix[m.PixOffset(x0, r.box.Min.Y+y):], width)
	default:
		for x := range width {
			dst[3*x], dst[3*x+1], dst[3*x+2] = opaque(m.At(x0+x, r.box.Min.Y+y))
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
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return n.R, n.G, n.B
}
