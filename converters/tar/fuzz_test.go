package tar

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzTar: no tar makes Index or Read panic, read what is not there, or hold more than
// the tar warrants; what Index accepts Read has, sample for sample, from any of them on;
// and of what we accept strictly, Go's archive/tar has the same members.
func FuzzTar(f *testing.F) {
	for _, c := range specials() {
		f.Add(archive(regular("a.jpg", "1"), c.make, regular("b.jpg", "22")), false)
	}
	f.Add(append(sound(), sound()...), true)
	paths, err := filepath.Glob(testdata + "/tars/*.tar")
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, lenient bool) {
		sums(data)
		src := memory(Options{AllowMissingTrailer: lenient, Concatenated: lenient, KeepDuplicates: lenient, MaxSample: fuzzSample}, data)
		if !wantIndexed(t, src, len(data)) {
			return
		}
		if !lenient {
			againstGo(t, data)
		}
	})
}

// FuzzNested: nor does a tar of tars, whose samples are read from any of them on.
func FuzzNested(f *testing.F) {
	f.Add(outer())
	for _, c := range specials() {
		f.Add(archive(entry(typeRegular, "a.tar", archive(regular("a.jpg", "1"), c.make, regular("b.jpg", "22"))), entry(typeRegular, "b.tar", sound())))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		sums(data)
		var n *nested
		var err error
		fuzz.WantAllocated(t, fuzzSample+100*len(data), func() { n, err = nestedOf(t, Options{MaxSample: fuzzSample}, data) })
		if err != nil {
			wantPlaced(t, err, len(data))
			return
		}
		wantIndexed(t, n, len(data))
	})
}

const fuzzSample = 1 << 20 // bytes of the largest sample

// sums makes the checksums of headers right; else hardly any header is.
func sums(data []byte) {
	for off := 0; off+blockSize <= len(data); off += blockSize {
		if b := data[off : off+blockSize]; b[148] == '0' && b[154] == 0 {
			sum(b)
		}
	}
}

// wantIndexed wants that Index refuses a tar of some size with a place, or that Read has what Index has. It reports which.
func wantIndexed(t *testing.T, src converters.Source, size int) bool {
	var want []string
	var offs []int64
	var err error
	fuzz.WantAllocated(t, fuzzSample+100*size, func() { want, offs, err = outlines(t, src) })
	if err != nil {
		wantPlaced(t, err, size)
		return false
	}
	for _, first := range []int{0, len(want) / 2, len(want) - 1} {
		if first >= 0 && first < len(want) {
			wantRead(t, src, want[first:], int64(first), offs[first])
		}
	}
	return true
}

func wantPlaced(t *testing.T, err error, size int) {
	if at, ok := errors.AsType[*converters.Error](err); !ok || at.Off < 0 || at.Off > int64(size) || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Fatalf("refused with %q", err)
	}
}

// outline is a sample, its bytes aside.
func outline(s *converters.Sample) string {
	text := s.Key
	for _, f := range s.Fields {
		text += fmt.Sprint("\x00", f.Name, "\x00", f.Value.Len())
	}
	return text
}

// outlines is what Index has, and where.
func outlines(t *testing.T, src converters.Source) (all []string, offs []int64, err error) {
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			return nil, nil, err
		}
		if span.Shape != nil {
			all, offs = append(all, outline(span.Shape)), append(offs, span.Off)
		}
	}
	return all, offs, nil
}

// wantRead wants that the run that begins at off is what Index has.
func wantRead(t *testing.T, src converters.Source, want []string, first, off int64) {
	i := 0
	for s, err := range src.Read(t.Context(), converters.Run{First: first, Off: off, Count: int64(len(want))}) {
		if err != nil || outline(s) != want[i] {
			t.Fatalf("Index has %.200q, Read %v, error %v", want[i], s, err)
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("Index has %d samples, Read %d", len(want), i)
	}
}

// againstGo wants that archive/tar has our members and, by the expression below, our
// samples with their bytes. Where it refuses, it has ours up to there.
func againstGo(t *testing.T, data []byte) {
	got := ours(t, data)
	samples, err := contents(t, memory(Options{MaxSample: 1 << 20}, data))
	if err != nil {
		t.Fatal(err)
	}
	var theirs listing
	var grouped []content
	r := tar.NewReader(bytes.NewReader(data))
	for {
		h, err := r.Next()
		if err != nil {
			if err == io.EOF && len(theirs) != len(got) {
				t.Fatalf("we list %+v, archive/tar only %+v", got, theirs)
			}
			grouped = slices.DeleteFunc(grouped, func(c content) bool {
				return slices.ContainsFunc(c.Fields, func(f namedData) bool { return f.Name == badField && f.Data != "" })
			})
			if err == io.EOF && !slices.EqualFunc(samples, grouped, sameContent) {
				t.Fatalf("we have %.2000q, by archive/tar it is %.2000q", samples, grouped)
			}
			return
		}
		typ := h.Typeflag
		switch typ {
		case 0, '7':
			typ = typeRegular
		case typeDumpDir:
			typ = typeDirectory
		case typePAXGlobal:
			continue
		}
		theirs.add(typ, h.Size, h.Name)
		if n := len(theirs); n > len(got) || got[n-1] != theirs[n-1] {
			t.Fatalf("we list %+v, archive/tar %+v", got, theirs)
		}
		m := nameExpression.FindStringSubmatch(h.Name)
		if typ != typeRegular || m == nil || metaExpression.MatchString(h.Name) {
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%q: we read it, archive/tar does not: %v", h.Name, err)
		}
		if n := len(grouped); n == 0 || grouped[n-1].Key != m[1] {
			grouped = append(grouped, content{Key: m[1]})
		}
		last := &grouped[len(grouped)-1]
		last.Fields = append(last.Fields, namedData{strings.ToLower(m[2]), string(b)})
	}
}
