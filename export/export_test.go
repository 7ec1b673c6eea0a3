package export_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// shards writes samples of bytes into shards, and returns their directory.
func shards(t testing.TB, parts [][]converters.Sample, opts encode.Options, n int) string {
	t.Helper()
	return write(t, &memsource.Source{Data: parts}, opts, n)
}

// sharded writes a source into shards, and returns their directory.
func sharded(t testing.TB, src converters.Source, n int) string {
	t.Helper()
	return write(t, src, encode.Options{}, n)
}

func write(t testing.TB, src converters.Source, opts encode.Options, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shards")
	if _, err := shardtest.Convert(t.Context(), src, dir, shardtest.ConvertOptions{Encode: opts, Sizes: plan.Sizes{Shards: n}}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// with opens shards and calls use.
func with(ctx context.Context, use func(*export.Source) error, sources ...string) error {
	f, _ := format.Named("ffr")
	return convert.Conversion{Reader: f.Reader(), Sources: sources}.WithSamples(ctx, false, func(s *format.Samples) error {
		return use(&export.Source{Samples: s.Source, Whole: s.Whole, Description: s.Description, Dataset: s.Dataset, Sum: s.Sum, Heads: s.Heads})
	})
}

// tars exports shards to tars, and returns their paths.
func tars(t testing.TB, dir string, opts export.Options) ([]string, *export.Report) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "tars")
	var done *export.Report
	err := with(t.Context(), func(s *export.Source) (err error) {
		done, err = export.Tars(t.Context(), s, filepath.Join(out, "x-%03d.tar"), opts)
		return err
	}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range done.Files {
		names = append(names, filepath.Join(out, f.Name))
	}
	return names, done
}

// random are samples whose names are as odd as a tar and webdataset accept, with all kinds of sizes.
func random(r *rand.Rand, n int) [][]converters.Sample {
	letters := []string{"a", "B", "7", "-", "_", " ", "é", "日本", "\U0001f600", "'", "%", "\\", "=", "{", "~"}
	word := func(most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteString(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	parts := make([][]converters.Sample, 2)
	for i := range n {
		key := fmt.Sprint(i)
		for range r.IntN(4) {
			key = word([]int{3, 3, 60, 120}[r.IntN(4)]) + "/" + key
		}
		s := converters.Sample{Key: key + word(40)}
		for f := range 1 + r.IntN(4) {
			data := make([]byte, []int{0, 1, 511, 512, 513, 5000}[r.IntN(6)])
			for j := range data {
				data[j] = byte(r.Uint32())
			}
			s.Fields = append(s.Fields, converters.Field{Name: fmt.Sprintf("%s%d", strings.ToLower(word(3)), f), Value: converters.Bytes(data)})
		}
		parts[i*2/n] = append(parts[i*2/n], s)
	}
	return parts
}

// A member is the name of a member and the SHA-256 of its bytes.
type member [2]string

func sum(data []byte) string { s := sha256.Sum256(data); return hex.EncodeToString(s[:8]) }

// members are what the samples must be in tars.
func members(parts [][]converters.Sample) (all []member) {
	for _, samples := range parts {
		for _, s := range samples {
			for _, f := range s.Fields {
				all = append(all, member{s.Key + "." + f.Name, sum(f.Value.Data())})
			}
		}
	}
	return all
}

// ours lists tars by the source that converts them.
func ours(t *testing.T, paths []string) (all []member) {
	t.Helper()
	var parts []converters.Part
	for _, p := range paths {
		st, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, converters.Part{Name: p, Path: p, Size: st.Size()})
	}
	src := tar.Open(parts, tar.Options{})
	for p := range parts {
		n := int64(0)
		for span, err := range src.Index(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
			if span.Shape != nil {
				n++
			}
		}
		for s, err := range src.Read(t.Context(), converters.Run{Part: p, Count: n}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s.Fields {
				all = append(all, member{s.Key + "." + f.Name, sum(f.Value.Data())})
			}
		}
	}
	return all
}

// Foreign readers list every tar as it was made: GNU tar, bsdtar and Python's tarfile.
func TestJudges(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	parts := random(r, 300)
	paths, done := tars(t, shards(t, parts, encode.Options{}, 2), export.Options{Sizes: plan.Sizes{Shards: 3}})
	want := members(parts)
	if done.Totals.Files != 3 || int(done.Totals.Fields) != len(want) {
		t.Errorf("%+v", done.Totals)
	}
	t.Run("ffconvert", func(t *testing.T) {
		t.Parallel()
		if got := ours(t, paths); !slices.Equal(got, want) {
			t.Error(differ(got, want))
		}
	})
	t.Run("tarfile", func(t *testing.T) {
		t.Parallel()
		py := python.Start(t, `
import hashlib, tarfile
def reply(path):
    with tarfile.open(path.decode(), "r:") as tar:
        return [[m.name, hashlib.sha256(tar.extractfile(m).read()).hexdigest()[:16]] for m in tar]
`)
		var got []member
		for _, p := range paths {
			var some []member
			py.Ask([]byte(p), &some)
			got = append(got, some...)
		}
		if !slices.Equal(got, want) {
			t.Error(differ(got, want))
		}
	})
	for _, tool := range []string{"tar", "bsdtar"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			path := need.Tool(t, tool)
			options := []string{"--quoting-style=literal"}
			if tool == "bsdtar" {
				options = nil
			}
			var names []string
			var content bytes.Buffer
			for _, p := range paths {
				names = append(names, strings.Split(strings.TrimSuffix(output(t, path, append(options, "-tf", p)...), "\n"), "\n")...)
				content.WriteString(output(t, path, "-xPOf", p))
			}
			var whole bytes.Buffer
			var wantNames []string
			for _, samples := range parts {
				for _, s := range samples {
					for _, f := range s.Fields {
						wantNames = append(wantNames, s.Key+"."+f.Name)
						whole.Write(f.Value.Data())
					}
				}
			}
			if tool == "bsdtar" { // it prints what a terminal would take for a control character, and \, as an escape
				for i := range wantNames {
					wantNames[i] = strings.ReplaceAll(wantNames[i], `\`, `\\`)
				}
			}
			if !slices.Equal(names, wantNames) {
				for i := range min(len(names), len(wantNames)) {
					if names[i] != wantNames[i] {
						t.Errorf("member %d: %q, want %q", i, names[i], wantNames[i])
						break
					}
				}
			}
			if !bytes.Equal(content.Bytes(), whole.Bytes()) {
				t.Error("the contents differ")
			}
		})
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s %q: %v\n%s", name, args, err, stderr.Bytes())
	}
	return string(out)
}

func differ(got, want []member) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("member %d: %q, want %q", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d members, want %d", len(got), len(want))
}

// convertTars converts tars into n shards.
func convertTars(t *testing.T, paths []string, opts encode.Options, n int) string {
	t.Helper()
	f, _ := format.Named("tar")
	out := filepath.Join(t.TempDir(), "again")
	c := &convert.Conversion{Reader: f.Reader(), Sources: paths, Out: out, Options: convert.Options{Encode: opts, Sizes: plan.Sizes{Shards: n}}}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}

// same compares the files of two directories that have the extension.
func same(t *testing.T, a, b, ext string) {
	t.Helper()
	for _, path := range glob(t, a, ext) {
		x, err1 := os.ReadFile(path)
		y, err2 := os.ReadFile(filepath.Join(b, filepath.Base(path)))
		if err1 != nil || err2 != nil || !bytes.Equal(x, y) {
			t.Errorf("%s differs: %v %v", filepath.Base(path), err1, err2)
		}
	}
	if x, y := glob(t, a, ext), glob(t, b, ext); len(x) != len(y) {
		t.Errorf("%d and %d files", len(x), len(y))
	}
}

func glob(t *testing.T, dir, ext string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	if err != nil || len(names) == 0 {
		t.Fatal(dir, names, err)
	}
	return names
}

// From shards to tars and back the shards are the same, if the manifest says so; from tars to shards and back the
// tars are.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	need.Time(t, "many conversions")
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			encoding := []string{"msgpack", "cbor", "pickle", "arrow"}[seed%4]
			n := 1 + r.IntN(4)
			first := shards(t, random(r, 40+r.IntN(100)), encode.Options{Encoding: encoding}, n)
			how := export.Options{Sizes: plan.Sizes{Shards: 1 + r.IntN(5), MaxSamples: int64(r.IntN(2)) * 500}, ModTime: int64(seed)}
			paths, done := tars(t, first, how)
			if want := fmt.Sprintf("--encode %s --shards %d ", encoding, n); !strings.Contains(done.Again, want) || done.NotAgain != "" {
				t.Errorf("again: %q, %q", done.Again, done.NotAgain)
			}
			second := convertTars(t, paths, encode.Options{Encoding: encoding}, n)
			same(t, first, second, ".ffr")
			again, _ := tars(t, second, how)
			same(t, filepath.Dir(paths[0]), filepath.Dir(again[0]), ".tar")
			other := convertTars(t, paths, encode.Options{Encoding: "cbor"}, n+1) // other shards, the same samples
			again, _ = tars(t, other, how)
			same(t, filepath.Dir(paths[0]), filepath.Dir(again[0]), ".tar")
		})
	}
}

// Values are files, and with --decode they are values again: then the manifest says so, and else why not.
func TestAgain(t *testing.T) {
	t.Parallel()
	value := func(name string, v converters.Value) converters.Field { return converters.Field{Name: name, Value: v} }
	for _, row := range []struct {
		name   string
		fields []converters.Field
		opts   encode.Options
		how    export.Options
		want   string // in Again or NotAgain
		plain  bool
	}{
		{"bytes", []converters.Field{value("jpg", converters.Bytes([]byte("x"))), value("cls", converters.Bytes([]byte("3")))}, encode.Options{}, export.Options{}, "ffconvert tar --encode msgpack --shards 2 'x-000.tar' OUT", true},
		{"decoded", []converters.Field{value("jpg", converters.Bytes([]byte("x"))), value("cls", converters.Int(3)), value("txt", converters.Text([]byte("grüß"))),
			value("json", converters.Nested(converters.Map{{Key: "b", Value: 1.0}, {Key: "a", Value: int64(1)}})), value("a.mp", converters.Nested([]any{int64(1), []byte("x")})),
			value("msg", converters.Nested([]any{[]byte("y")})), value("json.gz", converters.Nested([]any{int64(2)})), value("transcript.gz", converters.Text([]byte("ä"))), value("b.mp.gz", converters.Nested([]any{[]byte("z")}))},
			encode.Options{}, export.Options{}, "ffconvert tar --encode msgpack --decode --shards 2 'x-000.tar' OUT", false},
		{"raw", []converters.Field{value("jpg", converters.Bytes([]byte("x")))}, encode.Options{Encoding: "raw:jpg"}, export.Options{Ordinal: true}, "--encode raw:jpg --shards 2", true},
		{"raw, first that exists", []converters.Field{value("jpg", converters.Bytes([]byte("x")))}, encode.Options{Encoding: "raw:jpg;png"}, export.Options{Ordinal: true}, "--encode 'raw:jpg;png' --shards 2", true},
		{"a tuple", []converters.Field{value("cls", converters.Int(3)), value("jpg", converters.Bytes([]byte("x")))}, encode.Options{Encoding: "pickle:jpg,cls"}, export.Options{}, "ffconvert tar --encode pickle:jpg,cls --decode --shards 2 'x-000.tar' OUT", false},
		{"a float", []converters.Field{value("x", converters.Float(1))}, encode.Options{}, export.Options{}, "the records hold a key or values that the files of a tar do not", false},
		{"other keys", []converters.Field{value("jpg", converters.Bytes([]byte("x")))}, encode.Options{}, export.Options{Ordinal: true}, "the records hold a key", false},
		{"other fields", []converters.Field{value("jpg", converters.Bytes([]byte("x"))), value("cls", converters.Int(3))}, encode.Options{}, export.Options{Encode: encode.Options{Fields: "jpg"}}, "the tars do not have the fields", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parts := [][]converters.Sample{nil}
			for i := range 20 {
				parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("k%02d", i), Fields: row.fields})
			}
			first := write(t, &values{parts[0]}, row.opts, 2)
			paths, done := tars(t, first, row.how)
			again := strings.ReplaceAll(done.Again, filepath.Dir(paths[0])+"/", "")
			if !strings.Contains(again+done.NotAgain, row.want) {
				t.Fatalf("%q, %q", done.Again, done.NotAgain)
			}
			if done.Again == "" {
				return
			}
			opts := row.opts
			opts.Decode = strings.Contains(done.Again, "--decode")
			same(t, first, convertTars(t, paths, opts, 2), ".ffr")
		})
	}
}

// A proof that was interrupted is no reason: there is no manifest, and the same call writes the true one.
func TestAgainStopped(t *testing.T) {
	t.Parallel()
	dir := shards(t, random(rand.New(rand.NewPCG(8, 8)), 20), encode.Options{}, 2)
	name := filepath.Join(t.TempDir(), "x-%d.tar")
	ctx, cancel := context.WithCancel(t.Context())
	err := with(ctx, func(s *export.Source) error {
		s.Whole = &stopping{s.Whole, cancel}
		_, err := export.Tars(ctx, s, name, export.Options{})
		return err
	}, dir)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want it canceled", err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(name), "x.export.json")); err == nil {
		t.Error("there is a manifest")
	}
	if err := with(t.Context(), func(s *export.Source) error {
		done, err := export.Tars(t.Context(), s, name, export.Options{})
		if err == nil && (done.NotAgain != "" || done.Written != 0) {
			t.Errorf("%q, %d tars written", done.NotAgain, done.Written)
		}
		return err
	}, dir); err != nil {
		t.Error(err)
	}
}

// A stopping source is stopped while it is indexed.
type stopping struct {
	converters.Source
	cancel func()
}

func (s *stopping) Index(ctx context.Context, part int) iter.Seq2[*converters.Span, error] {
	s.cancel()
	return s.Source.Index(ctx, part)
}

// values is a source of samples with values, which it has in its index.
type values struct{ samples []converters.Sample }

func (v *values) Parts() []converters.Part { return []converters.Part{{Name: "values", Size: 1}} }

func (v *values) Index(context.Context, int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		for i := range v.samples {
			if !yield(&converters.Span{Off: int64(i), Entries: 1, Shape: &v.samples[i]}, nil) {
				return
			}
		}
	}
}

func (v *values) Read(_ context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		for i := run.First; i < run.First+run.Count; i++ {
			s := v.samples[i]
			s.Off = i
			if !yield(&s, nil) {
				return
			}
		}
	}
}

// An export that was stopped goes on; what is finished is not written anew, and the tars are the same.
func TestResume(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	dir := shards(t, random(r, 200), encode.Options{}, 2)
	how := export.Options{Sizes: plan.Sizes{Shards: 8}, Workers: 1}
	want, _ := tars(t, dir, how)
	for stop := range 8 {
		out := filepath.Join(t.TempDir(), "tars")
		template := filepath.Join(out, "x-%03d.tar")
		ctx, cancel := context.WithCancel(t.Context())
		stopped := how
		stopped.Progress = &stopper{after: stop * 25, cancel: cancel}
		err := with(t.Context(), func(s *export.Source) error {
			_, err := export.Tars(ctx, s, template, stopped)
			return err
		}, dir)
		cancel()
		before, _ := filepath.Glob(filepath.Join(out, "*.tar"))
		if _, manifest := os.Stat(filepath.Join(out, "x.export.json")); err == nil || manifest == nil {
			t.Fatalf("%d: %v, %v", stop, err, manifest)
		}
		if len(before) > 0 && stop%2 == 1 { // a run that was killed before it entered the tar
			journal := filepath.Join(out, ".ffconvert", "x.export.json.journal")
			text, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(journal, text[:len(text)-3], 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var done *export.Report
		err = with(t.Context(), func(s *export.Source) (err error) {
			done, err = export.Tars(t.Context(), s, template, how)
			return err
		}, dir)
		if err != nil {
			t.Fatal(stop, err)
		}
		if missing := 8 - len(before); done.Written != missing && stop%2 == 0 {
			t.Errorf("%d: wrote %d, %d were there", stop, done.Written, len(before))
		}
		same(t, filepath.Dir(want[0]), out, ".tar")
		if left, err := os.ReadDir(filepath.Join(out, ".ffconvert")); err == nil {
			t.Errorf("%d: left %v", stop, left)
		}
	}
}

// A stopper ends a run after some samples were written.
type stopper struct {
	after  int
	phase  string
	cancel func()
}

func (s *stopper) Start(phase string, _ int64) {
	if s.phase = phase; phase != "index" && s.after == 0 {
		s.cancel()
	}
}

func (s *stopper) Add(samples, _ int64) {
	if s.phase == "index" {
		return
	}
	if s.after -= int(samples); s.after <= 0 {
		s.cancel()
	}
}

// What is refused leaves nothing.
func TestTarsRefuse(t *testing.T) {
	t.Parallel()
	field := []converters.Field{{Name: "jpg", Value: converters.Bytes([]byte("x"))}}
	for _, row := range []struct {
		name     string
		key      string
		fields   []converters.Field
		template string
		how      export.Options
		want     string
	}{
		{"a dot in a key", "a.b", field, "x-%d.tar", export.Options{}, "option key ordinal"},
		{"a field in upper case", "a", []converters.Field{{Name: "JPG"}}, "x-%d.tar", export.Options{}, "option rename"},
		{"no number", "a", field, "x.tar", export.Options{Sizes: plan.Sizes{Shards: 3}}, "no place for a number"},
		{"two numbers", "a", field, "x-%d-%d.tar", export.Options{}, "want one %d"},
		{"too few digits", "a", field, "x-%01d.tar", export.Options{Sizes: plan.Sizes{Shards: 11}}, "%02d"},
		{"another verb", "a", field, "x-%s.tar", export.Options{}, "want %d"},
		{"the name of shards", "a", field, "x-%d.ffr", export.Options{}, "want the name of a tar"},
		{"the name of compressed tars", "a", field, "x-%d.tar.gz", export.Options{}, "want the name of a tar"},
		{"standard output", "a", field, "-", export.Options{}, "want the name of a tar"},
		{"a suffix alone", "a", field, ".tar", export.Options{}, "want the name of a tar"},
		{"a number in the directory", "a", field, "%d/x.tar", export.Options{}, "not into a directory"},
		{"samples of no field", "a", nil, "x-%d.tar", export.Options{}, "without fields"},
		{"too many tars", "a", field, "x-%d.tar", export.Options{Sizes: plan.Sizes{Shards: 100}}, "above the number of samples"},
		{"a time", "a", field, "x-%d.tar", export.Options{ModTime: -1}, "want a time"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parts := [][]converters.Sample{nil}
			for i := range 20 {
				parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("%02d%s", i, row.key), Fields: row.fields})
			}
			dir := shards(t, parts, encode.Options{}, 1)
			out := filepath.Join(t.TempDir(), "out")
			err := with(t.Context(), func(s *export.Source) error {
				_, err := export.Tars(t.Context(), s, filepath.Join(out, row.template), row.how)
				return err
			}, dir)
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%v, want %s", err, row.want)
			}
			if left, err := os.ReadDir(out); err == nil {
				t.Errorf("left %v", left)
			}
		})
	}
}

// A damaged record is found, named, and in no tar.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := shards(t, random(rand.New(rand.NewPCG(5, 5)), 50), encode.Options{}, 1)
	path := filepath.Join(dir, "PART_00000.ffr")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)*3/4] ^= 4
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	err = with(t.Context(), func(s *export.Source) error {
		_, err := export.Tars(t.Context(), s, filepath.Join(out, "x-%d.tar"), export.Options{})
		return err
	}, dir)
	if err == nil || !strings.Contains(err.Error(), "PART_00000.ffr: offset") || !strings.Contains(err.Error(), "sample") {
		t.Error(err)
	}
	if left, err := os.ReadDir(out); err == nil {
		t.Errorf("left %v", left)
	}
	var stream bytes.Buffer
	if err := with(t.Context(), func(s *export.Source) error {
		return export.Stream(t.Context(), &stream, s, "jsonl", export.Options{})
	}, dir); err == nil {
		t.Error("a stream of damaged records has no error")
	}
	for line := range strings.Lines(stream.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q", line)
		}
	}
}
