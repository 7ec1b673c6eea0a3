package tfrecord

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// ofPictures are records of a picture, a label and a score.
func ofPictures(first, n int) []byte {
	var b []byte
	for i := first; i < first+n; i++ {
		b = append(b, ofFramed(ofRecord(
			ofEntry("encoded", 1, under(1, bytes.Repeat([]byte{byte(i)}, pictureSize))),
			ofEntry("class/label", 4, varints(int64(i))),
			ofEntry("score", 3, doubles(float64(i)/3)),
			ofEntry("box", 3, doubles(0, 1, 2)),
		))...)
	}
	return b
}

// cutAt divides a stream into parts.
func cutAt(stream []byte, at ...int) (parts [][]byte) {
	from := 0
	for _, to := range append(at, len(stream)) {
		parts, from = append(parts, stream[from:to]), to
	}
	return parts
}

func TestOFRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		opts  Options
		parts [][]byte
		cuts  []int64
	}{
		"parts":      {Options{}, [][]byte{ofPictures(0, 4), ofPictures(4, 3), {}}, []int64{1, 8, 9, pictureSize}},
		"whole":      {Options{Whole: true}, [][]byte{ofPictures(0, 4), ofPictures(4, 3)}, []int64{7, 8}},
		"one stream": {Options{Continued: true}, cutAt(ofPictures(0, 6), pictureSize*7/2, pictureSize*7/2+10, pictureSize*5), nil},
		// The head of the fifth record is cut, too.
		"a cut head": {Options{Continued: true}, cutAt(ofPictures(0, 6), len(ofPictures(0, 4))+3, len(ofPictures(0, 4))+5), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				var paths []string
				for i, data := range c.parts {
					path := filepath.Join(t.TempDir(), fmt.Sprintf("part-%d", i))
					if err := os.WriteFile(path, data, 0o600); err != nil {
						t.Fatal(err)
					}
					paths = append(paths, path)
				}
				counted, use := convertertest.Count(new(converters.Files).Open)
				src, err := openParts(&ofForm, convertertest.Parts(t, paths...), c.opts, counted)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if opened, closed := use.Opened.Load(), use.Closed.Load(); opened != closed {
						t.Errorf("%d files opened, %d closed", opened, closed)
					}
				})
				return convertertest.Fixture{
					Source: src, Files: paths, Cuts: c.cuts, // what Index reads is tested in tfrecord_test.go
					Reopen: func(t *testing.T) converters.Source { return ofOpen(t, c.opts, paths...) },
				}
			})
		})
	}
}

func TestOFRecordValues(t *testing.T) {
	t.Parallel()
	data := ofFramed(
		ofRecord(ofEntry("b", 1, under(1, "x")), ofEntry("f", 2, under(1, "\x00\x00\x80\x3f")), ofEntry("d", 3, doubles(0.1)), ofEntry("i", 4, varints(-1)), ofEntry("l", 5, varints(1<<62))),
		ofRecord(ofEntry("i", 4, varints(0xffffffff)), ofEntry("d", 3, nil)), // the sign not extended
		ofRecord(ofEntry("__key__", 1, under(1, "k/1")), ofEntry("i", 4, []byte{8, 5})),
	)
	want := []string{
		`"" "b":b78 "d":[f3fb999999999999a] "f":f3ff0000000000000 "i":-1 "l":4611686018427387904`,
		`"" "d":[] "i":-1`,
		`"k/1" "i":5`,
	}
	shapes, samples, err := all(t, ofMemory(t, Options{}, data))
	if err != nil || !slices.Equal(samples, want) || len(shapes) != len(want) {
		t.Errorf("%s\nerror %v, want\n%s", strings.Join(samples, "\n"), err, strings.Join(want, "\n"))
	}
	got := fmt.Sprint(ofMemory(t, Options{}, nil, data).(converters.Describer).Describe().Columns)
	if want := "[{b bytes} {d list of float64} {f float32} {i int32} {l int64}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestOFRecordRefuse(t *testing.T) {
	t.Parallel()
	good := ofFramed(ofRecord(ofEntry("i", 4, varints(1))))
	for _, row := range []struct{ name, data, want string }{
		{"no record", strings.Repeat("\x00", 8), `offset 0: "record 0": malformed: a record of 0 bytes`},
		{"a negative length", strings.Repeat("\xff", 8), `malformed: a record of -1 bytes`},
		{"a length past the end", "\xff\xff\xff\xff\xff\xff\xff\x7f", `truncated: the record has 9223372036854775807 bytes of data, the part 0 more (option continued if it goes on in the next part)`},
		{"a cut head", string(good) + "\x01", `"record 1": truncated: a record begins with 8 bytes, the part has 1 more (option continued`},
		{"cut data", string(good[:len(good)-1]), `truncated: the record has`},
		{"CSV", "1,2,3\n4,5,6\n", `truncated`},
		{"a number of more than 32 bits", string(ofFramed(ofRecord(ofEntry("i", 4, varints(1<<33))))), `malformed: near byte 16 of its data: 8589934592 as a number of 32 bits`},
		{"text", string(ofFramed([]byte("hello"))), `malformed`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := all(t, ofMemory(t, Options{}, []byte(row.data)))
			if e, ok := errors.AsType[*converters.Error](err); !ok || e.Off < 0 || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
		})
	}
}

// However a stream is cut into parts, its records are those of the stream.
func TestContinued(t *testing.T) {
	t.Parallel()
	var records [][]byte
	for i := range 7 {
		records = append(records, ofRecord(ofEntry("i", 4, varints(int64(i))), ofEntry("b", 1, under(1, strings.Repeat("x", 3*i)))))
	}
	stream := ofFramed(records...)
	_, want, err := all(t, ofMemory(t, Options{}, stream))
	if err != nil || len(want) != 7 {
		t.Fatal(want, err)
	}
	for a := range len(stream) + 1 {
		for b := a; b <= len(stream); b += 1 + (b-a)/8 {
			parts := cutAt(stream, a, b)
			if _, got, err := all(t, ofMemory(t, Options{Continued: true}, parts...)); err != nil || !slices.Equal(got, want) {
				t.Fatalf("cut at %d and %d: %q, error %v", a, b, got, err)
			}
		}
		if _, _, err := all(t, ofMemory(t, Options{Continued: true}, stream[:a])); err == nil && a > 0 && !slices.Contains(ends(stream), a) {
			t.Fatalf("a stream of %d bytes of %d: accepted", a, len(stream))
		}
	}
	if _, ok := ofMemory(t, Options{Continued: true}, stream).(converters.Divisible); ok {
		t.Error("a stream can be divided")
	}
}

// ends are the offsets at which records end.
func ends(stream []byte) (at []int) {
	for i := 0; i < len(stream); {
		i += 8 + int(stream[i])
		at = append(at, i)
	}
	return at
}

// A part that changes after the index, or cannot be read, is an error wherever the record begins.
func TestContinuedChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for i, data := range cutAt(ofPictures(0, 3), pictureSize/2) {
		paths = append(paths, filepath.Join(dir, fmt.Sprint("part-", i)))
		if err := os.WriteFile(paths[i], data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src := ofOpen(t, Options{Continued: true}, paths...)
	if _, samples, err := all(t, src); err != nil || len(samples) != 3 {
		t.Fatal(len(samples), err)
	}
	if err := os.Truncate(paths[1], 100); err != nil {
		t.Fatal(err)
	}
	for _, err := range src.Read(t.Context(), converters.Run{Count: 1}) {
		if !errors.Is(err, converters.ErrChanged) {
			t.Errorf("%v", err)
		}
	}
}

// FuzzOFRecord: no bytes make Index or Read panic or allocate more than they warrant; the two agree; a stream that is cut
// anywhere has the same records.
func FuzzOFRecord(f *testing.F) {
	f.Add(ofFramed(ofRecord(ofEntry("b", 1, under(1, "x")), ofEntry("d", 3, doubles(1, 2)))), 9)
	f.Add(ofFramed(ofRecord(ofEntry("i", 4, varints(-1, 1)))), 3)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\x7f"), 0)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var src converters.Source
		var want []string
		var err error
		fuzz.WantAllocated(t, 2<<20+2000*len(data), func() {
			src = ofMemory(t, Options{}, data)
			_, want, err = all(t, src)
		})
		shapes, _, _ := all(t, src)
		if err == nil && len(shapes) != len(want) {
			t.Fatalf("Index has %d samples, Read %d", len(shapes), len(want))
		}
		cut = max(0, min(cut, len(data)))
		if _, got, cutErr := all(t, ofMemory(t, Options{Continued: true}, data[:cut], data[cut:])); (err == nil) != (cutErr == nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("cut at %d: %q, error %v; else %q, error %v", cut, got, cutErr, want, err)
		}
	})
}
