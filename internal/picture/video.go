package picture

import (
	"bytes"
	"image"
	"image/color"

	"golang.org/x/image/webp"
)

// video is a WebP with losses. Its colours are those of video, luma from 16 to 235 and chroma from 16 to 240, not those of a JPEG, which the
// type that the decoder returns would have.
type video struct {
	m      image.NYCbCrA
	opaque bool // m has no alpha
}

// decodeWebP decodes a WebP.
func decodeWebP(data []byte) (image.Image, error) {
	m, err := webp.Decode(bytes.NewReader(data))
	switch m := m.(type) {
	case *image.YCbCr:
		return &video{image.NYCbCrA{YCbCr: *m}, true}, err
	case *image.NYCbCrA:
		return &video{*m, false}, err
	}
	return m, err
}

func (v *video) Bounds() image.Rectangle { return v.m.Rect }
func (v *video) ColorModel() color.Model { return color.NRGBAModel }
func (v *video) Opaque() bool            { return v.opaque || v.m.Opaque() }

// At returns a colour without interpolation: use [NewRows].
func (v *video) At(x, y int) color.Color {
	if !(image.Point{x, y}).In(v.m.Rect) {
		return color.NRGBA{}
	}
	at := v.m.COffset(x, y)
	var rgb [3]byte
	videoRGB(rgb[:], int32(v.m.Y[v.m.YOffset(x, y)]), int32(v.m.Cb[at]), int32(v.m.Cr[at]))
	alpha := uint8(255)
	if !v.opaque {
		alpha = v.m.A[v.m.AOffset(x, y)]
	}
	return color.NRGBA{rgb[0], rgb[1], rgb[2], alpha}
}

// row converts a row as libwebp does (upsampling.c, yuv.h). Chroma is the mean of four samples, 9 : 3 : 3 : 1, of which two sums are rounded.
func (v *video) row(dst []byte, y int, cb, cr *chroma) {
	luma := v.m.Y[v.m.YOffset(v.m.Rect.Min.X, v.m.Rect.Min.Y+y):]
	nearB, farB := cb.pair(y)
	nearR, farR := cr.pair(y)
	for x := range len(dst) / 3 {
		i := x / 2
		k := i + 1
		if x%2 == 0 {
			k = i - 1
		}
		var b, r int32
		if k < 0 || k >= len(nearB) {
			b, r = (3*int32(nearB[i])+int32(farB[i])+2)>>2, (3*int32(nearR[i])+int32(farR[i])+2)>>2
		} else {
			b = fourth(nearB[i], nearB[k], farB[i], farB[k])
			r = fourth(nearR[i], nearR[k], farR[i], farR[k])
		}
		videoRGB(dst[3*x:3*x+3], int32(luma[x]), b, r)
	}
}

// fourth returns the chroma of a pixel in a sample that is beside another, and has two in the nearer row.
func fourth(own, beside, across, diagonal byte) int32 {
	a, b, c, d := int32(own), int32(beside), int32(across), int32(diagonal)
	return ((a+b+c+d+8+2*(b+c))>>3 + a) >> 1
}

// videoRGB converts a pixel. Products have 14 bits of fraction, of which 8 are dropped before the sum.
func videoRGB(dst []byte, y, cb, cr int32) {
	y = y * 19077 >> 8
	dst[0] = clamp((y + cr*26149>>8 - 14234) >> 6)
	dst[1] = clamp((y - cb*6419>>8 - cr*13320>>8 + 8708) >> 6)
	dst[2] = clamp((y + cb*33050>>8 - 17685) >> 6)
}
