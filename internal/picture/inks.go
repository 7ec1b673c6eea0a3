package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"io"
)

// inks is a JPEG of four components: cyan, magenta, yellow and black, or luma, two of chroma and black. Programs of Adobe store inks inverted, 255 for
// none, and like Pillow this takes all as stored so.
type inks struct {
	m    *image.CMYK // each component inverted, the second and the third repeated where half is set
	luma bool        // the first three are YCbCr
	half bool        // the second and the third have a sample for 2 × 2 pixels
}

func (p *inks) Bounds() image.Rectangle { return p.m.Rect }
func (p *inks) ColorModel() color.Model { return color.RGBAModel }
func (p *inks) Opaque() bool            { return true }

// At returns a colour without interpolation: use [NewRows].
func (p *inks) At(x, y int) color.Color {
	if !(image.Point{x, y}).In(p.m.Rect) {
		return color.RGBA{}
	}
	at := p.m.Pix[p.m.PixOffset(x, y):]
	var rgb [3]byte
	p.mix(rgb[:], []byte{^at[0]}, []byte{^at[1]}, []byte{^at[2]}, []byte{^at[3]})
	return color.RGBA{rgb[0], rgb[1], rgb[2], 255}
}

// chroma returns component 1 or 2, from as many samples as the JPEG has.
func (p *inks) chroma(component int) *chroma {
	step := 1
	if p.half {
		step = 2
	}
	width := p.m.Rect.Dx()
	var rows [2][]byte
	for i := range rows {
		rows[i] = make([]byte, (width+step-1)/step)
	}
	return newChroma(width, p.m.Rect.Dy(), step, step, func(row int) []byte {
		rows[0], rows[1] = rows[1], rows[0]
		from := p.m.Pix[row*step*p.m.Stride+component:]
		for x := range rows[0] {
			rows[0][x] = ^from[4*step*x]
		}
		return rows[0]
	})
}

func (p *inks) row(dst []byte, y int, r *rows) {
	from := p.m.Pix[y*p.m.Stride:]
	width := len(r.inks) / 2
	first, black := r.inks[:width], r.inks[width:]
	for x := range width {
		first[x], black[x] = ^from[4*x], ^from[4*x+3]
	}
	p.mix(dst, first, r.cb.row(y), r.cr.row(y), black)
}

// mix converts a row of stored components, as Pillow's Convert.c does.
func (p *inks) mix(dst, first, second, third, black []byte) {
	if p.luma {
		toRGB(dst, first, second, third)
	} else {
		for x := range first {
			dst[3*x], dst[3*x+1], dst[3*x+2] = ^first[x], ^second[x], ^third[x]
		}
	}
	for x, k := range black {
		for i, ink := range dst[3*x : 3*x+3] {
			n := int(ink)*int(k) + 128
			dst[3*x+i] = k - byte((n>>8+n)>>8)
		}
	}
}

// decodeJPEG decodes a JPEG. One of four components is decoded as if it had no luma, because the decoder converts luma without interpolation.
//
//	FFEE  "Adobe", version 2, flags 2 and 2, transform 1: 0 means that the components are inks
//	FFC0… a frame: bits 1, height 2, width 2, components 1, then of each: number 1, sampling 1, table 1
func decodeJPEG(data []byte) (image.Image, error) {
	const adobe, transform = "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00", 11
	marked, four := -1, inks{}
	for rest := data; ; {
		at := bytes.IndexByte(rest, 0xff)
		if at < 0 || len(rest)-at < 4 {
			return jpeg.Decode(bytes.NewReader(data))
		}
		rest = rest[at+1:]
		marker, body := rest[0], rest[3:]
		if marker == 0 || marker == 1 || marker == 0xff || marker >= 0xd0 && marker <= 0xd8 { // without a length
			continue
		}
		n := max(int(binary.BigEndian.Uint16(rest[1:]))-2, 0)
		if marker == 0xda || n > len(body) {
			break
		}
		if marker == 0xee && n > transform && string(body[:5]) == "Adobe" {
			marked = len(data) - len(body) + transform
		}
		if marker >= 0xc0 && marker <= 0xc2 && n >= 8 {
			if body[5] != 4 {
				return jpeg.Decode(bytes.NewReader(data))
			}
			four.half = body[7] != 0x11
		}
		rest = body[n:]
	}
	parts := [][]byte{data[:2], []byte(adobe), data[2:]}
	if marked >= 0 {
		four.luma = data[marked] != 0
		parts = [][]byte{data[:marked], {0}, data[marked+1:]}
	}
	var readers [3]io.Reader
	for i, part := range parts {
		readers[i] = bytes.NewReader(part)
	}
	m, err := jpeg.Decode(io.MultiReader(readers[:]...))
	if cmyk, ok := m.(*image.CMYK); ok {
		four.m = cmyk
		return &four, err
	}
	return m, err
}
