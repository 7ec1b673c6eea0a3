package tar

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzTar: no tar makes Index or Read panic or read what is not there, and what Index
// accepts Read has, sample for sample.
func FuzzTar(f *testing.F) {
	for _, c := range specials() {
		f.Add(archive(regular("a.jpg", "1"), c.make, regular("b.jpg", "22")), false)
	}
	f.Add(append(sound(), sound()...), true)
	paths, err := filepath.Glob(testdata + "/tars/*.tar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, lenient bool) {
		for off := 0; off+blockSize <= len(data); off += blockSize { // else hardly any header is right
			if b := data[off : off+blockSize]; b[148] == '0' && b[154] == 0 {
				sum(b)
			}
		}
		src := memory(Options{AllowMissingTrailer: lenient, Concatenated: lenient, KeepDuplicates: lenient, MaxSample: 1 << 20}, data)
		var want []string
		for span, err := range src.Index(t.Context(), 0) {
			if err != nil {
				return
			}
			if span.Shape != nil {
				want = append(want, span.Shape.Key)
			}
		}
		got, err := contents(t, src)
		if err != nil || len(got) != len(want) {
			t.Fatalf("Index has %d samples, Read %d, error %v", len(want), len(got), err)
		}
		for i := range got {
			if got[i].Key != want[i] {
				t.Errorf("sample %d: Index has %q, Read %q", i, want[i], got[i].Key)
			}
		}
	})
}
