package mds

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// pictured are samples of a key, a class and a picture. What is before a picture is as long as the smallest read.
func pictured(t testing.TB, first, n int) written {
	columns := []Column{{"__key__", "str", 0}, {"about", "str", 0}, {"cls", "int", 8}, {"image", "jpeg", 0}}
	var samples [][]string
	for i := first; i < first+n; i++ {
		samples = append(samples, []string{fmt.Sprintf("%06d", i), strings.Repeat("a", scan.SmallRead-26), string([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0}), strings.Repeat("x", 30_000+i)})
	}
	return write(t, columns, samples...)
}

func TestSource(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]bool{"payload is passed over": false, "all is read": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				shards := []written{pictured(t, 0, 5), pictured(t, 5, 40)}
				opts := Options{Load: func(string) bool { return load }}
				var paths []string
				var about []Shard
				for i := range shards {
					paths = append(paths, shards[i].save(t, t.TempDir(), fmt.Sprintf("shard.%05d.mds", i)))
					about = append(about, shards[i].shard)
				}
				reopen := func(t *testing.T) *source {
					s, err := Open(convertertest.Parts(t, paths...), about, opts)
					if err != nil {
						t.Fatal(err)
					}
					return s
				}
				src := reopen(t)
				var use *convertertest.Usage
				src.open, use = convertertest.Count(src.open)
				src = src.with(src.Parts())
				t.Cleanup(func() {
					if opened, closed := use.Opened.Load(), use.Closed.Load(); opened != closed {
						t.Errorf("%d files opened, %d closed", opened, closed)
					}
				})
				n := int64(len(shards[0].data))
				f := convertertest.Fixture{
					Source: src, Files: paths, Cuts: []int64{0, 1, 3, 4, 8, 27, 100, n - 30_000, n - 1},
					Reopen: func(t *testing.T) converters.Source { return reopen(t) },
				}
				if !load {
					f.BytesRead, f.Nearby = use.Read.Load, scan.SmallRead
				}
				return f
			})
		})
	}
}

// Each encoding gives the value in the package comment.
func TestValues(t *testing.T) {
	t.Parallel()
	npy := func(descr, shape, data string) string {
		head := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }"
		head += strings.Repeat(" ", 127-10-len(head)) + "\n"
		return fmt.Sprintf("b%x", "\x93NUMPY\x01\x00"+string([]byte{byte(len(head)), 0})+head+data)
	}
	for _, row := range []struct {
		encoding string
		size     int64
		data     string
		want     string
	}{
		{"bytes", 0, "\x00\xff", "b00ff"},
		{"bytes", 0, "", "b"},
		{"jpeg", 0, "\xff\xd8", "bffd8"},
		{"jpeg:90", 0, "\xff\xd8", "bffd8"},
		{"png", 0, "\x89PNG", "b89504e47"},
		{"pil", 0, "\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00L\x07", "b0100000001000000010000004c07"},
		{"str", 0, "grüß", "t6772c3bcc39f"},
		{"str_decimal", 0, "1.10", "t312e3130"},
		{"int", 8, "\xfe\xff\xff\xff\xff\xff\xff\xff", "-2"},
		{"int8", 1, "\x80", "-128"},
		{"int16", 2, "\x00\x80", "-32768"},
		{"int32", 4, "\xff\xff\xff\x7f", "2147483647"},
		{"int64", 8, "\x00\x00\x00\x00\x00\x00\x00\x80", "-9223372036854775808"},
		{"uint8", 1, "\xff", "255"},
		{"uint16", 2, "\xff\xff", "65535"},
		{"uint32", 4, "\xff\xff\xff\xff", "4294967295"},
		{"uint64", 8, "\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"},
		{"float16", 2, "\x00\x3c", "f3ff0000000000000"},
		{"float16", 2, "\x01\x00", "f3e70000000000000"},
		{"float32", 4, "\x00\x00\xc0\x3f", "f3ff8000000000000"},
		{"float64", 8, "\x00\x00\x00\x00\x00\x00\xf0\x7f", "f7ff0000000000000"},
		{"uint32", 0, "\x01\x00\x00\x00\x02\x00\x00\x00", "b0100000002000000"},
		{"str_int", 0, "-12", "-12"},
		{"str_int", 0, "18446744073709551615", "18446744073709551615"},
		{"str_float", 0, "1e-05", "f3ee4f8b588e368f1"},
		{"str_float", 0, "-inf", "ffff0000000000000"},
		{"json", 0, `{"a": [1, 2.0, null]}`, "{t61:[1,f4000000000000000,null]}"},
		{"ndarray", 0, "\x10\x08\x02\x01\x01\x00\x02\x00", npy("<u2", "(2, 1)", "\x01\x00\x02\x00")},
		{"ndarray", 0, "\x22\x07\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3f", npy("<f4", "(1,)", "\x00\x00\x80\x3f")},
		{"ndarray:int8", 0, "\x05\x02\x00\xff\x01", npy("|i1", "(2,)", "\xff\x01")},
		{"ndarray:float64:1", 8, "\x00\x00\x00\x00\x00\x00\xf0\x3f", npy("<f8", "(1,)", "\x00\x00\x00\x00\x00\x00\xf0\x3f")},
		{"ndarray:uint8:2,1,3", 6, "abcdef", npy("|u1", "(2, 1, 3)", "abcdef")},
		{"jpeg_array", 0, "\x02\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00abc", "[b61,b6263]"},
		{"list[png]", 0, "\x00\x00\x00\x00\x00\x00\x00\x00", "[]"},
	} {
		s, err := memory(Options{}, write(t, []Column{{"x", row.encoding, row.size}}, []string{row.data}, []string{row.data}))
		if err != nil {
			t.Errorf("%s: %v", row.encoding, err)
			continue
		}
		want := " x:" + row.want
		if got, err := contents(t, s); err != nil || !slices.Equal(got, []string{want, want}) {
			t.Errorf("%s of %q: %q, %v; want %q", row.encoding, row.data, got, err, want)
		}
	}
}

// Samples come from past the page cache as they come from it.
func TestCold(t *testing.T) {
	t.Parallel()
	shards := []written{pictured(t, 0, 130), pictured(t, 0, 3)}
	convertertest.Cold(t, func(t *testing.T, paths ...string) converters.Source {
		var about []Shard
		parts := convertertest.Parts(t, paths...)
		for _, p := range parts {
			for i := range shards {
				if int64(len(shards[i].data)) == p.Size {
					about = append(about, shards[i].shard)
				}
			}
		}
		s, err := Open(parts, about, Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}, shards[0].data, shards[1].data)
}
