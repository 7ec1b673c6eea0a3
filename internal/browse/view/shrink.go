package view

import (
	"image"
	"image/draw"

	"github.com/ffconvert/ffconvert/internal/picture"
)

// shrink returns a picture whose longer side has at most size pixels, with the same proportions. It averages squares, a
// strip at a time, while the picture is too large by more than a quarter, and then resizes with package picture.
// Transparent areas show a white and grey checkerboard.
func shrink(m image.Image, size int) picture.RGB {
	r := m.Bounds()
	longer := max(r.Dx(), r.Dy())
	side := max(1, longer/(size+size/4)) // side of the squares
	p := squares(m, side, max(1, 8*longer/size))
	if longer <= size {
		return p
	}
	return p.Resize(scaled(r.Dx(), size, longer), scaled(r.Dy(), size, longer))
}

func scaled(n, size, longer int) int { return max(1, (n*size+longer/2)/longer) }

// stripRows is how many rows are converted at once.
const stripRows = 32

// squares returns a picture of the mean of each square of side × side pixels. Squares at the right and bottom edges may
// be smaller.
func squares(m image.Image, side, board int) picture.RGB {
	r := m.Bounds()
	out := picture.RGB{Width: (r.Dx() + side - 1) / side, Height: (r.Dy() + side - 1) / side}
	out.Pix = make([]byte, out.Width*out.Height*3)
	read := picture.NewRows(m).Read
	if o, ok := m.(interface{ Opaque() bool }); !ok || !o.Opaque() {
		read = onBoard(m, board)
	}
	pixels := make([]byte, 3*r.Dx())
	sums := make([]uint32, 3*out.Width)
	for y := range r.Dy() {
		if side == 1 {
			read(out.Pix[3*y*out.Width:][:3*out.Width], y)
			continue
		}
		read(pixels, y)
		add(sums, pixels, side)
		if high := y%side + 1; high == side || y == r.Dy()-1 {
			row := out.Pix[y/side*3*out.Width:][:3*out.Width]
			for x := range out.Width {
				n := uint32(high * min(side, r.Dx()-x*side))
				for c := range 3 {
					row[3*x+c] = byte((sums[3*x+c] + n/2) / n)
				}
			}
			clear(sums)
		}
	}
	return out
}

// onBoard returns a function that reads the rows of a picture with transparency, in order, drawn over a checkerboard.
func onBoard(m image.Image, side int) func(dst []byte, y int) {
	r := m.Bounds()
	strip := image.NewRGBA(image.Rect(0, 0, r.Dx(), min(stripRows, r.Dy())))
	return func(dst []byte, y int) {
		if y%stripRows == 0 {
			checker(strip, y, side)
			draw.Draw(strip, strip.Rect, m, image.Pt(r.Min.X, r.Min.Y+y), draw.Over)
		}
		pixels := strip.Pix[y%stripRows*strip.Stride:]
		for x := range r.Dx() {
			copy(dst[3*x:3*x+3], pixels[4*x:])
		}
	}
}

// add adds the pixels of a row to the sums of their squares.
func add(sums []uint32, row []byte, side int) {
	for x := 0; len(row) > 0; x += 3 {
		n := min(3*side, len(row))
		var r, g, b uint32
		for i := 0; i < n; i += 3 {
			r, g, b = r+uint32(row[i]), g+uint32(row[i+1]), b+uint32(row[i+2])
		}
		sums[x], sums[x+1], sums[x+2] = sums[x]+r, sums[x+1]+g, sums[x+2]+b
		row = row[n:]
	}
}

// checker fills a strip that begins at row top of the picture with a board of side × side squares.
func checker(m *image.RGBA, top, side int) {
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		for x := range m.Rect.Dx() {
			v := byte(0xff)
			if (x/side+(top+y)/side)&1 == 1 {
				v = 0xd8
			}
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = v, v, v, 0xff
		}
	}
}

// rgba converts a picture to the type that encoders process fastest.
func rgba(p picture.RGB) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i, k := 0, 0; i < len(p.Pix); i, k = i+3, k+4 {
		m.Pix[k], m.Pix[k+1], m.Pix[k+2], m.Pix[k+3] = p.Pix[i], p.Pix[i+1], p.Pix[i+2], 0xff
	}
	return m
}
