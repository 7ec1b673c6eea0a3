package tar

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

const testdata = "../../testdata"

// openFiles opens tars as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	return Open(convertertest.Parts(t, paths...), opts)
}

// copyFile copies a file of testdata to where the test may change it.
func copyFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{
		{"shards-000.tar", "shards-001.tar", "shards-002.tar"},
		{"tars/gnutar-gnu.tar", "tars/python-pax.tar", "tars/bsdtar-binary.tar", "tars/gnutar-v7.tar"},
	} {
		t.Run(filepath.Base(names[0]), func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				var paths []string
				for _, name := range names {
					paths = append(paths, copyFile(t, name))
				}
				src, use := counted(openFiles(t, Options{}, paths...))
				t.Cleanup(func() {
					if opened, closed := use.Opened.Load(), use.Closed.Load(); opened != closed {
						t.Errorf("%d files opened, %d closed", opened, closed)
					}
				})
				return convertertest.Fixture{
					Source: src, Files: paths, BytesRead: use.Read.Load, Nearby: scan.SmallRead,
					Reopen: func(t *testing.T) converters.Source { return openFiles(t, Options{}, paths...) },
					Cuts:   []int64{0, 1, 511, 512, 513, 1024, 1500, 7 * 512, 5000, 10 * 512, 12000},
				}
			})
		})
	}
}

// The same tree, as every writer has it.
func TestWriters(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a-directory-whose-name-is-long/", 4) + "0004"
	want := []string{
		"directory: train/n01",
		"name without key: train/n02/README",
		"train/n01/0001 jpg=302 cls=1",
		"train/n01/0002 jpg=1202 cls=1 seg.png=0",
		"train/n01/ ds_store=6",
		"train/n02/grüß-漢字 jpg=502 cls=1",
		deep + " jpg=602 cls=1",
		"metadata name: __meta__/info.json",
		"symbolic link: train/n01/0003.jpg",
	}
	paths, err := filepath.Glob(testdata + "/tars/*.tar")
	if err != nil || len(paths) < 11 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			want := slices.Clone(want)
			if strings.Contains(path, "v7") {
				want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, deep) })
			}
			got, err := listed(t, openFiles(t, Options{}, path))
			if err != nil {
				t.Fatal(err)
			}
			for i := range got { // some writers end a directory in a slash
				got[i] = strings.TrimSuffix(got[i], "/")
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// All that is compressed was staged before: here it is no tar.
func TestCompressed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"shards-000.tgz", "shards-000.tar.zst"} {
		if got, err := listed(t, openFiles(t, Options{}, filepath.Join(testdata, "tars", name))); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Index reads the fields that are to be loaded, and no others.
func TestLoad(t *testing.T) {
	t.Parallel()
	src := openFiles(t, Options{Load: func(field string) bool { return field == "cls" }}, copyFile(t, "shards-000.tar"))
	var indexed []string
	var first converters.Span
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape == nil {
			continue
		}
		if len(indexed) == 0 {
			first = *span
		}
		cls := ""
		for _, f := range span.Shape.Fields {
			if f.Value.Unread() != (f.Name != "cls") {
				t.Errorf("%q: field %q: unread is %v", span.Shape.Key, f.Name, f.Value.Unread())
			}
			if f.Name == "cls" {
				cls = string(f.Value.Data())
			}
		}
		indexed = append(indexed, cls)
	}
	i := 0
	for sample, err := range src.Read(t.Context(), converters.Run{Off: first.Off, Count: int64(len(indexed))}) {
		if err != nil {
			t.Fatal(err)
		}
		if cls, _ := sample.Field("cls"); string(cls.Data()) != indexed[i] {
			t.Errorf("%q: Index read %q, Read %q", sample.Key, indexed[i], cls.Data())
		}
		i++
	}
	if i != 12 || indexed[0] == "" {
		t.Errorf("%d samples, the first of class %q", i, indexed[0])
	}
}

// A field that passes as seven octal digits is a number by the rule for all fields.
func TestOctal7(t *testing.T) {
	t.Parallel()
	const bytes = "0123456789 \x00/:\x80\xb0\xff-a"
	rng := rand.New(rand.NewPCG(1, 2))
	passed := 0
	for range 1_000_000 {
		var f [8]byte
		for i := range f {
			f[i] = bytes[rng.IntN(8)]
		}
		f[rng.IntN(8)] = bytes[rng.IntN(len(bytes))]
		f[7] = bytes[rng.IntN(len(bytes))]
		if !isOctal7(f[:]) {
			continue
		}
		passed++
		if _, err := number(f[:]); err != nil {
			t.Fatalf("%q: %v", f, err)
		}
	}
	if passed == 0 {
		t.Error("none passed")
	}
	for _, f := range []string{"0000644\x00", "7777777 "} {
		if !isOctal7([]byte(f)) {
			t.Errorf("%q does not pass", f)
		}
	}
}

// A field of twelve bytes has the number that strconv finds in it, if it is octal digits and a NUL or space.
func TestOctal11(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	passed := 0
	for range 1_000_000 {
		f := fmt.Appendf(nil, "%011o\x00", rng.Uint64()>>31>>rng.IntN(33))
		if at := rng.IntN(3 * len(f)); at < len(f) {
			f[at] = " \x00/0178\x80\xff"[rng.IntN(9)]
		}
		want, err := strconv.ParseInt(string(f[:11]), 8, 64)
		valid := err == nil && (f[11] == 0 || f[11] == ' ')
		if n, ok := octal11(f); ok != valid || ok && n != want {
			t.Fatalf("%q: %d, %t, want %d, %t", f, n, ok, want, valid)
		}
		if valid {
			passed++
		}
	}
	if passed < 1000 {
		t.Errorf("%d are valid", passed)
	}
}

// Samples come from past the page cache as they come from it: large ones, and small ones.
func TestCold(t *testing.T) {
	t.Parallel()
	var parts [][]byte
	for _, size := range []int{100_000, 300} {
		var members [][]byte
		for i := range 4_000_000 / (size + 1000) {
			data := make([]byte, size)
			for j := range data {
				data[j] = byte(rand.Uint32())
			}
			members = append(members, regular(fmt.Sprintf("%06d.bin", i), string(data)))
		}
		parts = append(parts, archive(members...))
	}
	convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source { return openFiles(t, Options{}, paths...) }, parts...)
}
