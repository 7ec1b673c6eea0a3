package encode

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/heads"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/place"
)

// tensorField is the name of a field of pixels: what follows its last dot, where the picture had its suffix, if it had one.
const tensorField = "npy"

// An edge is a size that pictures are resized to. The zero value leaves them as they are.
type edge struct {
	short         int // of the shorter edge; 0: the size is width × height
	width, height int
}

// mostEdge is the longest edge that a picture is resized to, in pixels.
const mostEdge = 1 << 16

// parseEdge parses Options.Resize.
func parseEdge(s string) (edge, error) {
	if s == "" {
		return edge{}, nil
	}
	width, height, both := strings.Cut(s, "x")
	w, err := strconv.ParseUint(width, 10, 32)
	h := w
	if both && err == nil {
		h, err = strconv.ParseUint(height, 10, 32)
	}
	if err != nil || min(w, h) < 1 || max(w, h) > mostEdge {
		return edge{}, place.Options("option resize %.40q: want the pixels of the shorter edge (256), or width and height (224x224), each 1 to %d", s, mostEdge)
	}
	if !both {
		return edge{short: int(w)}, nil
	}
	return edge{width: int(w), height: int(h)}, nil
}

// of returns the size of a picture that had width × height. The longer edge is rounded down, as torchvision's Resize does.
func (e edge) of(width, height int) (int, int) {
	switch {
	case e.short == 0:
		return cmp.Or(e.width, width), cmp.Or(e.height, height)
	case width <= height:
		return e.short, int(int64(e.short) * int64(height) / int64(width))
	}
	return int(int64(e.short) * int64(width) / int64(height)), e.short
}

// tensors turns pictures into their pixels: uint8, height × width × 3. It must not be used concurrently.
type tensors struct {
	types string // Options.Tensor
	edge  edge
	most  int64 // pixels
	bare  bool  // without a head that tells the shape
	sizes bool  // tell the size alone, by the head of a picture

	pixels []byte   // of the last picture, before it was resized
	files  [][]byte // the values of the sample
	used   int      // of files
	taken  int      // pictures of the sample
}

// newTensors returns nil if the options turn nothing into pixels.
func newTensors(o *Options) (*tensors, error) {
	if o.Tensor == "" {
		if o.Resize != "" {
			return nil, place.Options("option resize: pictures are resized where they become pixels; name their fields with option tensor")
		}
		return nil, nil
	}
	t := &tensors{types: o.Tensor, most: cmp.Or(o.Limits.MaxPixels, decode.DefaultMaxPixels)}
	for suffix := range strings.SplitSeq(strings.ToLower(o.Tensor), ",") {
		if is := picture.OfSuffix(suffix); suffix == "" || is != nil && is.Name == "GIF" {
			return nil, fmt.Errorf("tensor %.40q: want suffixes of fields with pictures, jpg, jpeg, png, webp, or names of such fields", o.Tensor)
		}
	}
	var err error
	if t.edge, err = parseEdge(o.Resize); err != nil {
		return nil, err
	}
	if t.bare = strings.HasPrefix(o.Encoding, "raw"); t.bare && t.edge.width == 0 {
		return nil, place.Options("raw records of pixels have one shape: give it with option resize=WIDTHxHEIGHT, or encode msgpack")
	}
	return t, nil
}

// PixelShape returns the shape of raw records that are the pixels of one picture: height, width, 3. Others have none.
func (s *Spec) PixelShape() []int64 {
	t, _ := newTensors(&s.opts)
	if t == nil || !t.bare {
		return nil
	}
	return []int64{int64(t.edge.height), int64(t.edge.width), 3}
}

// takes reports whether a field is a picture to be decoded.
func (t *tensors) takes(field string) bool { return t != nil && isTensor(t.types, field) }

// isTensor reports whether a field has one of the suffixes of pictures, or one of the other names, which commas separate.
func isTensor(types, field string) bool {
	suffix, ofPicture := pictureSuffix(field)
	for s := range strings.SplitSeq(types, ",") {
		if s == field || ofPicture != nil && strings.EqualFold(s, suffix) {
			return true
		}
	}
	return false
}

// pictureSuffix returns what follows the last dot of a name, and the type of picture that it promises, or nil.
func pictureSuffix(field string) (string, *picture.Type) {
	suffix := field[strings.LastIndexByte(field, '.')+1:]
	return suffix, picture.OfSuffix(strings.ToLower(suffix))
}

// renamed returns the name of the field that has the pixels of a picture.
func (t *tensors) renamed(field string) string {
	suffix, is := pictureSuffix(field)
	if is == nil {
		return field + "." + tensorField
	}
	return strings.TrimSuffix(field, suffix) + tensorField
}

// next begins a sample. The values of the one before become invalid.
func (t *tensors) next() {
	if t != nil {
		t.used, t.taken = 0, 0
	}
}

// none reports whether the sample has no picture.
func (t *tensors) none() bool { return t != nil && t.taken == 0 }

// value returns the pixels of a picture, valid until the next sample, or their size.
func (t *tensors) value(f *converters.Field) (converters.Value, error) {
	t.taken++
	_, named := pictureSuffix(f.Name)
	if named == nil {
		named = &picture.Type{Name: "picture"}
	}
	if f.Value.Unread() {
		return f.Value, errors.New("internal error: the index did not read a picture that is to be decoded")
	}
	if f.Value.Kind() != converters.KindBytes {
		return f.Value, fmt.Errorf("%w: it is no picture, but a value", converters.ErrUnsupported)
	}
	if t.sizes {
		h, err := picture.ReadHead(named, f.Value.Data(), t.most)
		if err != nil {
			return f.Value, pictureError(err)
		}
		width, height, err := t.size(h)
		if err != nil {
			return f.Value, err
		}
		return converters.Opaque(int64(len(t.head(nil, width, height))) + int64(width)*int64(height)*3), nil
	}
	m, h, err := picture.Decode(named, f.Value.Data(), t.most)
	if err != nil {
		return f.Value, pictureError(err)
	}
	if r := m.Bounds(); r.Dx() != h.Width || r.Dy() != h.Height {
		return f.Value, fmt.Errorf("%w: the picture is %d × %d, its head says %d × %d", converters.ErrMalformed, r.Dx(), r.Dy(), h.Width, h.Height)
	}
	width, height, err := t.size(h)
	if err != nil {
		return f.Value, err
	}
	rgb := picture.ToRGB(t.pixels, m)
	t.pixels = rgb.Pix
	rgb = rgb.Resize(width, height)
	if t.used == len(t.files) {
		t.files = append(t.files, nil)
	}
	file := append(t.head(t.files[t.used][:0], width, height), rgb.Pix...)
	t.files[t.used] = file
	t.used++
	return converters.Bytes(file), nil
}

// size returns the size of the pixels of a picture, which must be within the limit, too.
func (t *tensors) size(h picture.Head) (width, height int, err error) {
	if h.Type.Name == "GIF" {
		return 0, 0, fmt.Errorf("%w: the picture is a GIF, which may have many frames", converters.ErrUnsupported)
	}
	if h.Width < 1 || h.Height < 1 {
		return 0, 0, fmt.Errorf("%w: the picture has %d × %d pixels", converters.ErrMalformed, h.Width, h.Height)
	}
	width, height = t.edge.of(h.Width, h.Height)
	if int64(width)*int64(height) > t.most {
		return 0, 0, pictureError(fmt.Errorf("%w: resized it has %d × %d pixels", picture.ErrPixels, width, height))
	}
	return width, height, nil
}

// head appends the head of an array file, if values have one.
func (t *tensors) head(b []byte, width, height int) []byte {
	if t.bare {
		return b
	}
	return heads.AppendArray(b, "|u1", []int64{int64(height), int64(width), 3})
}

// pictureError gives an error of a picture its kind, and what to do.
func pictureError(err error) error {
	switch {
	case errors.Is(err, picture.ErrPixels):
		return place.WithHint(fmt.Errorf("%w: %w", converters.ErrLimit, err), "raise option max-pixels")
	case errors.Is(err, picture.ErrUnchecked):
		return fmt.Errorf("%w: %w", converters.ErrUnsupported, err)
	}
	return place.WithHint(fmt.Errorf("%w: %w", converters.ErrMalformed, err), "check --deep names all pictures that do not decode")
}
