package check

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

// An imageType is an image format that can be decoded.
type imageType struct {
	name     string
	suffixes []string // of field names, lower case
	magic    string   // first bytes of the image; '?' matches any byte
	config   func(io.Reader) (image.Config, error)
	decode   func(io.Reader) (image.Image, error)
}

var imageTypes = [...]imageType{
	{"JPEG", []string{"jpg", "jpeg", "jpe", "jfif"}, "\xff\xd8\xff", jpeg.DecodeConfig, jpeg.Decode},
	{"PNG", []string{"png"}, "\x89PNG\r\n\x1a\n", png.DecodeConfig, png.Decode},
	{"GIF", []string{"gif"}, "GIF8", gif.DecodeConfig, nil}, // many frames: see decoder.image
	{"WebP", []string{"webp"}, "RIFF????WEBP", webp.DecodeConfig, webp.Decode},
}

// Reasons for not decoding an image that may be sound.
var (
	errUnchecked = errors.New("not decoded")
	errPixels    = fmt.Errorf("%w: the image is too large", errUnchecked)
)

// imageOfSuffix returns the type with a suffix, which must be lower case, or nil.
func imageOfSuffix(suffix string) *imageType {
	for i := range imageTypes {
		if slices.Contains(imageTypes[i].suffixes, suffix) {
			return &imageTypes[i]
		}
	}
	return nil
}

// imageOf returns the type that the first bytes of data show, or nil.
func imageOf(data []byte) *imageType {
	for i := range imageTypes {
		magic := imageTypes[i].magic
		same := len(data) >= len(magic)
		for k := 0; same && k < len(magic); k++ {
			same = magic[k] == '?' || data[k] == magic[k]
		}
		if same {
			return &imageTypes[i]
		}
	}
	return nil
}

// image decodes an image and returns its type, nil if that is unknown. named is the type that the
// field's name promises; it is used in errors only. Before decoding, image compares the size in
// pixels, which decides how much memory the decoder takes, with d.maxPixels.
func (d *decoder) image(named *imageType, data []byte) (*imageType, error) {
	if len(data) == 0 {
		return nil, errors.New("it is empty")
	}
	is := imageOf(data)
	if is == nil {
		return nil, fmt.Errorf("not a %s: it begins with %q", named.name, data[:min(16, len(data))])
	}
	if is.name == "WebP" {
		if err := webpFrame(data); err != nil {
			return is, imageError(is, err)
		}
	}
	var config image.Config
	err := careful(func() (err error) {
		config, err = is.config(bytes.NewReader(data))
		return err
	})
	if err != nil {
		return is, imageError(is, err)
	}
	pixels := int64(config.Width) * int64(config.Height)
	if is.name == "GIF" {
		if pixels, err = gifPixels(data); err != nil {
			return is, imageError(is, err)
		}
	}
	if pixels > d.maxPixels {
		return is, fmt.Errorf("%w: %d × %d, all in all %d pixels", errPixels, config.Width, config.Height, pixels)
	}
	err = careful(func() (err error) {
		if is.decode != nil {
			_, err = is.decode(bytes.NewReader(data))
		} else {
			_, err = gif.DecodeAll(bytes.NewReader(data))
		}
		return err
	})
	return is, imageError(is, err)
}

// careful calls decode and turns a panic of the library into an error, so that one hostile image
// does not end the check of all others.
func careful(decode func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the decoder gives up: %v", r)
		}
	}()
	return decode()
}

// imageError describes an error of a decoder. A feature that the decoder does not support is
// errUnchecked, everything else is damage.
func imageError(is *imageType, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errUnchecked) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the %s ends too early", is.name)
	}
	_, ofJPEG := errors.AsType[jpeg.UnsupportedError](err)
	_, ofPNG := errors.AsType[png.UnsupportedError](err)
	if ofJPEG || ofPNG {
		return fmt.Errorf("%w: %w", errUnchecked, err)
	}
	return fmt.Errorf("a damaged %s: %w", is.name, err)
}
