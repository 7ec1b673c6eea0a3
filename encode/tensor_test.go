package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	pictures "image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

func pixels(t *testing.T, opts Options, fields ...converters.Field) ([]byte, error) {
	t.Helper()
	spec, err := Parse(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &converters.Sample{Key: "k", Fields: fields}
	rec, err := spec.NewEncoder().Encode(s)
	if err != nil {
		return nil, err
	}
	record := bytes.Join(rec.Parts, nil)
	sized, err := spec.NewSizer().Encode(s)
	if err != nil || sized.Size != int64(len(record)) {
		t.Errorf("%+v: the sizer has %v, %v; the record has %d bytes", opts, sized, err, len(record))
	}
	return record, nil
}

func jpegField(data []byte) converters.Field {
	return converters.Field{Name: "jpg", Value: converters.Bytes(data)}
}

// noise returns a picture of one of the types that PNG has.
func noise(r *rand.Rand, width, height, kind int) pictures.Image {
	box := pictures.Rect(0, 0, width, height)
	fill := func(pix []byte) {
		for i := range pix {
			pix[i] = byte(r.IntN(256))
		}
	}
	switch kind {
	case 0:
		m := pictures.NewGray(box)
		fill(m.Pix)
		return m
	case 1:
		m := pictures.NewNRGBA(box)
		fill(m.Pix)
		return m
	case 2:
		var p color.Palette
		for range 1 + r.IntN(256) {
			p = append(p, color.RGBA{byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256)), 255})
		}
		m := pictures.NewPaletted(box, p)
		for i := range m.Pix {
			m.Pix[i] = byte(r.IntN(len(p)))
		}
		return m
	}
	m := pictures.NewRGBA(box)
	fill(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	return m
}

// Pixels are those that Pillow has, to the bit where a picture has no loss and within 4 levels in a JPEG, resized or not, and numpy reads the field.
func TestTensorPillow(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import io, json, numpy, struct
from PIL import Image
def reply(request):
    edge, of_record, of_picture = struct.unpack("<III", request[:12])
    width, height, n = edge & 0xffff, edge >> 16, of_record
    got = numpy.load(io.BytesIO(request[12:12 + n]))
    m = Image.open(io.BytesIO(request[12 + n:])).convert("RGB")
    if height == 0 and width:
        w, h = m.size
        width, height = (width, int(width * h / w)) if w <= h else (int(width * w / h), width)
    if width:
        m = m.resize((width, height), Image.BILINEAR)
    want = numpy.asarray(m)
    if got.shape != want.shape or got.dtype != want.dtype:
        return [str(got.shape), str(want.shape), -1]
    d = numpy.abs(got.astype(int) - want.astype(int))
    return ["", "", float(d.mean()), float(d.max())]
`, "numpy", "PIL.Image")
	r := rand.New(rand.NewPCG(3, 4))
	worst, mostJPEG := 0.0, 0.0
	for i := range 400 {
		m := noise(r, 1+r.IntN(70), 1+r.IntN(70), i%4)
		name, file := "png", picturetest.PNG(m)
		if i%5 == 4 {
			name, file = "jpg", picturetest.JPEG(smooth(r, 8+r.IntN(90), 8+r.IntN(90)))
		}
		resize, edge := "", uint32(0)
		switch i % 3 {
		case 1:
			w, h := 1+r.IntN(120), 1+r.IntN(120)
			resize, edge = fmt.Sprintf("%dx%d", w, h), uint32(w|h<<16)
		case 2:
			s := 1 + r.IntN(60)
			resize, edge = fmt.Sprint(s), uint32(s)
		}
		opts := Options{Tensor: "png,jpg", Resize: resize}
		record, err := pixels(t, opts, converters.Field{Name: "a." + name, Value: converters.Bytes(file)})
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(record, []byte("\x93NUMPY"))
		if !bytes.Contains(record[:at], []byte("a.npy")) {
			t.Fatalf("no field a.npy in %q", record[:at])
		}
		request := binary.LittleEndian.AppendUint32(nil, edge)
		request = binary.LittleEndian.AppendUint32(request, uint32(len(record)-at))
		request = binary.LittleEndian.AppendUint32(request, uint32(len(file)))
		var got []any
		py.Ask(append(append(request, record[at:]...), file...), &got)
		if got[0] != "" {
			t.Fatalf("%s, resize %q: shapes %v, Pillow has %v", name, resize, got[0], got[1])
		}
		mean, most := got[2].(float64), got[3].(float64)
		if name == "png" && most > 0 {
			t.Fatalf("picture %d (type %d), resize %q: a level differs by %v", i, i%4, resize, most)
		}
		if name == "jpg" {
			worst, mostJPEG = max(worst, mean), max(mostJPEG, most)
		}
	}
	t.Logf("JPEG: levels differ by %.2f in the mean of the worst picture, by %v at most", worst, mostJPEG)
	if worst > 0.3 || mostJPEG > 4 {
		t.Errorf("JPEG: levels differ by %.2f in the mean, by %v at most", worst, mostJPEG)
	}
}

// smooth returns a picture as a camera makes them: no two pixels beside each other differ by much.
func smooth(r *rand.Rand, width, height int) pictures.Image {
	m := pictures.NewRGBA(pictures.Rect(0, 0, width, height))
	a, b, c := r.Float64()/8, r.Float64()/8, r.Float64()/8
	for y := range height {
		for x := range width {
			level := func(f float64, d int) uint8 { return uint8(128 + 120*math.Sin(f*float64(x+d)+c*float64(y))) }
			m.Set(x, y, color.RGBA{level(a, 0), level(b, 9), level(c, 30), 255})
		}
	}
	return m
}

func TestTensorRaw(t *testing.T) {
	t.Parallel()
	opts := Options{Encoding: "raw:jpg", Tensor: "jpg", Resize: "7x5"}
	record, err := pixels(t, opts, jpegField(picturetest.JPEG(picturetest.Picture())), converters.Field{Name: "cls", Value: converters.Int(3)})
	if err != nil || len(record) != 7*5*3 {
		t.Fatalf("%d bytes, %v", len(record), err)
	}
	spec, _ := Parse(opts)
	if got := fmt.Sprint(spec.PixelShape()); got != "[5 7 3]" {
		t.Errorf("shape %s", got)
	}
}

func TestTensorTwoPictures(t *testing.T) {
	t.Parallel()
	a, b := picturetest.PNG(noise(rand.New(rand.NewPCG(1, 1)), 4, 3, 0)), picturetest.PNG(noise(rand.New(rand.NewPCG(2, 2)), 4, 3, 3))
	record, err := pixels(t, Options{Encoding: "cbor", Tensor: "png", Rename: []string{"mask=seg.png"}},
		converters.Field{Name: "png", Value: converters.Bytes(a)}, converters.Field{Name: "seg.png", Value: converters.Bytes(b)})
	if err != nil {
		t.Fatal(err)
	}
	key, fields, ok := decode.Describe(record)
	if key != "k" || !ok || len(fields) != 2 || fields[0].Name != "npy" || fields[1].Name != "mask" {
		t.Fatalf("%q, %v", key, fields)
	}
	first, second := bytes.Index(record, []byte("\x93NUMPY")), bytes.LastIndex(record, []byte("\x93NUMPY"))
	m, _ := png.Decode(bytes.NewReader(a))
	if grey := m.(*pictures.Gray).Pix; record[first+128] != grey[0] || record[first+128+3] != grey[1] || record[second+128] == grey[0] && record[second+129] == grey[0] {
		t.Error("the pictures were mixed up")
	}
}

// Fields without a suffix are named as a whole, and are told by their content.
func TestTensorNames(t *testing.T) {
	t.Parallel()
	file := picturetest.PNG(picturetest.Picture())
	fields := []converters.Field{{Name: "image/encoded", Value: converters.Bytes(file)}, {Name: "left.Image", Value: converters.Bytes(file)}, {Name: "image", Value: converters.Bytes(file)}}
	record, err := pixels(t, Options{Encoding: "cbor", Tensor: "jpg,image/encoded,left.Image"}, fields...)
	if err != nil {
		t.Fatal(err)
	}
	if _, fields, _ := decode.Describe(record); len(fields) != 3 || fields[0].Name != "image/encoded.npy" || fields[1].Name != "left.Image.npy" || fields[2].Name != "image" {
		t.Errorf("fields %v", fields)
	}
	record, err = pixels(t, Options{Encoding: "raw:image", Tensor: "image", Resize: "7x5"}, fields...)
	if err != nil || len(record) != 7*5*3 {
		t.Errorf("%d bytes, %v", len(record), err)
	}
	_, err = pixels(t, Options{Tensor: "image"}, converters.Field{Name: "image", Value: converters.Bytes([]byte("hello"))})
	if !errors.Is(err, converters.ErrMalformed) || !strings.Contains(err.Error(), `field "image": malformed: not a picture: it begins with "hello"`) {
		t.Errorf("%v", err)
	}
}

func TestTensorRefuses(t *testing.T) {
	t.Parallel()
	good := picturetest.JPEG(picturetest.Picture())
	for _, row := range []struct {
		name   string
		opts   Options
		fields []converters.Field
		want   string
		is     error
	}{
		{"cut", Options{Tensor: "jpg"}, []converters.Field{jpegField(good[:300])}, "ends too early", converters.ErrMalformed},
		{"no picture", Options{Tensor: "jpg"}, []converters.Field{jpegField([]byte("<html>"))}, "not a JPEG", converters.ErrMalformed},
		{"empty", Options{Tensor: "jpg"}, []converters.Field{jpegField(nil)}, "it is empty", converters.ErrMalformed},
		{"12 bits", Options{Tensor: "jpg"}, []converters.Field{jpegField(picturetest.JPEGOfBits(12))}, "precision", converters.ErrUnsupported},
		{"a GIF under another name", Options{Tensor: "jpg"}, []converters.Field{jpegField(picturetest.GIF(2))}, "GIF", converters.ErrUnsupported},
		{"a bomb", Options{Tensor: "jpg"}, []converters.Field{jpegField(picturetest.PNGOf(60_000, 60_000))}, "too large", converters.ErrLimit},
		{"large when it is resized", Options{Tensor: "jpg", Resize: "60000x60000"}, []converters.Field{jpegField(good)}, "resized", converters.ErrLimit},
		{"large along one edge", Options{Tensor: "jpg", Resize: "8000", Limits: decode.Limits{MaxPixels: 1 << 20}}, []converters.Field{jpegField(good)}, "resized", converters.ErrLimit},
		{"text", Options{Tensor: "jpg"}, []converters.Field{{Name: "jpg", Value: converters.Text([]byte("a"))}}, "no picture", converters.ErrUnsupported},
		{"none", Options{Tensor: "jpg"}, []converters.Field{{Name: "cls", Value: converters.Int(1)}}, "no field has the suffix or the name jpg", ErrMissing},
		{"none, skipped", Options{Tensor: "jpg", Missing: MissingSkip}, []converters.Field{{Name: "cls", Value: converters.Int(1)}}, "left out", ErrSkip},
		{"two of one name", Options{Tensor: "jpg,png"}, []converters.Field{jpegField(good), {Name: "png", Value: converters.Bytes(good)}}, `"npy"`, converters.ErrDuplicate},
	} {
		spec, err := Parse(row.opts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = spec.NewEncoder().Encode(&converters.Sample{Fields: row.fields})
		if err == nil || !strings.Contains(err.Error(), row.want) || !errors.Is(err, row.is) {
			t.Errorf("%s: error %v", row.name, err)
		}
	}
	for _, opts := range []Options{{Resize: "3"}, {Tensor: "gif"}, {Tensor: "jpg,"}, {Tensor: "jpg,,png"}, {Tensor: "jpg", Resize: "0"}, {Tensor: "jpg", Resize: "3x"}, {Tensor: "jpg", Resize: "-3"},
		{Tensor: "jpg", Resize: "70000"}, {Tensor: "jpg", Resize: "1x2x3"}, {Tensor: "jpg", Encoding: "raw"}, {Tensor: "jpg", Encoding: "raw:jpg", Resize: "3"}, {Tensor: "jpg", Encoded: true}} {
		if _, err := Parse(opts); err == nil {
			t.Errorf("%+v: no error", opts)
		}
	}
}
