package picture

import (
	"encoding/base64"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// pillow makes pictures and compares their pixels. A request of 4 bytes is a number; the answer is a name and the file of the picture that it has.
// A longer request is pixels of the last picture; the answer is the mean difference of levels, and the largest.
//
// Pillow writes JPEGs of three ways of sampling. Others are written here as one scan for each component, which is that of a grey JPEG.
const pillow = `
import base64, io, numpy, struct
from PIL import Image

def drawn(r, w, h, kind):
    y, x = numpy.mgrid[0:h, 0:w].astype(float)
    if kind == 0:    # waves of saturated colours
        a = r.uniform(0.05, 0.9, 6)
        v = [128 + 127 * numpy.sin(a[2*c] * x + a[2*c+1] * y + c) for c in range(3)]
    elif kind == 1:  # fields with hard edges
        f = r.integers(0, 256, (3, h // 5 + 1, w // 5 + 1))
        v = [f[c][(y // 5).astype(int), (x // 5).astype(int)] for c in range(3)]
    elif kind == 2:  # noise
        v = r.integers(0, 256, (3, h, w))
    else:            # smooth, as a camera has it, and a little noise
        a = r.uniform(0.01, 0.08, 6)
        v = [128 + 100 * numpy.sin(a[2*c] * x + a[2*c+1] * y + c) + r.normal(0, 3, (h, w)) for c in range(3)]
    return numpy.clip(numpy.stack(v, 2), 0, 255).astype(numpy.uint8)

def saved(m, **options):
    b = io.BytesIO()
    m.save(b, **options)
    return b.getvalue()

def segments(jpeg):
    at = 2
    while True:
        marker, n = jpeg[at + 1], struct.unpack(">H", jpeg[at + 2:at + 4])[0]
        yield marker, jpeg[at:at + 2 + n]
        at += 2 + n
        if marker == 0xda:
            yield None, jpeg[at:-2]
            return

def scans(planes, sampling, quality, transform):
    across, down = max(s[0] for s in sampling), max(s[1] for s in sampling)
    h, w = planes[0].shape
    tables, data = b"", b""
    for i, (plane, (sh, sv)) in enumerate(zip(planes, sampling)):
        size = -(-w * sh // across), -(-h * sv // down)
        grey = Image.fromarray(plane).resize(size, Image.BOX)
        parts = list(segments(saved(grey, format="JPEG", quality=quality)))
        tables = b"".join(s for m, s in parts if m in (0xdb, 0xc4))
        data += struct.pack(">BBHBBBBBB", 255, 0xda, 8, 1, i + 1, 0, 0, 63, 0) + parts[-1][1]
    head = b"\xff\xd8"
    if transform is not None:
        head += b"\xff\xee" + struct.pack(">H", 14) + b"Adobe" + struct.pack(">HHHB", 100, 0, 0, transform)
    frame = struct.pack(">BBHBHHB", 255, 0xc0, 8 + 3 * len(planes), 8, h, w, len(planes))
    frame += b"".join(bytes([i + 1, sh << 4 | sv, 0]) for i, (sh, sv) in enumerate(sampling))
    return head + tables + frame + data + b"\xff\xd9"

sizes = [(1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (4, 4), (5, 3), (6, 7), (16, 16), (17, 33), (31, 18), (64, 48), (65, 49), (97, 131), (200, 150), (33, 1), (1, 33)]
pillows = ["4:4:4", "4:2:2", "4:2:0"]
ours = {"4:4:0": (1, 2), "4:1:1": (4, 1), "4:1:0": (4, 2), "4:2:0": (2, 2), "4:2:2": (2, 1)}

def make(i):
    r = numpy.random.default_rng(i)
    w, h = sizes[i % len(sizes)] if i % 3 else (int(r.integers(1, 150)), int(r.integers(1, 150)))
    rgb, quality = drawn(r, w, h, i % 4), int(r.integers(50, 98))
    kind = ["pillow", "progressive", "scans", "grey", "cmyk", "ycck", "pillow", "scans", "webp", "inks"][i % 10]
    m = Image.fromarray(rgb)
    k = drawn(r, w, h, 3)[:, :, 1]
    if kind in ("pillow", "progressive"):
        s = pillows[i // 10 % 3]
        return kind + " " + s, saved(m, format="JPEG", quality=quality, subsampling=s, progressive=kind == "progressive", optimize=i % 2 == 0)
    ycc = [numpy.asarray(c) for c in m.convert("YCbCr").split()]
    if kind == "scans":
        s = list(ours)[i // 10 % 5]
        return kind + " " + s, scans(ycc, [ours[s], (1, 1), (1, 1)], quality, None)
    if kind == "grey":
        return kind, saved(m.convert("L"), format="JPEG", quality=quality)
    if kind == "cmyk":
        return kind, saved(Image.merge("CMYK", [*m.split(), Image.fromarray(k)]), format="JPEG", quality=quality)
    half = [(2, 2), (1, 1), (1, 1), (2, 2)] if i // 10 % 2 else [(1, 1)] * 4
    if kind == "ycck":
        return kind + " %d" % half[0][0], scans([*ycc, k], half, quality, 2)
    if kind == "inks": # as Adobe has them, and without its mark
        return kind + " %d" % half[0][0], scans([*numpy.moveaxis(rgb, 2, 0), k], half, quality, 0 if i // 20 % 2 else None)
    if i // 10 % 2:
        m.putalpha(Image.fromarray(k))
    return kind + " " + m.mode + ["", " lossless"][i // 10 % 3 == 2], saved(m, format="WEBP", quality=quality, method=i // 10 % 5, lossless=i // 10 % 3 == 2, exact=True)

def reply(request):
    global last
    if len(request) == 4:
        name, last = make(struct.unpack("<I", request)[0])
        return [name, base64.b64encode(last).decode()]
    want = numpy.asarray(Image.open(io.BytesIO(last)).convert("RGB")).astype(int)
    got = numpy.frombuffer(request[4:], numpy.uint8).astype(int)
    d = numpy.abs(got.reshape(want.shape) - want)
    return [float(d.mean()), int(d.max())]
`

// The colours of 200 pictures of all kinds of sampling, of odd sizes, grey and of inks, are those that Pillow has, which reads JPEGs with libjpeg-turbo and
// WebPs with libwebp: a WebP to the bit, a JPEG within 4 levels and 0.3 in the mean, since its transform is rounded otherwise.
func TestPillow(t *testing.T) {
	t.Parallel()
	py := python.Start(t, pillow, "numpy", "PIL.Image")
	var worst float64
	most, count := 0, map[string]int{}
	for i := range 200 {
		var made []string
		py.Ask([]byte{byte(i), byte(i >> 8), 0, 0}, &made)
		file, err := base64.StdEncoding.DecodeString(made[1])
		if err != nil {
			t.Fatal(err)
		}
		m, h, err := Decode(Of(file), file, 1<<20)
		if err != nil {
			t.Errorf("%d %s: %v", i, made[0], err)
			continue
		}
		var differ []float64
		py.Ask(append([]byte{0, 0, 0, 0}, ToRGB(nil, m).Pix...), &differ)
		mean, largest := differ[0], int(differ[1])
		if h.Type.Name == "WebP" && largest > 0 || mean > 0.3 || largest > 4 {
			t.Errorf("%d %s, %d × %d: levels differ by %.2f in the mean, by %d at most", i, made[0], h.Width, h.Height, mean, largest)
		}
		count[made[0]]++
		worst, most = max(worst, mean), max(most, largest)
	}
	t.Logf("levels differ by %.3f in the mean of the worst picture, by %d at most; %v", worst, most, count)
}
