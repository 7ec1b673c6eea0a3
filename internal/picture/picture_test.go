package picture

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

func flip(data []byte, i int) []byte {
	data = slices.Clone(data)
	data[i] ^= 1 << (i % 8)
	return data
}

// Every cut of a file of each type, and every flipped byte of a PNG, which has checksums.
func TestCutImages(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	for _, row := range []struct {
		suffix string
		data   []byte
	}{
		{"jpg", picturetest.JPEG(picturetest.Picture())}, {"png", picturetest.PNG(picturetest.Picture())}, {"gif", picturetest.GIF(3)}, {"webp", picturetest.WebP()},
	} {
		wanted := OfSuffix(row.suffix)
		if _, h, err := Decode(wanted, row.data, most); err != nil || h.Type != wanted {
			t.Errorf("%s: %v", row.suffix, err)
		}
		undetected := 0
		for n := range len(row.data) {
			if _, _, err := Decode(wanted, row.data[:n], most); err == nil {
				undetected++
			}
		}
		if undetected > 0 {
			t.Errorf("%s: %d of %d cuts were not found", row.suffix, undetected, len(row.data))
		}
		t.Logf("cut %s cases=%d undetected=%d", row.suffix, len(row.data), undetected)
	}
	data := picturetest.PNG(picturetest.Picture())
	for i := range data {
		if _, _, err := Decode(OfSuffix("png"), flip(data, i), most); err == nil {
			t.Errorf("a flipped bit at byte %d was not found", i)
		}
	}
}

// It is not parallel: memory is counted. Images that claim to be large take none.
func TestLargeImagesMemory(t *testing.T) {
	const most = 100 << 20
	frames := append(picturetest.GIF(1)[:13+12], bytes.Repeat([]byte("\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x08\x00"), 1000)...) // 65,535 × 65,535 each
	for name, data := range map[string][]byte{"png": picturetest.PNGOf(1<<31-1, 1<<31-1), "gif": append(frames, 0x3B)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Decode(OfSuffix(name), data, most)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		t.Logf("%s: bytes_allocated=%d %v", name, after.TotalAlloc-before.TotalAlloc, err)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// A WebP whose canvas is one pixel and whose image has many is large.
func TestWebPOfTwoSizes(t *testing.T) {
	t.Parallel()
	lossless := picturetest.RIFF("VP8X\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "VP8L\x2f\xff\xff\xff\x0f\x00")
	lossy := picturetest.RIFF("VP8X\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "VP8 \x00\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f")
	for _, data := range [][]byte{lossless, lossy} {
		if _, h, err := Decode(OfSuffix("webp"), data, 1<<20); !errors.Is(err, ErrPixels) {
			t.Errorf("%d × %d: %v", h.Width, h.Height, err)
		}
	}
}

// A panic of a library is an error of the image.
func TestCareful(t *testing.T) {
	t.Parallel()
	var row []byte
	if err := careful(func() error { _ = row[7]; return nil }); err == nil || !strings.Contains(err.Error(), "gives up") {
		t.Errorf("error %v", err)
	}
	if err := careful(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestOfSuffix(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]string{"jpg": "JPEG", "jpeg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WebP"} {
		if is := OfSuffix(suffix); is == nil || is.Name != want {
			t.Errorf("%s: %v", suffix, is)
		}
	}
	for _, suffix := range []string{"", "bmp", "tiff", "npy", "JPG"} { // suffixes come in lower case
		if is := OfSuffix(suffix); is != nil {
			t.Errorf("%s: %v", suffix, is.Name)
		}
	}
}

// FuzzPicture: no bytes make a decoder panic, and what is decoded has the type it is said to be.
func FuzzPicture(f *testing.F) {
	for _, data := range [][]byte{picturetest.JPEG(picturetest.Picture()), picturetest.PNG(picturetest.Picture()), picturetest.GIF(2), picturetest.WebP(), picturetest.JPEGOfBits(12), picturetest.PNGOf(1<<31-1, 1), []byte("GIF89a"), nil} {
		f.Add(data)
	}
	for _, name := range []string{"cmyk.jpeg", "rgb.jpeg", "progressive-420.jpeg", "baseline-411.jpeg", "lossy.webp", "lossless.webp"} {
		data, err := os.ReadFile(filepath.Join("../../internal/browse/view/testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for i := range types {
			m, h, err := Decode(&types[i], data, 1<<16)
			if err == nil && (h.Type == nil || h.Type != Of(data) || m.Bounds().Dx() > h.Width || m.Bounds().Dy() > h.Height) {
				t.Errorf("decoded as %v", h)
			}
			if err == nil {
				if rgb := ToRGB(nil, m); len(rgb.Pix) != 3*m.Bounds().Dx()*m.Bounds().Dy() {
					t.Errorf("%d bytes of %v", len(rgb.Pix), m.Bounds())
				}
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of more than a line: %q", err)
			}
		}
	})
}

// FuzzGIF: where a GIF can be decoded its pixels were counted as the decoder has them.
func FuzzGIF(f *testing.F) {
	f.Add(picturetest.GIF(1))
	f.Add(picturetest.GIF(5))
	f.Add(picturetest.GIF(2)[:100])
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

// photo returns a JPEG of 500 × 375 pixels, as ImageNet has them, of 4:2:0.
func photo() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 500, 375))
	for i := range m.Pix {
		x, y := i/4%500, i/2000
		m.Pix[i] = byte(128 + 100*math.Sin(float64(x*(1+i%4)+y)/40) + float64(i*i>>5&15))
	}
	return picturetest.JPEG(m)
}

func BenchmarkRGB(b *testing.B) {
	data := photo()
	m, _, err := Decode(Of(data), data, 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("convert", func(b *testing.B) {
		var pix []byte
		b.SetBytes(3 * 500 * 375)
		b.ReportAllocs()
		for b.Loop() {
			pix = ToRGB(pix, m).Pix
		}
	})
	b.Run("decode", func(b *testing.B) {
		var pix []byte
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			m, _, _ := Decode(Of(data), data, 1<<20)
			pix = ToRGB(pix, m).Pix
		}
	})
}
