package browse_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// A scene is a kind of landscape: sky from top to horizon, hills before it, a sun or moon.
type scene struct {
	name              string
	high, low, ground color.RGBA
	sun               color.RGBA
}

var scenes = []scene{
	{"desert", rgb(0x87c5e8), rgb(0xf6e0b5), rgb(0xc98f4e), rgb(0xfff6d0)},
	{"dusk", rgb(0x2b2d5b), rgb(0xf08a5d), rgb(0x3d2645), rgb(0xffd27f)},
	{"forest", rgb(0x9fd3c7), rgb(0xe8f3d6), rgb(0x2f6b4f), rgb(0xfffbe0)},
	{"night", rgb(0x0b1026), rgb(0x27345f), rgb(0x0e1a2b), rgb(0xe9ecf5)},
	{"ocean", rgb(0x5fa8d3), rgb(0xcae9ff), rgb(0x1b4965), rgb(0xffffff)},
}

func rgb(v uint32) color.RGBA { return color.RGBA{byte(v >> 16), byte(v >> 8), byte(v), 255} }

// draw returns the picture of a scene, another for each number.
func (s scene) draw(number, width, height int) *image.RGBA {
	rnd := rand.New(rand.NewPCG(uint64(number), 7))
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	w, h := float64(width), float64(height)
	sunX, sunY, sunR := w*(0.2+0.6*rnd.Float64()), h*(0.15+0.35*rnd.Float64()), h*(0.05+0.06*rnd.Float64())
	var layers [3][4]float64 // phases and heights of hills, far ones first
	for i := range layers {
		layers[i] = [4]float64{6 * rnd.Float64(), 1.5 + 3*rnd.Float64(), 6 * rnd.Float64(), 0.45 + 0.17*float64(i) + 0.06*rnd.Float64()}
	}
	for x := range width {
		var hills [3]float64
		for i, l := range layers {
			hills[i] = h * (l[3] - 0.05*math.Sin(l[0]+l[1]*2*math.Pi*float64(x)/w) - 0.03*math.Sin(l[2]+7*float64(x)/w))
		}
		for y := range height {
			c := mix(s.high, s.low, float64(y)/h/0.7)
			if d := math.Hypot(float64(x)-sunX, float64(y)-sunY) / sunR; d < 4 {
				c = mix(s.sun, c, min(1, max(0.15*d+0.4, d-0.5)*min(1, d)))
			}
			for i, hill := range hills {
				if float64(y) > hill {
					c = mix(s.low, s.ground, 0.45+0.25*float64(i))
				}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func mix(a, b color.RGBA, part float64) color.RGBA {
	part = min(1, max(0, part))
	at := func(a, b byte) byte { return byte(float64(a)*(1-part) + float64(b)*part) }
	return color.RGBA{at(a.R, b.R), at(a.G, b.G), at(a.B, b.B), 255}
}

// encoded returns a picture as a file, and its suffix: most are JPEG, others PNG, GIF and WebP.
func encoded(t testing.TB, m *image.RGBA, number int) (data []byte, suffix string) {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch number % 8 {
	case 3:
		err, suffix = png.Encode(&b, m), ".png"
	case 5:
		err, suffix = gif.Encode(&b, m, &gif.Options{NumColors: 32}), ".gif"
	case 7:
		if number%16 == 7 {
			return picturetest.WebP(), ".webp"
		}
		fallthrough
	default:
		err, suffix = jpeg.Encode(&b, m, &jpeg.Options{Quality: 80}), ".jpg"
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), suffix
}
