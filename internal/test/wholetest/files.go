// Package wholetest makes small files of the formats that package whole knows. Only tests import it.
package wholetest

import (
	"bytes"
	"encoding/binary"

	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// Files returns a whole file of each format, by its suffix. Every cut of it loses something.
func Files() map[string][]byte {
	return map[string][]byte{
		"jpg":  picturetest.JPEG(picturetest.Picture()),
		"png":  picturetest.PNG(picturetest.Picture()),
		"gif":  picturetest.GIF(2),
		"webp": picturetest.WebP(),
		"mp4":  bytes.Join([][]byte{Box("ftyp", "isom\x00\x00\x02\x00isomavc1"), Box("mdat", string(make([]byte, 700))), Box("moov", string(make([]byte, 300)))}, nil),
		"wav":  Sound(900, 900),
		"json": []byte(`{"caption": "a picture, \"cut\"", "boxes": [[1, 2, 3, 4], [5, 6, 7, 8]], "score": 0.25}`),
	}
}

// Box returns a box of an MP4 file.
func Box(name, content string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+len(content)))
	return append(append(b, name...), content...)
}

// Sound returns a WAV file with n bytes of sound that says it has size of them.
func Sound(n int, size uint32) []byte {
	b := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[4:], 36+size)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data"...)
	b = binary.LittleEndian.AppendUint32(b, size)
	return append(b, make([]byte, n)...)
}
