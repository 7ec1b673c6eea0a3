// Package picturetest makes small pictures for tests.
package picturetest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
)

// Picture returns a picture with enough in it that every cut of its file loses something.
func Picture() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 24, 16))
	for i := range m.Pix {
		m.Pix[i] = byte(i*i>>3) | byte(i&3/3*255)
	}
	return m
}

// JPEG returns a picture as a JPEG.
func JPEG(m image.Image) []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, m, nil))
	return b.Bytes()
}

// PNG returns a picture as a PNG.
func PNG(m image.Image) []byte {
	var b bytes.Buffer
	must(png.Encode(&b, m))
	return b.Bytes()
}

// GIF returns an animation.
func GIF(frames int) []byte {
	var b bytes.Buffer
	g := gif.GIF{LoopCount: 1}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, 8, 6), color.Palette{color.Black, color.White, color.Gray{99}})
		for k := range m.Pix {
			m.Pix[k] = byte((i + k*k) % 3)
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 1)
	}
	must(gif.EncodeAll(&b, &g))
	return b.Bytes()
}

// WebP returns a WebP of 17 × 8 pixels, without loss: the standard library writes none.
func WebP() []byte {
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	must(err)
	return b
}

// PNGOf returns a PNG that claims a size and has no pixels of it.
func PNGOf(width, height uint32) []byte {
	data := PNG(Picture())
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// JPEGOfBits returns a JPEG that claims a number of bits of a sample: 12 are a JPEG that the decoder does not know.
func JPEGOfBits(bits byte) []byte {
	data := JPEG(Picture())
	data[bytes.Index(data, []byte{0xFF, 0xC0})+4] = bits
	return data
}

// RIFF returns a WebP of chunks, each with a name of four bytes and data of even length.
func RIFF(chunks ...string) []byte {
	body := []byte("WEBP")
	for _, c := range chunks {
		body = append(body, c[:4]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(c)-4))
		body = append(body, c[4:]...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
