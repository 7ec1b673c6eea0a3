package view

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

const usual = 256 << 20 // bytes of memory for all pictures

// of returns the thumbnail of a picture.
func of(t *testing.T, m *Thumbs, data []byte) (image.Image, string, error) {
	t.Helper()
	small, kind, err := m.Make(t.Context(), func() ([]byte, error) { return data, nil })
	if err != nil {
		if small != nil || kind != "" {
			t.Errorf("%d bytes beside %v", len(small), err)
		}
		return nil, "", err
	}
	got, name, err := image.Decode(bytes.NewReader(small))
	if err != nil || "image/"+name != kind {
		t.Fatalf("%s: %s %v", kind, name, err)
	}
	return got, kind, nil
}

func plain(width, height int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.NewUniform(color.RGBA{200, 100, 50, 255}), image.Point{}, draw.Src)
	return m
}

func near(a color.Color, r, g, b, most int) bool {
	x, y, z, _ := a.RGBA()
	return max(abs(int(x>>8)-r), abs(int(y>>8)-g), abs(int(z>>8)-b)) <= most
}

func abs(n int) int { return max(n, -n) }

// A thumbnail has the proportions and the colour of its picture, and is never larger.
func TestSizes(t *testing.T) {
	t.Parallel()
	m := NewThumbs(usual, 4)
	for _, row := range []struct{ width, height, wantWidth, wantHeight int }{
		{500, 375, 192, 144}, {375, 500, 144, 192}, {1, 1, 1, 1}, {28, 28, 28, 28}, {192, 192, 192, 192}, {193, 193, 192, 192}, {193, 1, 192, 1},
		{1, 10_000, 1, 192}, {10_000, 1, 192, 1}, {10_000, 40, 192, 1}, {383, 10, 192, 5}, {384, 384, 192, 192}, {385, 385, 192, 192}, {1_200, 800, 192, 128}, {65_000, 3, 192, 1},
	} {
		for name, encode := range map[string]func(image.Image) []byte{"JPEG": picturetest.JPEG, "PNG": picturetest.PNG} {
			got, kind, err := of(t, m, encode(plain(row.width, row.height)))
			if err != nil {
				t.Errorf("%s of %d × %d: %v", name, row.width, row.height, err)
				continue
			}
			size := got.Bounds().Size()
			if size != image.Pt(row.wantWidth, row.wantHeight) {
				t.Errorf("%s of %d × %d: %v", name, row.width, row.height, size)
			}
			if exact := size.X*size.Y <= 64*64; exact != (kind == "image/png") {
				t.Errorf("%s of %d × %d: %s", name, row.width, row.height, kind)
			}
			for _, at := range []image.Point{{}, {size.X / 2, size.Y / 2}, {size.X - 1, size.Y - 1}} {
				if !near(got.At(at.X, at.Y), 200, 100, 50, 6) {
					t.Errorf("%s of %d × %d has %v at %v", name, row.width, row.height, got.At(at.X, at.Y), at)
				}
			}
		}
	}
}

// A small picture is kept to the pixel.
func TestExact(t *testing.T) {
	t.Parallel()
	want := picturetest.Picture()
	for i := 3; i < len(want.Pix); i += 4 {
		want.Pix[i] = 255
	}
	got, _, err := of(t, NewThumbs(usual, 4), picturetest.PNG(want))
	if err != nil {
		t.Fatal(err)
	}
	for y := range 16 {
		for x := range 24 {
			if color.RGBAModel.Convert(got.At(x, y)) != want.At(x, y) {
				t.Fatalf("%v at %d, %d, want %v", got.At(x, y), x, y, want.At(x, y))
			}
		}
	}
}

// The mean of a large picture is the picture: fine stripes become grey, and do not flicker.
func TestMean(t *testing.T) {
	t.Parallel()
	m := image.NewGray(image.Rect(0, 0, 2000, 1500))
	for i := range m.Pix {
		m.Pix[i] = byte(i%2) * 255
	}
	got, _, err := of(t, NewThumbs(usual, 4), picturetest.PNG(m))
	if err != nil {
		t.Fatal(err)
	}
	for y := range 144 {
		for x := range 192 {
			if !near(got.At(x, y), 127, 127, 127, 28) { // squares of 5: three stripes of one colour, two of the other
				t.Fatalf("%v at %d, %d", got.At(x, y), x, y)
			}
		}
	}
}

// Each form of picture that the decoders know has its colours.
func TestForms(t *testing.T) {
	t.Parallel()
	grey16 := image.NewGray16(image.Rect(0, 0, 300, 200))
	deep := image.NewNRGBA64(image.Rect(0, 0, 300, 200))
	for y := range 200 {
		for x := range 300 {
			grey16.SetGray16(x, y, color.Gray16{Y: 0x80ff})
			deep.SetNRGBA64(x, y, color.NRGBA64{R: 0xc8c8, G: 0x6464, B: 0x3232, A: 0xffff})
		}
	}
	m := NewThumbs(usual, 4)
	for _, row := range []struct {
		name    string
		data    []byte
		size    image.Point
		r, g, b int // of the middle; -1: any
	}{
		{"16 bits, grey", picturetest.PNG(grey16), image.Pt(192, 128), 128, 128, 128},
		{"16 bits", picturetest.PNG(deep), image.Pt(192, 128), 200, 100, 50},
		{"animation", picturetest.GIF(50), image.Pt(8, 6), -1, 0, 0},
		{"WebP", picturetest.WebP(), image.Pt(1, 1), -1, 0, 0},
		{"cmyk.jpeg", file(t, "cmyk.jpeg"), image.Pt(150, 103), 94, 19, 0},
		{"rgb.jpeg", file(t, "rgb.jpeg"), image.Pt(150, 103), 164, 79, 0},
		{"progressive-420.jpeg", file(t, "progressive-420.jpeg"), image.Pt(150, 103), 164, 79, 0},
		{"progressive-444.jpeg", file(t, "progressive-444.jpeg"), image.Pt(150, 103), 164, 79, 0},
		{"baseline-411.jpeg", file(t, "baseline-411.jpeg"), image.Pt(150, 103), 164, 79, 0},
		{"interlaced.png", file(t, "interlaced.png"), image.Pt(1, 16), -1, 0, 0},
		{"lossless.webp", file(t, "lossless.webp"), image.Pt(75, 100), -1, 0, 0},
		{"lossy.webp", file(t, "lossy.webp"), image.Pt(150, 103), 164, 79, 0},
	} {
		got, _, err := of(t, m, row.data)
		if err != nil || got.Bounds().Size() != row.size {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if at := got.At(row.size.X/2, row.size.Y/2); row.r >= 0 && !near(at, row.r, row.g, row.b, 24) {
			t.Errorf("%s: %v", row.name, at)
		}
	}
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The thumbnail of a JPEG that is small enough to be kept without loss has the colours that Pillow reads, of chroma that stands for 2 × 2 pixels, too.
func TestPillow(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import io, numpy
from PIL import Image
def reply(request):
    n = int.from_bytes(request[:4], "little")
    a, b = [numpy.asarray(Image.open(io.BytesIO(f)).convert("RGB")).astype(int) for f in (request[4:4 + n], request[4 + n:])]
    return [float(abs(a - b).mean()), int(abs(a - b).max())]
`, "numpy", "PIL.Image")
	for i := range 8 {
		stored := image.NewRGBA(image.Rect(0, 0, 33+3*i, 64-5*i))
		for k := range stored.Pix { // fields of colours, 5 × 5 pixels
			field := k/4%stored.Rect.Dx()/5*7 + k/stored.Stride/5*13
			stored.Pix[k] = byte((field*(k%4+1) + i) * 85)
		}
		stored.Set(0, 0, color.White)
		data := picturetest.JPEG(stored)
		small, kind, err := NewThumbs(usual, 4).Make(t.Context(), func() ([]byte, error) { return data, nil })
		if err != nil || kind != "image/png" {
			t.Fatal(kind, err)
		}
		var differ []float64
		py.Ask(slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data, small), &differ)
		if differ[0] > 0.3 || differ[1] > 4 {
			t.Errorf("%v: levels differ by %.2f in the mean, by %v at most", stored.Rect, differ[0], differ[1])
		}
	}
}

// What is transparent shows the board, never black.
func TestTransparent(t *testing.T) {
	t.Parallel()
	m := NewThumbs(usual, 4)
	clear := image.NewNRGBA(image.Rect(0, 0, 400, 400))
	palette := image.NewPaletted(image.Rect(0, 0, 400, 400), color.Palette{color.Transparent, color.White})
	deep := image.NewNRGBA64(image.Rect(0, 0, 400, 400))
	for name, data := range map[string][]byte{"8 bits": picturetest.PNG(clear), "palette": picturetest.PNG(palette), "16 bits": picturetest.PNG(deep)} {
		got, _, err := of(t, m, data)
		if err != nil {
			t.Fatal(name, err)
		}
		white, grey := got.At(4, 4), got.At(12, 4)
		if !near(white, 255, 255, 255, 6) || !near(grey, 0xd8, 0xd8, 0xd8, 6) {
			t.Errorf("%s: fields of %v and %v", name, white, grey)
		}
	}
	half := image.NewNRGBA(image.Rect(0, 0, 400, 400))
	draw.Draw(half, half.Rect, image.NewUniform(color.NRGBA{255, 0, 0, 128}), image.Point{}, draw.Src)
	if got, _, _ := of(t, m, picturetest.PNG(half)); !near(got.At(4, 4), 255, 127, 127, 8) {
		t.Errorf("half of red: %v", got.At(4, 4))
	}
}

// exif puts an orientation into a JPEG.
func exif(data []byte, order binary.AppendByteOrder, turn uint16) []byte {
	mark := "II"
	if order == binary.BigEndian {
		mark = "MM"
	}
	b := order.AppendUint16([]byte(mark), 42)
	b = order.AppendUint16(order.AppendUint32(b, 10), 0)
	b = order.AppendUint16(b, 2) // entries
	for _, tag := range []uint16{0x0110, 0x0112} {
		b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, tag), 3), 1)
		b = order.AppendUint16(order.AppendUint16(b, turn), 0)
	}
	b = append([]byte("Exif\x00\x00"), b...)
	return slices.Concat(data[:2], []byte{0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(b)+2)), b, data[2:])
}

// Photographs stand upright. The stored picture has four corners of four colours.
func TestOrientation(t *testing.T) {
	t.Parallel()
	stored := image.NewRGBA(image.Rect(0, 0, 400, 200))
	colours := map[rune]color.RGBA{'r': {255, 0, 0, 255}, 'g': {0, 255, 0, 255}, 'b': {0, 0, 255, 255}, 'w': {255, 255, 255, 255}}
	for i, c := range "rgbw" { // upper left, upper right, lower left, lower right
		at := image.Pt(i%2*200, i/2*100)
		draw.Draw(stored, image.Rectangle{at, at.Add(image.Pt(200, 100))}, image.NewUniform(colours[c]), image.Point{}, draw.Src)
	}
	data, m := picturetest.JPEG(stored), NewThumbs(usual, 4)
	for turn, want := range []string{"rgbw", "rgbw", "grwb", "wbgr", "bwrg", "rbgw", "brwg", "wgbr", "gwrb", "rgbw"} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			got, _, err := of(t, m, exif(data, order, uint16(turn)))
			if err != nil {
				t.Fatal(turn, err)
			}
			size := image.Pt(192, 96)
			if turn >= 5 && turn <= 8 {
				size = image.Pt(96, 192)
			}
			if got.Bounds().Size() != size {
				t.Errorf("orientation %d: %v", turn, got.Bounds().Size())
			}
			for i, c := range want {
				at, rgba := got.At(size.X/4+i%2*size.X/2, size.Y/4+i/2*size.Y/2), colours[c]
				if !near(at, int(rgba.R), int(rgba.G), int(rgba.B), 12) {
					t.Errorf("orientation %d: corner %d is %v, want %c", turn, i, at, c)
				}
			}
		}
	}
	whole := exif(data, binary.LittleEndian, 6)
	for n := range 60 { // no cut of the segment is a panic
		readJPEG(whole[:2+n])
		readTurn(whole[6:][:n])
	}
}

// What looks like scans in a comment, in the thumbnail of a camera or after the end of the picture is not counted; an end in a comment does not hide any.
func TestScans(t *testing.T) {
	t.Parallel()
	data := picturetest.JPEG(plain(300, 200))
	scan := []byte{0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0}
	comment := func(b []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xfe}, uint16(len(b)+2)), b...)
	}
	end := len(data) - 2
	for name, row := range map[string]struct {
		data []byte
		want int
	}{
		"one":               {data, 1},
		"a film":            {slices.Concat(data, bytes.Repeat(scan, 1000)), 1},
		"in a comment":      {slices.Concat(data[:2], comment(bytes.Repeat(scan, 1000)), data[2:]), 1},
		"end in a comment":  {slices.Concat(data[:end], comment([]byte{0xff, 0xd9}), bytes.Repeat(scan, 1000), data[end:]), 1001},
		"restarts, padding": {slices.Concat(data[:end], []byte{0xff, 0xd0, 0xff, 0, 0xff, 0xff}, scan, data[end:]), 2},
		"progressive":       {file(t, "progressive-420.jpeg"), 10},
		"no end":            {data[:end], 1},
	} {
		if got := countScans(row.data); got != row.want {
			t.Errorf("%s: %d, want %d", name, got, row.want)
		}
		if row.want <= maxScans {
			if _, _, err := of(t, NewThumbs(usual, 4), row.data); err != nil && name != "restarts, padding" && name != "no end" {
				t.Errorf("%s: %v", name, err)
			}
		}
		for n := range min(len(row.data), 100) {
			countScans(row.data[len(row.data)-n:]) // no cut is a panic
		}
	}
}

// Each row is data without a thumbnail.
func TestRefused(t *testing.T) {
	t.Parallel()
	jpeg := picturetest.JPEG(plain(300, 200))
	var scans []byte
	for range maxScans {
		scans = append(scans, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0)
	}
	large := NewThumbs(2<<20, 4)
	m := NewThumbs(usual, 4)
	for _, row := range []struct {
		name  string
		maker *Thumbs
		data  []byte
		kind  error
		want  string
	}{
		{"nothing", m, nil, errNoPicture, "not a JPEG"},
		{"text", m, []byte("<svg/>"), errNoPicture, "not a JPEG"},
		{"bomb", m, picturetest.PNGOf(100_000, 100_000), picture.ErrPixels, "100000 × 100000"},
		{"largest PNG", m, picturetest.PNGOf(1<<31-1, 1<<31-1), picture.ErrUnchecked, "overflow"},
		{"large GIF", m, append([]byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"), ';'), picture.ErrPixels, "65535 × 65535"},
		{"lying WebP", m, picturetest.RIFF("VP8X\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "VP8L\x2f\xff\xff\xff\x0f\x00"), picture.ErrPixels, "16384 × 16384"},
		{"over the memory", large, picturetest.PNG(plain(800, 700)), picture.ErrPixels, "800 × 700 pixels take 3 MiB to decode, and 2 MiB are allowed"},
		{"a large file", m, append(bytes.Clone(jpeg), make([]byte, 32<<20)...), picture.ErrUnchecked, "300 × 200 pixels in a file of 32 MiB, and 32 MiB are allowed"},
		{"size that is not there", m, picturetest.PNGOf(4000, 4000), nil, "a damaged PNG"},
		{"cut", m, jpeg[:len(jpeg)/2], nil, "a damaged JPEG"},
		{"head alone", m, jpeg[:3], nil, "ends too early"},
		{"12 bits", m, picturetest.JPEGOfBits(12), picture.ErrUnchecked, "precision"},
		{"many scans", m, append(jpeg[:len(jpeg)-2:len(jpeg)-2], scans...), picture.ErrUnchecked, "300 × 200 pixels with 201 scans"},
	} {
		_, _, err := of(t, row.maker, row.data)
		if err == nil || !errors.Is(err, row.kind) && row.kind != nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
