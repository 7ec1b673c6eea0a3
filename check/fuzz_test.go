package check

import (
	"bytes"
	"image/gif"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzImage: no bytes make a decoder panic, and what is decoded has the type it is said to be.
func FuzzImage(f *testing.F) {
	for _, data := range [][]byte{jpegFile(), pngFile(), gifFile(2), webpFile(), jpegOfBits(12), pngOf(1<<31-1, 1), []byte("GIF89a"), nil} {
		f.Add(data)
	}
	d := &decoder{maxPixels: 1 << 16}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range imageTypes {
			found, err := d.image(&imageTypes[i], data)
			if err == nil && (found == nil || found != imageOf(data)) {
				t.Errorf("decoded as %v", found)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of more than a line: %q", err)
			}
		}
	})
}

// FuzzGIF: where a GIF can be decoded its pixels were counted as the decoder has them.
func FuzzGIF(f *testing.F) {
	f.Add(gifFile(1))
	f.Add(gifFile(5))
	f.Add(gifFile(2)[:100])
	f.Add([]byte("GIF87a0000000!\xff\x00\x00!\xf9\x040000\x00,0 0 \b\x00\x06\x00\x81000000000000\x02\nDb9\xc9z\nacA\x00\x00;")) // an extension without a first piece
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pixels, err := gifPixels(data)
		if err != nil || pixels > 1<<20 {
			return // not decoded
		}
		g, err := gif.DecodeAll(bytes.NewReader(data))
		if err != nil {
			return
		}
		decoded := int64(0)
		for _, m := range g.Image {
			decoded += int64(len(m.Pix)) + gifFrame
		}
		if decoded > pixels {
			t.Errorf("%d pixels were counted, %d decoded", pixels, decoded)
		}
	})
}

// FuzzFolded: keys are the same without case exactly where strings.EqualFold says so.
func FuzzFolded(f *testing.F) {
	f.Add("a/B", "A/b")
	f.Add("Σ", "ς")
	f.Add("K", "k")
	f.Add("a\xff", "A\xff")
	f.Add("..", " ")
	f.Fuzz(func(t *testing.T, a, b string) {
		same := bytes.Equal(folded(nil, a), folded(nil, b))
		if utf8.ValidString(a) && utf8.ValidString(b) && same != strings.EqualFold(a, b) {
			t.Errorf("%q and %q are the same: %v", a, b, same)
		}
		if plainKey(a) && oddKey(a+"-") != "" {
			t.Errorf("%q is plain and odd", a)
		}
	})
}
