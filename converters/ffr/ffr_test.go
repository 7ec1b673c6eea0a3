package ffr_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// samples are pictures with a class and a caption.
func samples(n int) [][]converters.Sample {
	parts := make([][]converters.Sample, 2)
	for i := range n {
		parts[i*2/n] = append(parts[i*2/n], converters.Sample{Key: fmt.Sprintf("dir/%06d", i), Fields: []converters.Field{
			{Name: "jpg", Value: converters.Bytes(bytes.Repeat([]byte{byte(i), byte(i >> 8), 'x'}, 100+7*i%90))},
			{Name: "txt", Value: converters.Bytes([]byte("grüß"))},
			{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%3))},
		}})
	}
	return parts
}

// made converts samples into a dataset of shards and returns its directory and manifest.
func made(t testing.TB, encoding string, n, shards int) (string, *dataset.Manifest) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: samples(n)}, dir, shardtest.ConvertOptions{
		Encode: encode.Options{Encoding: encoding}, Sizes: plan.Sizes{Shards: shards},
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := dataset.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

// options are what the manifest says of the shards.
func options(dir string, m *dataset.Manifest, decoded bool) (paths []string, opts ffr.Options) {
	for _, s := range m.Shards {
		paths = append(paths, filepath.Join(dir, s.Name))
		opts.Shards = append(opts.Shards, ffr.Shard{
			Index: filepath.Join(dir, dataset.IndexName(s.Name)), IndexSize: s.Index.Bytes, IndexCRC: s.Index.CRC,
			Samples: s.Samples, HeaderCRC: s.HeaderCRC,
		})
	}
	if decoded {
		opts.Decode = func(int) (func([]byte) (*converters.Sample, error), error) {
			d, err := decode.New(m.Encode.Encoding, decode.Limits{})
			return d.Decode, err
		}
	}
	return paths, opts
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		known, decode bool
	}{
		{"opaque", false, false}, {"dataset", true, false}, {"decoded", true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				dir, m := made(t, "msgpack", 40, 3)
				paths, opts := options(dir, m, row.decode)
				if !row.known {
					opts.Shards = nil
				}
				open := func(t *testing.T) converters.Source { return ffr.Open(convertertest.Parts(t, paths...), opts) }
				st, err := os.Stat(paths[0])
				if err != nil {
					t.Fatal(err)
				}
				return convertertest.Fixture{Source: open(t), Files: paths, Reopen: open, Cuts: []int64{0, 11, 12, 100, st.Size() - 1}}
			})
		})
	}
}

// collect returns all samples of a source: keys and fields as text.
func collect(t *testing.T, src converters.Source) (all []string, err error) {
	t.Helper()
	for p := range src.Parts() {
		n := int64(0)
		var first int64
		for span, err := range src.Index(t.Context(), p) {
			if err != nil {
				return nil, err
			}
			if n++; n == 1 {
				first = span.Off
			}
		}
		for s, err := range src.Read(t.Context(), converters.Run{Part: p, Off: first, Count: n}) {
			if err != nil {
				return nil, err
			}
			all = append(all, text(s))
		}
	}
	return all, nil
}

// text is a sample in one line: an integer as its number, all else as its bytes.
func text(s *converters.Sample) string {
	line := s.Key
	for i := range s.Fields {
		if v := &s.Fields[i].Value; v.Kind() == converters.KindInt {
			line += fmt.Sprintf(" %s=%d", s.Fields[i].Name, v.Int())
		} else {
			line += fmt.Sprintf(" %s=%q", s.Fields[i].Name, v.Data())
		}
	}
	return line
}

// Fields of decoded records are those that went in, whatever the encoding.
func TestDecoded(t *testing.T) {
	t.Parallel()
	var want []string
	for _, part := range samples(30) {
		for _, s := range part {
			want = append(want, text(&s))
		}
	}
	for _, encoding := range []string{"msgpack", "cbor", "pickle", "arrow"} {
		dir, m := made(t, encoding, 30, 2)
		paths, opts := options(dir, m, true)
		got, err := collect(t, ffr.Open(convertertest.Parts(t, paths...), opts))
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s, sample %d:\ngot  %s\nwant %s", encoding, i, got[i], want[i])
			}
		}
	}
}

// Samples that are read in short runs, in any order and at once, are those of the whole part.
func TestShortRuns(t *testing.T) {
	t.Parallel()
	const n = 300
	dir, m := made(t, "msgpack", n, 1)
	paths, opts := options(dir, m, false)
	src := ffr.Open(convertertest.Parts(t, paths...), opts)
	want, err := collect(t, src)
	if err != nil || len(want) != n {
		t.Fatal(len(want), err)
	}
	src = ffr.Open(src.Parts(), opts) // which has found no rows yet
	var group errgroup.Group
	for _, count := range []int64{1, 7, 200} {
		group.Go(func() error {
			for first := n - count; first >= 0; first -= count {
				i := first
				for s, err := range src.Read(t.Context(), converters.Run{First: first, Count: count}) {
					if err != nil {
						return err
					}
					if got := text(s); got != want[i] {
						return fmt.Errorf("run of %d from %d, sample %d: %s, want %s", count, first, i, got, want[i])
					}
					i++
				}
				if i != first+count {
					return fmt.Errorf("run of %d from %d: %d samples", count, first, i-first)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Error(err)
	}
}

// A raw record has no key; the index has.
func TestRawKeys(t *testing.T) {
	t.Parallel()
	dir, m := made(t, "raw:txt", 10, 1)
	for _, decode := range []bool{false, true} {
		paths, opts := options(dir, m, decode)
		got, err := collect(t, ffr.Open(convertertest.Parts(t, paths...), opts))
		want := `dir/000003 record="grüß" cls=0`
		if decode {
			want = `dir/000003 txt="grüß"`
		}
		if err != nil || got[3] != want {
			t.Errorf("%v: got %s, want %s", err, got[3], want)
		}
	}
}

// A bit that is flipped anywhere in a shard or its index is found by Index or by Read, as corruption.
func TestFlips(t *testing.T) {
	t.Parallel()
	dir, m := made(t, "msgpack", 12, 2)
	paths, opts := options(dir, m, false)
	parts := convertertest.Parts(t, paths...)
	for i := range parts {
		parts[i].ModTime = parts[i].ModTime.Truncate(0)
	}
	for _, path := range []string{paths[1], opts.Shards[1].Index} {
		sound, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		step := 1
		if testing.Short() {
			step = 7
		}
		for at := 0; at < len(sound); at += step {
			damaged := slices.Clone(sound)
			damaged[at] ^= 1 << (at % 8)
			write(t, path, damaged, parts)
			_, err := collect(t, ffr.Open(parts, opts))
			if kind := place.KindOf(err); kind != place.Corrupt {
				t.Fatalf("%s, byte %d: %v of kind %v", filepath.Base(path), at, err, kind)
			}
			var where *converters.Error
			if !errors.As(err, &where) || filepath.Base(where.Where) != filepath.Base(path) {
				t.Fatalf("%s, byte %d: %v does not name the file", filepath.Base(path), at, err)
			}
		}
		write(t, path, sound, parts)
	}
	if _, err := collect(t, ffr.Open(parts, opts)); err != nil {
		t.Fatal(err)
	}
}

// write changes a file in place and keeps its time.
func write(t *testing.T, path string, data []byte, parts []converters.Part) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, parts[1].ModTime, parts[1].ModTime); err != nil {
		t.Fatal(err)
	}
}

// A sample over the limit is refused, not allocated.
func TestMaxSample(t *testing.T) {
	t.Parallel()
	dir, m := made(t, "msgpack", 4, 1)
	paths, opts := options(dir, m, false)
	opts.Record.MaxSample = 200
	if _, err := collect(t, ffr.Open(convertertest.Parts(t, paths...), opts)); !errors.Is(err, record.ErrTooLarge) {
		t.Errorf("error %v", err)
	}
}
