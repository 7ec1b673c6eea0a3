package check

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// lossyFile is a WebP of a VP8 frame with a tag and a size, and no more.
func lossyFile(tag byte) []byte {
	return picturetest.RIFF("VP8 " + string([]byte{tag, 0, 0, 0x9d, 0x01, 0x2a, 8, 0, 6, 0}))
}

func TestDeep(t *testing.T) {
	t.Parallel()
	deep := Options{Deep: true, MaxPixels: 1 << 20}
	for _, row := range []struct {
		name    string
		members []string
		want    []string
	}{
		{"sound", []string{"k.jpg=" + string(picturetest.JPEG(picturetest.Picture())), "k.cls=7\n", "k.json={}", "k.txt=grüß", "k.png=" + string(picturetest.PNG(picturetest.Picture())), "k.seg.gif=" + string(picturetest.GIF(3)),
			"k.webp=" + string(picturetest.WebP()), "k.mp=\x01", "k.cbor=\x01"}, nil},
		{"a cut JPEG", []string{"k.jpg=" + string(picturetest.JPEG(picturetest.Picture())[:300]), "l.jpg=" + string(picturetest.JPEG(picturetest.Picture()))}, []string{
			`error: a.tar: offset 0: "k": field "jpg": the JPEG ends too early [undecodable]`}},
		{"a flipped bit of a PNG", []string{"k.png=" + string(file{data: picturetest.PNG(picturetest.Picture())}.flip(100).data)}, []string{
			`error: a.tar: offset 0: "k": field "png": a damaged PNG: png: invalid format: zlib: invalid checksum [undecodable]`}},
		{"a page in place of an image", []string{"k.jpg=<!DOCTYPE html><html>"}, []string{
			`error: a.tar: offset 0: "k": field "jpg": not a JPEG: it begins with "<!DOCTYPE html><" [undecodable]`}},
		{"an empty image", []string{"k.jpg="}, []string{
			`error: a.tar: offset 0: "k": field "jpg": it is empty [undecodable]`,
			`warning: a.tar: offset 0: "k": field "jpg" is empty [empty-field]`}},
		{"another type", []string{"k.jpg=" + string(picturetest.PNG(picturetest.Picture())), "l.jpg=" + string(picturetest.PNG(picturetest.Picture())), "m.jpg=" + string(picturetest.GIF(1))}, []string{
			`warning: a.tar: offset 0: "k": field "jpg" is a PNG; 2 times [wrong-type]`,
			`warning: a.tar: offset 3072: "m": field "jpg" is a GIF [wrong-type]`}},
		{"another type, and cut", []string{"k.jpg=" + string(picturetest.PNG(picturetest.Picture())[:500])}, []string{
			`error: a.tar: offset 0: "k": field "jpg": a damaged PNG: png: invalid format: not enough pixel data [undecodable]`,
			`warning: a.tar: offset 0: "k": field "jpg" is a PNG [wrong-type]`}},
		{"too large", []string{"k.png=" + string(picturetest.PNGOf(100_000, 50_000))}, []string{
			`warning: a.tar: offset 0: "k": field "png": not decoded: the image is too large: 100000 × 50000, all in all 5000000000 pixels (option max-pixels) [unchecked]`}},
		{"too many frames", []string{"k.gif=" + string(picturetest.GIF(300))}, []string{
			`warning: a.tar: offset 0: "k": field "gif": not decoded: the image is too large: 8 × 6, all in all 1243200 pixels (option max-pixels) [unchecked]`}},
		{"a kind that is not known", []string{"k.jpg=" + string(picturetest.JPEGOfBits(12))}, []string{
			`warning: a.tar: offset 0: "k": field "jpg": not decoded: unsupported JPEG feature: precision [unchecked]`}},
		{"an animated WebP", []string{"k.webp=" + string(picturetest.RIFF("VP8X\x02\x00\x00\x00\x07\x00\x00\x05\x00\x00", "ANIM\x00\x00\x00\x00\x00\x00", "ANMF"))}, []string{
			`warning: a.tar: offset 0: "k": field "webp": not decoded: the WebP is an animation [unchecked]`}},
		{"a WebP that is not a key frame", []string{"k.webp=" + string(lossyFile(1))}, []string{
			`error: a.tar: offset 0: "k": field "webp": a damaged WebP: its VP8 frame is not a key frame, which a still image is [undecodable]`}},
		{"a WebP of a frame header alone", []string{"k.webp=" + string(lossyFile(0))}, []string{
			`error: a.tar: offset 0: "k": field "webp": the WebP ends too early [undecodable]`}},
		{"values", []string{"k.cls=dog", "k.json={", "k.txt=\xff", "k.cbor=\xff", "k.mp=\xc1"}, []string{
			`error: a.tar: offset 0: "k": field "cls": malformed: "dog" is not an integer (without option decode it stays bytes) [undecodable]`,
			`error: a.tar: offset 0: "k": field "json": malformed: JSON ends too early at byte 1 (without option decode it stays bytes) [undecodable]`,
			`error: a.tar: offset 0: "k": field "txt": malformed: it is not UTF-8 at byte 0 (without option decode it stays bytes) [undecodable]`,
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
	opts.Load = decode.Decodable
	parts := partsOf(t, tarOf("a.tar", "k.jpg=x", "k.cls=dog"))
	const at = `error: a.tar: offset 0: "k": field `
	const cls = at + `"cls": malformed: "dog" is not an integer (without option decode it stays bytes) `
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
		`error: a.tar: offset 0: "k": field missing: no png, the sample has ["cls"] (option missing skip leaves such samples out) [missing-field]`})
}

// A payload that cannot be read is found, and the other parts are read all the same.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	parts := partsOf(t, tarOf("a.tar", "k.jpg="+string(picturetest.JPEG(picturetest.Picture()))), tarOf("b.tar", "l.jpg=x"))
	src := failing{tar.Open(parts, waived), 0}
	compare(t, check(t, src, Options{Deep: true}), []string{
		`error: a.tar: offset 0: over a limit [limit]`,
		`error: b.tar: offset 0: "l": field "jpg": not a JPEG: it begins with "x" [undecodable]`})
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
