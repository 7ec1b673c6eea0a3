package main

import (
	"image"
	"image/color"
	"math/rand/v2"
)

// Classes of pictures.
const (
	circle = iota
	stripes
	glyphs
	classes
)

// A drawing is a picture with the position and the description of its subject.
type drawing struct {
	picture *image.RGBA
	mask    *image.Paletted
	about   about
}

type about struct {
	Class  int    `json:"class"`
	Name   string `json:"name"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
}

// draw puts one subject on a gradient.
func draw(rnd *rand.Rand) drawing {
	w, h := 64+8*rnd.IntN(8), 64+8*rnd.IntN(8)
	class := rnd.IntN(classes)
	box := image.Rect(0, 0, w, h)
	d := drawing{
		picture: image.NewRGBA(box),
		mask:    image.NewPaletted(box, color.Palette{color.Black, color.White}),
		about:   about{class, [...]string{"circle", "stripes", "glyphs"}[class], w, h},
	}
	from, to, ink := colour(rnd), colour(rnd), colour(rnd)
	covered := subject(rnd, class, w, h)
	for y := range h {
		for x := range w {
			c := mix(from, to, x*h+y*w, 2*w*h)
			if covered(x, y) {
				c = ink
				d.mask.SetColorIndex(x, y, 1)
			}
			d.picture.SetRGBA(x, y, c)
		}
	}
	return d
}

// subject returns a function that reports whether the subject of a class covers a point.
func subject(rnd *rand.Rand, class, w, h int) func(x, y int) bool {
	switch class {
	case circle:
		r := min(w, h)/6 + rnd.IntN(min(w, h)/4)
		cx, cy := r+rnd.IntN(w-2*r), r+rnd.IntN(h-2*r)
		return func(x, y int) bool { return (x-cx)*(x-cx)+(y-cy)*(y-cy) <= r*r }
	case stripes:
		width, slope := 4+rnd.IntN(8), rnd.IntN(3)
		return func(x, y int) bool { return (x+slope*y)/width%2 == 0 }
	default: // rows of letters of five by seven dots
		const cell = 8
		rows := make([]uint64, (w/cell+1)*(h/cell+1))
		for i := range rows {
			rows[i] = rnd.Uint64()
		}
		return func(x, y int) bool {
			i, j := x%cell, y%cell
			return i < 5 && j < 7 && rows[y/cell*(w/cell)+x/cell]>>(5*j+i)&1 == 1
		}
	}
}

func colour(rnd *rand.Rand) color.RGBA {
	n := rnd.Uint32()
	return color.RGBA{uint8(n), uint8(n >> 8), uint8(n >> 16), 0xff}
}

// mix returns the colour at i/n of the way from a to b.
func mix(a, b color.RGBA, i, n int) color.RGBA {
	part := func(a, b uint8) uint8 { return uint8((int(a)*(n-i) + int(b)*i) / n) }
	return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 0xff}
}
