// Package picture recognises pictures, reads their sizes, and decodes them to the colours that
// libjpeg, libpng and libwebp have, but for a few levels of a JPEG: JPEG, PNG, GIF and WebP.
//
// A picture may come from anywhere. Nothing is allocated for its pixels before their number, which is in its head,
// has been compared with a limit, and a decoder that panics is an error of the picture.
//
// [Problem] tells fields that are cut or empty from whole ones, without decoding them: pictures, sounds, films, JSON.
package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"

	"golang.org/x/image/webp"
)

// A Type is a format of pictures that can be decoded.
type Type struct {
	Name     string   // "JPEG"
	suffixes []string // of field names, lower case
	magic    string   // first bytes of the picture; '?' matches any byte
	config   func(io.Reader) (image.Config, error)
	decode   func([]byte) (image.Image, error)
	first    func([]byte) (image.Image, error) // of the frames
}

var types = [...]Type{
	{"JPEG", []string{"jpg", "jpeg", "jpe", "jfif"}, "\xff\xd8\xff", jpeg.DecodeConfig, decodeJPEG, decodeJPEG},
	{"PNG", []string{"png"}, "\x89PNG\r\n\x1a\n", png.DecodeConfig, decodePNG, decodePNG},
	{"GIF", []string{"gif"}, "GIF8", gif.DecodeConfig, decodeGIF, firstOfGIF},
	{"WebP", []string{"webp"}, "RIFF????WEBP", webp.DecodeConfig, decodeWebP, decodeWebP},
}

// Reasons for not decoding a picture that may be sound.
var (
	ErrUnchecked = errors.New("not decoded")
	ErrPixels    = fmt.Errorf("%w: the image is too large", ErrUnchecked)
)

// DefaultMaxPixels is a limit of pixels for those who set none: 8,192 × 8,192.
const DefaultMaxPixels = 1 << 26

func decodePNG(data []byte) (image.Image, error) { return png.Decode(bytes.NewReader(data)) }

// OfSuffix returns the type with a suffix, which must be lower case, or nil.
func OfSuffix(suffix string) *Type {
	for i := range types {
		if slices.Contains(types[i].suffixes, suffix) {
			return &types[i]
		}
	}
	return nil
}

// Of returns the type that the first bytes of data show, or nil.
func Of(data []byte) *Type {
	for i := range types {
		magic := types[i].magic
		same := len(data) >= len(magic)
		for k := 0; same && k < len(magic); k++ {
			same = magic[k] == '?' || data[k] == magic[k]
		}
		if same {
			return &types[i]
		}
	}
	return nil
}

// A Head is what the head of a picture declares. The rest of the picture is not checked.
type Head struct {
	Type          *Type
	Width, Height int
}

// ReadHead returns the head of a picture whose name promises the type named, which errors name. The picture may be of another
// type. The error is [ErrPixels] if the picture, all frames together, has more pixels than most. Where the type is known, the Head
// has it even with an error.
func ReadHead(named *Type, data []byte, most int64) (Head, error) {
	h, err := readHead(named, data)
	if err != nil {
		return h, err
	}
	pixels := int64(h.Width) * int64(h.Height)
	if h.Type.Name == "GIF" {
		if pixels, err = gifPixels(data); err != nil {
			return Head{Type: h.Type}, h.Type.failed(err)
		}
	}
	return h, h.compare(pixels, most)
}

// ReadFirst is ReadHead for the first frame alone, of a picture of any type.
func ReadFirst(data []byte, most int64) (Head, error) {
	h, err := readHead(&types[0], data)
	if err != nil {
		return h, err
	}
	return h, h.compare(int64(h.Width)*int64(h.Height), most)
}

func (h Head) compare(pixels, most int64) error {
	if pixels > most {
		return fmt.Errorf("%w: %d × %d, all in all %d pixels", ErrPixels, h.Width, h.Height, pixels)
	}
	return nil
}

// First decodes the first frame of the picture that h is the head of. [NewRows] has its colours.
func (h Head) First(data []byte) (m image.Image, err error) {
	err = careful(func() (err error) {
		m, err = h.Type.first(data)
		return err
	})
	return m, h.Type.failed(err)
}

func readHead(named *Type, data []byte) (Head, error) {
	if len(data) == 0 {
		return Head{}, errors.New("it is empty")
	}
	is := Of(data)
	if is == nil {
		return Head{}, fmt.Errorf("not a %s: it begins with %q", named.Name, data[:min(16, len(data))])
	}
	h := Head{Type: is}
	var frameWidth, frameHeight int
	var err error
	if is.Name == "WebP" {
		if frameWidth, frameHeight, err = webpFrame(data); err != nil {
			return h, is.failed(err)
		}
	}
	var config image.Config
	err = careful(func() (err error) {
		config, err = is.config(bytes.NewReader(data))
		return err
	})
	if err != nil {
		return h, is.failed(err)
	}
	h.Width, h.Height = max(config.Width, frameWidth), max(config.Height, frameHeight)
	return h, nil
}

// Decode decodes a picture, all frames of it, and returns the first. named and most are those of [ReadHead], whose errors it returns, too.
func Decode(named *Type, data []byte, most int64) (image.Image, Head, error) {
	h, err := ReadHead(named, data, most)
	if err != nil {
		return nil, h, err
	}
	var m image.Image
	err = careful(func() (err error) {
		m, err = h.Type.decode(data)
		return err
	})
	return m, h, h.Type.failed(err)
}

// careful calls decode and turns a panic of the library into an error, so that one hostile picture
// does not end the work on all others.
func careful(decode func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder gives up: %v", r)
		}
	}()
	return decode()
}

// failed describes an error of a decoder. A feature that the decoder does not support is
// ErrUnchecked, everything else is damage.
func (t *Type) failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrUnchecked) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the %s ends too early", t.Name)
	}
	_, ofJPEG := errors.AsType[jpeg.UnsupportedError](err)
	_, ofPNG := errors.AsType[png.UnsupportedError](err)
	if ofJPEG || ofPNG {
		return fmt.Errorf("%w: %w", ErrUnchecked, err)
	}
	return fmt.Errorf("a damaged %s: %w", t.Name, err)
}
