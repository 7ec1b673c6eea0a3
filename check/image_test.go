package check

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
)

// A picture with enough in it that every cut of its file loses something.
func picture() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 24, 16))
	for i := range m.Pix {
		m.Pix[i] = byte(i*i>>3) | byte(i&3/3*255)
	}
	return m
}

func jpegFile() []byte {
	var b bytes.Buffer
	must(jpeg.Encode(&b, picture(), nil))
	return b.Bytes()
}

func pngFile() []byte {
	var b bytes.Buffer
	must(png.Encode(&b, picture()))
	return b.Bytes()
}

// gifFile is an animation.
func gifFile(frames int) []byte {
	var b bytes.Buffer
	g := gif.GIF{LoopCount: 1}
	for i := range frames {
		m := image.NewPaletted(image.Rect(0, 0, 8, 6), color.Palette{color.Black, color.White, color.Gray{99}})
		for k := range m.Pix {
			m.Pix[k] = byte((i + k*k) % 3)
		}
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 1)
	}
	must(gif.EncodeAll(&b, &g))
	return b.Bytes()
}

// webpFile is one pixel, without loss: the standard library writes no WebP.
func webpFile() []byte {
	b, err := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
	must(err)
	return b
}

// riffOf is a WebP of chunks, each with a name of four bytes and data of even length.
func riffOf(chunks ...string) []byte {
	body := []byte("WEBP")
	for _, c := range chunks {
		body = append(body, c[:4]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(c)-4))
		body = append(body, c[4:]...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// lossyFile is a WebP of a VP8 frame with a tag and a size, and no more.
func lossyFile(tag byte) []byte {
	return riffOf("VP8 " + string([]byte{tag, 0, 0, 0x9d, 0x01, 0x2a, 8, 0, 6, 0}))
}

// pngOf is a PNG that claims a size and has no pixels.
func pngOf(width, height uint32) []byte {
	data := slices.Clone(pngFile())
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return data
}

// jpegOfBits sets the bits of a sample: 12 are a JPEG that the decoder does not know.
func jpegOfBits(bits byte) []byte {
	data := slices.Clone(jpegFile())
	data[bytes.Index(data, []byte{0xFF, 0xC0})+4] = bits
	return data
}

func TestDeep(t *testing.T) {
	t.Parallel()
	deep := Options{Deep: true, MaxPixels: 1 << 20}
	for _, row := range []struct {
		name    string
		members []string
		want    []string
	}{
		{"sound", []string{"k.jpg=" + string(jpegFile()), "k.cls=7\n", "k.json={}", "k.txt=grüß", "k.png=" + string(pngFile()), "k.seg.gif=" + string(gifFile(3)),
			"k.webp=" + string(webpFile()), "k.mp=\x01", "k.cbor=\x01"}, nil},
		{"a cut JPEG", []string{"k.jpg=" + string(jpegFile()[:300]), "l.jpg=" + string(jpegFile())}, []string{
			`error: a.tar: offset 0: "k": field "jpg": the JPEG ends too early [undecodable]`}},
		{"a flipped bit of a PNG", []string{"k.png=" + string(file{data: pngFile()}.flip(100).data)}, []string{
			`error: a.tar: offset 0: "k": field "png": a damaged PNG: png: invalid format: zlib: invalid checksum [undecodable]`}},
		{"a page in place of an image", []string{"k.jpg=<!DOCTYPE html><html>"}, []string{
			`error: a.tar: offset 0: "k": field "jpg": not a JPEG: it begins with "<!DOCTYPE html><" [undecodable]`}},
		{"an empty image", []string{"k.jpg="}, []string{
			`error: a.tar: offset 0: "k": field "jpg": it is empty [undecodable]`,
			`warning: a.tar: offset 0: "k": field "jpg" is empty [empty-field]`}},
		{"another type", []string{"k.jpg=" + string(pngFile()), "l.jpg=" + string(pngFile()), "m.jpg=" + string(gifFile(1))}, []string{
			`warning: a.tar: offset 0: "k": field "jpg" is a PNG; 2 times [wrong-type]`,
			`warning: a.tar: offset 3072: "m": field "jpg" is a GIF [wrong-type]`}},
		{"another type, and cut", []string{"k.jpg=" + string(pngFile()[:500])}, []string{
			`error: a.tar: offset 0: "k": field "jpg": a damaged PNG: png: invalid format: not enough pixel data [undecodable]`,
			`warning: a.tar: offset 0: "k": field "jpg" is a PNG [wrong-type]`}},
		{"too large", []string{"k.png=" + string(pngOf(100_000, 50_000))}, []string{
			`warning: a.tar: offset 0: "k": field "png": not decoded: the image is too large: 100000 × 50000, all in all 5000000000 pixels (Options.MaxPixels) [unchecked]`}},
		{"too many frames", []string{"k.gif=" + string(gifFile(300))}, []string{
			`warning: a.tar: offset 0: "k": field "gif": not decoded: the image is too large: 8 × 6, all in all 1243200 pixels (Options.MaxPixels) [unchecked]`}},
		{"a kind that is not known", []string{"k.jpg=" + string(jpegOfBits(12))}, []string{
			`warning: a.tar: offset 0: "k": field "jpg": not decoded: unsupported JPEG feature: precision [unchecked]`}},
		{"an animated WebP", []string{"k.webp=" + string(riffOf("VP8X\x02\x00\x00\x00\x07\x00\x00\x05\x00\x00", "ANIM\x00\x00\x00\x00\x00\x00", "ANMF"))}, []string{
			`warning: a.tar: offset 0: "k": field "webp": not decoded: the WebP is an animation [unchecked]`}},
		{"a WebP that is not a key frame", []string{"k.webp=" + string(lossyFile(1))}, []string{
			`error: a.tar: offset 0: "k": field "webp": a damaged WebP: its VP8 frame is not a key frame, which a still image is [undecodable]`}},
		{"a WebP of a frame header alone", []string{"k.webp=" + string(lossyFile(0))}, []string{
			`error: a.tar: offset 0: "k": field "webp": the WebP ends too early [undecodable]`}},
		{"values", []string{"k.cls=dog", "k.json={", "k.txt=\xff", "k.cbor=\xff", "k.mp=\xc1"}, []string{
			`error: a.tar: offset 0: "k": field "cls": malformed: "dog" is not an integer (without Options.Decode it stays bytes) [undecodable]`,
			`error: a.tar: offset 0: "k": field "json": malformed: JSON ends too early (without Options.Decode it stays bytes) [undecodable]`,
			`error: a.tar: offset 0: "k": field "txt": malformed: it is not UTF-8 at byte 0 (without Options.Decode it stays bytes) [undecodable]`,
			`error: a.tar: offset 0: "k": field "cbor": `,
			`error: a.tar: offset 0: "k": field "mp": `}},
		{"a value too large", []string{`k.json="` + strings.Repeat("x", 17<<20) + `"`}, []string{
			`warning: a.tar: offset 0: "k": field "json": over a limit: `}},
		{"no decoder", []string{"k.mp4=x", "l.mp4=x"}, []string{
			`note: a.tar: offset 0: "k": field "mp4" was read, but there is no decoder for it; 2 times [not-decoded]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := check(t, tar.Open(partsOf(t, tarOf("a.tar", row.members...)), waived), deep)
			for i := range min(len(got), len(row.want)) { // the library's own words are cut off
				if strings.HasSuffix(row.want[i], ": ") && strings.HasPrefix(got[i], row.want[i]) {
					got[i] = row.want[i]
				}
			}
			compare(t, got, row.want)
		})
	}
}

// Without Deep no payload is read, so nothing of it is found; with Encode.Decode what is to
// be decoded is, and what Deep finds as well is not told of twice.
func TestDecode(t *testing.T) {
	t.Parallel()
	opts := waived
	opts.Load = encode.Decodable
	parts := partsOf(t, tarOf("a.tar", "k.jpg=x", "k.cls=dog"))
	const at = `error: a.tar: offset 0: "k": field `
	const cls = at + `"cls": malformed: "dog" is not an integer (without Options.Decode it stays bytes) `
	for _, row := range []struct {
		name string
		opts Options
		want []string
	}{
		{"neither", Options{}, nil},
		{"decode", Options{Encode: encode.Options{Decode: true}}, []string{cls + "[malformed]"}},
		{"deep", Options{Deep: true}, []string{at + `"jpg": not a JPEG: it begins with "x" [undecodable]`, cls + "[undecodable]"}},
		{"both", Options{Deep: true, Encode: encode.Options{Decode: true}}, []string{at + `"jpg": not a JPEG: it begins with "x" [undecodable]`, cls + "[undecodable]"}},
		{"deep, and a field that is missing", Options{Deep: true, Encode: encode.Options{Decode: true, Fields: "png"}}, []string{
			at + `"jpg": not a JPEG: it begins with "x" [undecodable]`, cls + "[undecodable]"}},
	} {
		compare(t, check(t, tar.Open(parts, opts), row.opts), row.want)
	}
	good := partsOf(t, tarOf("a.tar", "k.cls=1"))
	compare(t, check(t, tar.Open(good, opts), Options{Deep: true, Encode: encode.Options{Decode: true, Fields: "png"}}), []string{
		`error: a.tar: offset 0: "k": field missing: no png, the sample has ["cls"] (Options.Missing skip leaves such samples out) [missing-field]`})
}

// A payload that cannot be read is found, and the other parts are read all the same.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	parts := partsOf(t, tarOf("a.tar", "k.jpg="+string(jpegFile())), tarOf("b.tar", "l.jpg=x"))
	src := failing{tar.Open(parts, waived), 0}
	compare(t, check(t, src, Options{Deep: true}), []string{
		`error: a.tar: offset 0: over a limit [limit]`,
		`error: b.tar: offset 0: "l": field "jpg": not a JPEG: it begins with "x" [undecodable]`})
}

// Every cut of a file of each type, and every flipped byte of a PNG, which has checksums.
func TestCutImages(t *testing.T) {
	t.Parallel()
	d := &decoder{maxPixels: 1 << 20}
	for _, row := range []struct {
		suffix string
		data   []byte
	}{
		{"jpg", jpegFile()}, {"png", pngFile()}, {"gif", gifFile(3)}, {"webp", webpFile()},
	} {
		wanted := imageOfSuffix(row.suffix)
		if found, err := d.image(wanted, row.data); err != nil || found != wanted {
			t.Errorf("%s: %v", row.suffix, err)
		}
		undetected := 0
		for n := range len(row.data) {
			if _, err := d.image(wanted, row.data[:n]); err == nil {
				undetected++
			}
		}
		if undetected > 0 {
			t.Errorf("%s: %d of %d cuts were not found", row.suffix, undetected, len(row.data))
		}
		t.Logf("cut %s cases=%d undetected=%d", row.suffix, len(row.data), undetected)
	}
	data := pngFile()
	for i := range data {
		if _, err := d.image(imageOfSuffix("png"), (file{data: data}).flip(i).data); err == nil {
			t.Errorf("a flipped bit at byte %d was not found", i)
		}
	}
}

// It is not parallel: memory is counted. Images that claim to be large take none.
func TestLargeImagesMemory(t *testing.T) {
	d := &decoder{maxPixels: DefaultMaxPixels}
	frames := append(gifFile(1)[:13+12], bytes.Repeat([]byte("\x2c\x00\x00\x00\x00\xff\xff\xff\xff\x00\x08\x00"), 1000)...) // 65,535 × 65,535 each
	for name, data := range map[string][]byte{"png": pngOf(1<<31-1, 1<<31-1), "gif": append(frames, 0x3B)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := d.image(imageOfSuffix(name), data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		t.Logf("%s: bytes_allocated=%d %v", name, after.TotalAlloc-before.TotalAlloc, err)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// A panic of a library is an error of the image.
func TestCareful(t *testing.T) {
	t.Parallel()
	var row []byte
	if err := careful(func() error { _ = row[7]; return nil }); err == nil || !strings.Contains(err.Error(), "gives up") {
		t.Errorf("error %v", err)
	}
	if err := careful(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

func TestImageOfSuffix(t *testing.T) {
	t.Parallel()
	for suffix, want := range map[string]string{"jpg": "JPEG", "jpeg": "JPEG", "png": "PNG", "gif": "GIF", "webp": "WebP"} {
		if is := imageOfSuffix(suffix); is == nil || is.name != want {
			t.Errorf("%s: %v", suffix, is)
		}
	}
	for _, suffix := range []string{"", "bmp", "tiff", "npy", "JPG"} { // suffixes come in lower case
		if is := imageOfSuffix(suffix); is != nil {
			t.Errorf("%s: %v", suffix, is.name)
		}
	}
}

// A failing source cannot read one of its parts.
type failing struct {
	converters.Source
	part int
}

func (f failing) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	if run.Part != f.part {
		return f.Source.Read(ctx, run)
	}
	return func(yield func(*converters.Sample, error) bool) {
		yield(nil, &converters.Error{Where: f.Parts()[f.part].Name, Err: converters.ErrLimit})
	}
}
