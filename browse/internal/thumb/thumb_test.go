package thumb

import (
	"bytes"
	"context"
	"image"
	"testing"

	"github.com/ffconvert/ffconvert/internal/picture/picturetest"
)

func TestGet(t *testing.T) {
	t.Parallel()
	m := New(Options{})
	data, kind, err := m.Get(t.Context(), "a", func() ([]byte, error) {
		return picturetest.JPEG(image.NewRGBA(image.Rect(0, 0, 500, 375))), nil
	})
	if err != nil || kind != "image/jpeg" {
		t.Fatal(kind, err)
	}
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err != nil || c.Width != 192 || c.Height != 144 {
		t.Errorf("%v %v", c, err)
	}
	again, _, err := m.Get(context.Background(), "a", func() ([]byte, error) { t.Error("loaded twice"); return nil, nil })
	if err != nil || &again[0] != &data[0] {
		t.Error(err)
	}
}
