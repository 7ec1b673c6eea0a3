package picture

import "math"

// bits of the fraction of a weight: 8 are those of a pixel, 2 are left for sums.
const weightBits = 32 - 8 - 2

// Resize returns a picture of another size, each pixel the weighted mean of those that it covers (bilinear, with antialiasing). The
// arithmetic is that of Pillow's Image.resize(size, BILINEAR), to the bit, on every machine: weights are rounded to integers, sums
// are of integers. Sizes are at least 1.
func (p RGB) Resize(width, height int) RGB {
	if width != p.Width {
		p = p.resizeRows(width)
	}
	if height != p.Height {
		p = p.resizeColumns(height)
	}
	return p
}

// A span is the pixels of the old picture that a pixel of the new one covers.
type span struct {
	from    int
	weights []int32 // sum to 1 << weightBits, but for rounding
}

// spans returns those of a row, or a column, of n pixels that had old.
func spans(old, n int) []span {
	scale := float64(old) / float64(n)
	support := max(scale, 1)
	all := make([]span, n)
	for i := range all {
		// The conversions keep products and sums apart: some processors would fuse and round them once.
		centre := float64((float64(i) + 0.5) * scale)
		from := max(0, int(centre-support+0.5))
		to := min(old, int(centre+support+0.5))
		weights, sum := make([]float64, to-from), 0.0
		for k := range weights {
			x := float64((float64(k+from) - centre + 0.5) * float64(1/support))
			weights[k] = max(0, 1-math.Abs(x))
			sum += weights[k]
		}
		all[i] = span{from, make([]int32, len(weights))}
		for k, w := range weights {
			if sum != 0 {
				w /= sum
			}
			all[i].weights[k] = int32(0.5 + float64(w*(1<<weightBits)))
		}
	}
	return all
}

func (p RGB) resizeRows(width int) RGB {
	out := RGB{width, p.Height, make([]byte, width*p.Height*3)}
	cover := spans(p.Width, width)
	for y := range p.Height {
		row, to := p.Pix[y*p.Width*3:(y+1)*p.Width*3], out.Pix[y*width*3:]
		for x, s := range cover {
			r, g, b := int32(1<<(weightBits-1)), int32(1<<(weightBits-1)), int32(1<<(weightBits-1))
			for k, w := range s.weights {
				at := row[(s.from+k)*3 : (s.from+k)*3+3]
				r, g, b = r+int32(at[0])*w, g+int32(at[1])*w, b+int32(at[2])*w
			}
			to[3*x], to[3*x+1], to[3*x+2] = level(r), level(g), level(b)
		}
	}
	return out
}

func (p RGB) resizeColumns(height int) RGB {
	stride := p.Width * 3
	out := RGB{p.Width, height, make([]byte, stride*height)}
	sums := make([]int32, stride)
	for y, s := range spans(p.Height, height) {
		for i := range sums {
			sums[i] = 1 << (weightBits - 1)
		}
		for k, w := range s.weights {
			for i, v := range p.Pix[(s.from+k)*stride : (s.from+k+1)*stride] {
				sums[i] += int32(v) * w
			}
		}
		for i, sum := range sums {
			out.Pix[y*stride+i] = level(sum)
		}
	}
	return out
}

// level returns a weighted sum as the value of a pixel.
func level(sum int32) byte { return byte(max(0, min(255, sum>>weightBits))) }
