package picture_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/test/wholetest"
)

// Every cut of a file is told, whatever the name of the field promises where the format shows, and no whole file is called cut.
func TestCuts(t *testing.T) {
	t.Parallel()
	for suffix, data := range wholetest.Files() {
		kind := picture.Named("left." + strings.ToUpper(suffix))
		if why := picture.Problem(kind, data); why != "" {
			t.Errorf("%s: a whole one is %q", suffix, why)
		}
		for n := range data {
			if picture.Problem(kind, data[:n]) == "" {
				t.Errorf("%s: cut at %d of %d: whole", suffix, n, len(data))
			}
		}
		if why := picture.Problem(kind, nil); why != "empty" {
			t.Errorf("%s: an empty one is %q", suffix, why)
		}
		if why := picture.Problem(picture.Named("image"), nil); why != "" {
			t.Errorf("an empty field without a suffix is %q", why)
		}
		if head := data[:len(data)/2]; suffix != "mp4" && suffix != "json" && picture.Problem(picture.Named("image/encoded"), head) == "" {
			t.Errorf("%s: half a file without a suffix is whole", suffix)
		}
	}
}

// What is legal, or what decoders take, is whole.
func TestOdd(t *testing.T) {
	t.Parallel()
	files := wholetest.Files()
	with := func(suffix string, parts ...string) []byte {
		return append(slices.Clone(files[suffix]), strings.Join(parts, "")...)
	}
	thumbnail := picturetest.JPEG(picturetest.Picture())
	exif := slices.Concat([]byte("\xff\xd8\xff\xe1"), binary.BigEndian.AppendUint16(nil, uint16(2+len(thumbnail))), thumbnail, files["jpg"][2:])
	wave := func(edit func([]byte)) []byte {
		b := wholetest.Sound(900, 900)
		edit(b)
		return b
	}
	for _, row := range []struct {
		name, field string
		data        []byte
		want        string // a part of the problem; "": none
	}{
		{"zeros behind a JPEG", "jpg", with("jpg", "\x00\x00\x00"), ""},
		{"a film behind a JPEG", "jpg", with("jpg", string(files["mp4"])), ""},
		{"fill bytes before a marker", "jpg", slices.Concat(files["jpg"][:2], []byte("\xff\xff"), files["jpg"][2:]), ""},
		{"bytes between segments", "jpg", slices.Concat(exif[:4+2+len(thumbnail)], []byte("xx"), exif[4+2+len(thumbnail):]), ""},
		{"a thumbnail", "jpg", exif, ""},
		{"a thumbnail, cut behind it", "jpg", exif[:len(exif)-40], "FF D9"},
		{"a thumbnail, cut in it", "jpg", exif[:len(exif)/3], "no picture data"},
		{"a PNG named jpg", "jpg", files["png"], ""},
		{"half a PNG named jpg", "jpg", files["png"][:90], "IEND"},
		{"a BMP named jpg", "jpg", []byte("BM\x00\x00"), ""},
		{"an AVIF named jpg", "jpg", []byte("\x00\x00\x00\x20ftypavif"), ""},
		{"a page of an error named jpg", "jpg", []byte("<html>404</html>"), "does not begin as JPEG"},
		{"zeros named png", "seg.png", make([]byte, 500), "does not begin as PNG"},
		{"a text behind a PNG", "png", with("png", "copyright"), ""},
		{"zeros behind a GIF", "gif", with("gif", "\x00\x00"), ""},
		{"a byte between blocks of a GIF", "gif", slices.Concat(files["gif"][:len(files["gif"])-1], []byte("\x00;")), ""},
		{"more behind a WebP", "webp", with("webp", "\x00"), ""},
		{"moov first", "mp4", slices.Concat(wholetest.Box("ftyp", "isom"), wholetest.Box("moov", "x"), wholetest.Box("mdat", "xx")), ""},
		{"a box up to the end", "mp4", slices.Concat(wholetest.Box("ftyp", "isom"), wholetest.Box("moov", "x"), []byte("\x00\x00\x00\x00mdat"), make([]byte, 99)), ""},
		{"a box of 64 bits", "mp4", slices.Concat(wholetest.Box("moov", "x"), []byte("\x00\x00\x00\x01mdat\x00\x00\x00\x00\x00\x00\x00\x12xx")), ""},
		{"a box of 64 bits, cut", "mp4", slices.Concat(wholetest.Box("moov", "x"), []byte("\x00\x00\x00\x01mdat\xff\x00\x00\x00\x00\x00\x00\x12xx")), "a box is shorter"},
		{"a box of size 3", "mp4", slices.Concat(wholetest.Box("moov", "x"), []byte("\x00\x00\x00\x03mdatxx")), "a box is shorter"},
		{"a segment of a stream", "m4v", slices.Concat(wholetest.Box("styp", "msdh"), wholetest.Box("moof", "x"), wholetest.Box("mdat", "xx")), ""},
		{"no index yet", "mp4", slices.Concat(wholetest.Box("ftyp", "isom"), wholetest.Box("mdat", "xx")), "moov"},
		{"zeros behind a film", "mov", with("mp4", "\x00\x00\x00\x00"), ""},
		{"text named mp4", "mp4", []byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09"), "does not begin as MP4"},
		{"a stream of ffmpeg", "wav", wholetest.Sound(900, 0xffffffff), ""},
		{"a stream of sox", "wav", wholetest.Sound(900, 0x7ffff000), ""},
		{"a stream of GStreamer", "wav", wholetest.Sound(900, 0x7fff0000), ""},
		{"a size of 0", "wav", wholetest.Sound(900, 0), ""},
		{"an odd size without its byte", "wav", wholetest.Sound(899, 899), ""},
		{"a size in the head that counts the head", "wav", wave(func(b []byte) { binary.LittleEndian.PutUint32(b[4:], uint32(len(b))) }), ""},
		{"a list behind the sound, cut", "wav", with("wav", "LIST\xff\x00\x00\x00INFO"), ""},
		{"no sound", "wav", wholetest.Sound(0, 0)[:36], "no sound"},
		{"RF64", "wav", wave(func(b []byte) { copy(b, "RF64") }), ""},
		{"a number in JSON", "json", []byte(" 17\n"), ""},
		{"JSON with a byte order mark", "json", []byte("\xef\xbb\xbf{}\r\n"), ""},
		{"blanks", "json", []byte(" \n"), "empty"},
		{"a quote", "json", []byte("\""), "cut"},
		{"a text", "txt", []byte("{"), ""},
	} {
		if why := picture.Problem(picture.Named(row.field), row.data); (why == "") != (row.want == "") || !strings.Contains(why, row.want) {
			t.Errorf("%s: %q, want %q", row.name, why, row.want)
		}
	}
}

// Pillow is the judge: what it writes, in every way, is whole; a third of that is not.
func TestPillow(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import base64, io
from PIL import Image, features
def reply(_):
    files = {}
    def put(name, image, suffix, **how):
        f = io.BytesIO()
        image.save(f, how.pop("format"), **how)
        files[name + "." + suffix] = base64.b64encode(f.getvalue()).decode()
    noise = Image.effect_noise((61, 43), 90)
    thumb = io.BytesIO(); noise.resize((16, 16)).save(thumb, "JPEG")
    exif = b"Exif\0\0II*\0\x08\0\0\0\0\0" + thumb.getvalue()
    for mode in ["L", "RGB", "CMYK", "YCbCr"]:
        for progressive in [False, True]:
            for optimize in [False, True]:
                put("%s %d %d" % (mode, progressive, optimize), noise.convert(mode), "jpg", format="JPEG", progressive=progressive, optimize=optimize, exif=exif, quality=95)
    for mode in ["1", "L", "LA", "I", "P", "RGB", "RGBA"]:
        put(mode, noise.convert("RGB").convert(mode) if mode != "I" else noise.convert("I"), "png", format="PNG", compress_level=0)
    frames = [noise.rotate(90 * i) for i in range(3)]
    put("frames", frames[0], "png", format="PNG", save_all=True, append_images=frames[1:])
    put("frames", frames[0], "gif", format="GIF", save_all=True, append_images=frames[1:], comment=b"x" * 700, interlace=1)
    put("one", noise, "gif", format="GIF", transparency=3)
    if features.check("webp"):
        for lossless in [False, True]:
            put("%d" % lossless, noise.convert("RGB"), "webp", format="WEBP", lossless=lossless, exif=exif, icc_profile=b"x" * 77)
            put("alpha %d" % lossless, noise.convert("RGBA"), "webp", format="WEBP", lossless=lossless)
    return files
`, "PIL")
	var files map[string][]byte
	py.Ask(nil, &files)
	if len(files) < 26 {
		t.Errorf("%d files", len(files))
	}
	for name, data := range files {
		kind := picture.Named(name)
		if why := picture.Problem(kind, data); why != "" {
			t.Errorf("%s, of %d bytes: %s", name, len(data), why)
		}
		if why := picture.Problem(kind, bytes.Join([][]byte{data, {0, 0, 0}}, nil)); why != "" {
			t.Errorf("%s and zeros: %s", name, why)
		}
		for n := 0; n < len(data); n += 1 + n/20 {
			if picture.Problem(kind, data[:n]) == "" {
				t.Errorf("%s cut at %d of %d is whole", name, n, len(data))
			}
		}
	}
}

// FuzzProblem finds no panic.
func FuzzProblem(f *testing.F) {
	for suffix, data := range wholetest.Files() {
		f.Add(suffix, data)
	}
	f.Fuzz(func(t *testing.T, field string, data []byte) {
		picture.Problem(picture.Named(field), data)
	})
}
