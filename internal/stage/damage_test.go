package stage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// decodeAll is what Open does with the bytes of one file, without the files.
func decodeAll(data []byte) (compression string, out []byte, err error) {
	compression, err = sniff(data[:min(len(data), sniffLen)])
	if err != nil || compression == "" {
		return compression, data, err
	}
	r, err := decoder(compression, bufio.NewReader(bytes.NewReader(data)), DefaultMaxWindow)
	if err != nil {
		return compression, nil, err
	}
	defer r.Close()
	out, err = io.ReadAll(r)
	if err != nil {
		_, err = decodeError(compression, DefaultMaxWindow, err)
	}
	return compression, out, err
}

// trailers says how many bytes at the end of a file check what stands before them:
// gzip CRC and length, zstd checksum, bzip2 end marker and CRC, xz index and footer.
var trailers = map[string]int{"gzip": 8, "zstd": 4, "bzip2": 10, "xz": 28}

// TestE2 is row E2 of the fault table: a compressed tar is cut at every byte, and
// every bit of its trailer is flipped; with FFCONVERT_FAULTS=1, every bit of the
// file. A cut so short that no magic bytes are left makes a file of another kind, which
// is used as it is: those are counted apart, and are at most five bytes long.
func TestE2(t *testing.T) {
	t.Parallel()
	want := smallTar(t)
	for _, compression := range compressions {
		t.Run(compression, func(t *testing.T) {
			t.Parallel()
			full := compress(t, compression, want)
			if c, out, err := decodeAll(full); err != nil || c != compression || !bytes.Equal(out, want) {
				t.Fatalf("undamaged: %q, %d bytes, %v", c, len(out), err)
			}
			cases, undetected, unmarked := 0, 0, 0
			for n := range full {
				cases++
				c, _, err := decodeAll(full[:n])
				switch {
				case err == nil && c == "" && n <= 5:
					unmarked++
				case !errors.Is(err, ErrTruncated):
					undetected++
					t.Errorf("cut to %d of %d bytes: %v", n, len(full), err)
				}
			}
			tail := len(full) - trailers[compression]
			for bit := range 8 * len(full) {
				if bit/8 < tail && os.Getenv("FFCONVERT_FAULTS") != "1" {
					continue
				}
				cases++
				damaged := bytes.Clone(full)
				damaged[bit/8] ^= 1 << (bit % 8)
				c, out, err := decodeAll(damaged)
				// Unused bits, such as a time stamp in a header or what fills the last
				// byte of bzip2, change nothing; a damaged magic makes another file.
				if err == nil && c != "" && !bytes.Equal(out, want) {
					undetected++
					t.Errorf("bit %d of byte %d of %d: accepted", bit%8, bit/8, len(full))
				}
				if err == nil && bit/8 >= tail && !(compression == "bzip2" && bit/8 == len(full)-1) {
					undetected++
					t.Errorf("trailer bit %d of byte %d of %d: accepted", bit%8, bit/8, len(full))
				}
			}
			t.Logf("E2 [%s] cases=%d undetected=%d lost=0 unmarked=%d", compression, cases, undetected, unmarked)
		})
	}
}

// TestE2Files is the same through Open: what is refused leaves nothing behind. All
// cuts with FFCONVERT_FAULTS=1, else every seventh.
func TestE2Files(t *testing.T) {
	t.Parallel()
	step := 7
	if os.Getenv("FFCONVERT_FAULTS") == "1" {
		step = 1
	}
	cases, undetected := 0, 0
	for _, compression := range compressions {
		full := compress(t, compression, smallTar(t))
		dir := t.TempDir()
		path := filepath.Join(dir, "x.tar")
		opts := Options{Options: input.Options{LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache")}
		refused := func(data []byte, kind error) {
			cases++
			must(t, os.WriteFile(path, data, 0o644))
			found, err := input.Find(context.Background(), []string{path}, opts.Options)
			must(t, err)
			set, err := Open(context.Background(), found, opts)
			var e *place.Error
			if !errors.Is(err, kind) || !errors.As(err, &e) || e.Where != path || e.Off < 0 || e.Off > int64(len(data)) || set != nil {
				undetected++
				t.Errorf("%s, %d bytes: %v", compression, len(data), err)
			}
			if _, err := os.Lstat(opts.CacheDir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s, %d bytes: the cache stays behind", compression, len(data))
			}
		}
		for n := 10; n < len(full); n += step {
			refused(full[:n], ErrTruncated)
		}
		damaged := bytes.Clone(full)
		damaged[len(damaged)-trailers[compression]] ^= 1
		refused(damaged, input.ErrMalformed)
		refused(append(bytes.Clone(full), "garbage after the end"...), input.ErrMalformed)
	}
	t.Logf("E2 [files] cases=%d undetected=%d lost=0", cases, undetected)
}

func TestSeveralStreams(t *testing.T) {
	t.Parallel()
	want := smallTar(t)
	twice := append(bytes.Clone(want), want...)
	skippable := []byte("\x53\x2a\x4d\x18\x05\x00\x00\x00dummy")
	for _, tt := range []struct {
		name, compression string
		between, after    []byte
		want              error
	}{
		{"gzip", "gzip", nil, nil, nil},
		{"zstd", "zstd", nil, nil, nil},
		{"bzip2", "bzip2", nil, nil, nil},
		{"xz", "xz", nil, nil, nil},
		{"gzip, zeros after", "gzip", nil, make([]byte, 1000), nil},
		{"gzip, zeros between", "gzip", make([]byte, 4), nil, input.ErrMalformed},
		{"gzip, zeros and more", "gzip", nil, []byte("\x00\x00x"), input.ErrMalformed},
		{"gzip, garbage", "gzip", nil, []byte("x"), input.ErrMalformed},
		{"gzip, half a magic", "gzip", nil, []byte("\x1f"), ErrTruncated},
		{"gzip, another format", "gzip", nil, []byte("BZh91AY&SY"), input.ErrMalformed},
		{"zstd, skippable frames", "zstd", skippable, skippable, nil},
		{"zstd, cut skippable frame", "zstd", nil, skippable[:9], ErrTruncated},
		{"zstd, cut skippable head", "zstd", nil, skippable[:6], ErrTruncated},
		{"zstd, half a magic", "zstd", nil, []byte(zstdMagic[:2]), ErrTruncated},
		{"zstd, garbage", "zstd", nil, []byte("garbage"), input.ErrMalformed},
		{"zstd, zeros", "zstd", nil, make([]byte, 8), input.ErrMalformed},
		{"bzip2, garbage", "bzip2", nil, []byte("garbage"), input.ErrMalformed},
		{"bzip2, half a magic", "bzip2", nil, []byte("BZ"), ErrTruncated},
		{"xz, padding", "xz", make([]byte, 8), make([]byte, 4), nil},
		{"xz, uneven padding", "xz", nil, make([]byte, 3), input.ErrMalformed},
		{"xz, padding and more", "xz", nil, []byte("\x00\x00\x00x"), input.ErrMalformed},
		{"xz, garbage", "xz", nil, []byte("garbage.....more"), input.ErrMalformed},
		{"xz, a byte", "xz", nil, []byte("x"), errShortStream},
		{"xz, garbage shorter than a header", "xz", nil, []byte("eleven byte"), errShortStream},
		{"xz, padding and a byte", "xz", make([]byte, 4), []byte("\x00\x00\x00\x00x"), errShortStream},
		{"xz, half a magic", "xz", nil, []byte(xzMagic[:3]), errShortStream},
		{"xz, a stream cut behind its header", "xz", nil, []byte(xzMagic + "\x00\x04\xe6\xd6\xb4\x46\x02"), ErrTruncated},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			one := compress(t, tt.compression, want)
			data := bytes.Join([][]byte{one, tt.between, one, tt.after}, nil)
			c, got, err := decodeAll(data)
			if c != tt.compression || !errors.Is(err, tt.want) || tt.want == nil && !bytes.Equal(got, twice) {
				t.Fatalf("%s: %d bytes, %v; want %v", c, len(got), err, tt.want)
			}
		})
	}
	t.Run("offsets of xz", func(t *testing.T) {
		t.Parallel()
		one := compress(t, "xz", want)
		const reads = ", found up to 8 KiB before this offset"
		for _, row := range []struct{ after, want string }{
			{"eleven byte", "malformed: xz: other bytes, or a stream that is cut, follow its end"},
			{"garbage of some length", "malformed: xz: bytes that are no compressed data after its end" + reads},
			{"\x00", "malformed: xz: the data is corrupt" + reads},
		} {
			if _, _, err := decodeAll(append(bytes.Clone(one), row.after...)); err == nil || err.Error() != row.want {
				t.Errorf("%q: %v, want %s", row.after, err, row.want)
			}
		}
	})
	t.Run("zstd begins with a skippable frame", func(t *testing.T) {
		t.Parallel()
		_, got, err := decodeAll(append(bytes.Clone(skippable), compress(t, "zstd", want)...))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatal(len(got), err)
		}
	})
}

func TestSniff(t *testing.T) {
	t.Parallel()
	tarNamed := func(name string) string {
		b := make([]byte, sniffLen)
		copy(b, name)
		copy(b[257:], "ustar\x0000")
		return string(b)
	}
	for _, tt := range []struct {
		name, head, want string
		err              error
	}{
		{"empty", "", "", nil},
		{"text", "1,2,3\n", "", nil},
		{"tar of BZh9", tarNamed("BZh9.txt"), "", nil},
		{"tar of BZh91AY", tarNamed("BZh91AY.txt"), "", nil},
		{"short text BZh9", "BZh9", "", nil},
		{"text that begins as a bracket", "(", "", nil},
		{"level 0", "BZh01AY&SY", "", nil},
		{"bzip2", "BZh91AY&SY", "bzip2", nil},
		{"empty bzip2", "BZh1" + bzip2End, "bzip2", nil},
		{"gzip", "\x1f\x8b\x08\x00", "gzip", nil},
		{"gzip of two bytes", "\x1f\x8b", "gzip", nil},
		{"gzip of one", "\x1f", "", ErrTruncated},
		{"zstd", zstdMagic, "zstd", nil},
		{"zstd of three bytes", zstdMagic[:3], "", ErrTruncated},
		{"xz", xzMagic, "xz", nil},
		{"xz of five bytes", xzMagic[:5], "", ErrTruncated},
		{"skippable, then zstd", "\x50\x2a\x4d\x18\x01\x00\x00\x00x" + zstdMagic, "zstd", nil},
		{"skippable, out of sight", "\x5f\x2a\x4d\x18\xff\xff\xff\xff", "zstd", nil},
		{"skippable, then lz4", "\x50\x2a\x4d\x18\x01\x00\x00\x00x\x04\x22\x4d\x18....", "", nil},
		{"zip", "PK\x03\x04", "", nil},
		{"lzma", "\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x30", "", ErrCompression},
		{"lzma of a known size", "\x5d\x00\x00\xc0\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x30", "", ErrCompression},
		{"what only begins as lzma", "\x5d\x00\x00\x80\x00\xff\xff\xff\xff\xff\xff\xff\xff", "", nil},
		{"lzma of an odd dictionary", "\x5d\x00\x00\x81\x00\xff\xff\xff\xff\xff\xff\xff\xff\x00\x30", "", nil},
		{"tar of a bracket", tarNamed("]"), "", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := sniff([]byte(tt.head))
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Fatalf("got %q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// A header may ask for gigabytes; what it gets is a refusal.
func TestWindowIsBounded(t *testing.T) {
	t.Parallel()
	huge := map[string][]byte{
		"zstd": []byte(zstdMagic + "\x00\xf8\x01\x00\x00"),     // 2^41 bytes
		"xz":   compress(t, "xz", bytes.Repeat([]byte{1}, 10)), // its dictionary changed below
	}
	header := huge["xz"][12:]
	for i := range header[:12] {
		if header[i] == 0x21 { // LZMA2
			header[i+2] = 40 // 4 GiB - 1
			break
		}
	}
	fixHeaderCRC(header)
	for compression, data := range huge {
		_, _, err := decodeAll(data)
		if !errors.Is(err, input.ErrMalformed) || !bytes.Contains([]byte(err.Error()), []byte("window")) {
			t.Errorf("%s: %v", compression, err)
		}
	}
}
