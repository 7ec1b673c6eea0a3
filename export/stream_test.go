package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

func streamed(t *testing.T, dir, format, columns string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := with(t.Context(), func(s *export.Source) error {
		return export.Stream(t.Context(), &out, s, format, export.Options{Encode: encode.Options{Fields: columns}})
	}, dir)
	return out.String(), err
}

// mixed are samples of all kinds of values.
func mixed(n int) [][]converters.Sample {
	parts := [][]converters.Sample{nil}
	for i := range n {
		s := converters.Sample{Key: fmt.Sprintf("k/%d", i), Fields: []converters.Field{
			{Name: "jpg", Value: converters.Bytes(bytes.Repeat([]byte{byte(i), 0, 255}, i%50))},
			{Name: "cls", Value: converters.Int(int64(i) - 3)},
			{Name: "x", Value: converters.Float(float64(i) / 4)},
			{Name: "ok", Value: converters.Nested(i%2 == 0)},
		}}
		if i%3 > 0 {
			s.Fields = append(s.Fields, converters.Field{Name: "txt", Value: converters.Text(fmt.Appendf(nil, "grüß %d\n<\u2028>", i))})
		}
		parts[0] = append(parts[0], s)
	}
	return parts
}

func mixedShards(t *testing.T, n int) string {
	t.Helper()
	return sharded(t, &values{mixed(n)[0]}, 3)
}

// A sequence of MessagePack or CBOR, as Python reads it, is the samples.
func TestStreamSequences(t *testing.T) {
	t.Parallel()
	dir := mixedShards(t, 100)
	py := python.Start(t, `
import io, cbor2, msgpack
def plain(x):
    return {k: v.hex() if isinstance(v, bytes) else v for k, v in x.items()}
def reply(data):
    if data[:1] == b"m":
        return [plain(x) for x in msgpack.Unpacker(io.BytesIO(data[1:]))]
    f, all = io.BytesIO(data[1:]), []
    while f.tell() < len(data) - 1:
        all.append(plain(cbor2.load(f)))
    return all
`, "cbor2", "msgpack")
	var lists [2][]map[string]any
	for i, format := range []string{"msgpack", "cbor"} {
		out, err := streamed(t, dir, format, "")
		if err != nil {
			t.Fatal(err)
		}
		py.Ask([]byte(format[:1]+out), &lists[i])
	}
	want := mixed(100)[0]
	for _, list := range lists {
		if len(list) != len(want) {
			t.Fatalf("%d samples", len(list))
		}
		for i, got := range list {
			s := &want[i]
			jpg, _ := s.Field("jpg")
			txt, has := s.Field("txt")
			text, hasText := got["txt"].(string)
			if got["__key__"] != s.Key || got["jpg"] != fmt.Sprintf("%x", jpg.Data()) || got["cls"] != float64(i-3) || got["x"] != float64(i)/4 || got["ok"] != (i%2 == 0) || has != hasText || text != string(txt.Data()) {
				t.Fatalf("sample %d: %v", i, got)
			}
		}
	}
}

func TestStreamJSON(t *testing.T) {
	t.Parallel()
	out, err := streamed(t, mixedShards(t, 50), "jsonl", "")
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for line := range strings.Lines(out) {
		var got struct {
			Key string `json:"__key__"`
			JPG struct {
				Bytes []byte `json:"$bytes"`
			}
			Cls int
			X   json.Number
			OK  bool
			Txt *string
		}
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&got); err != nil {
			t.Fatal(line, err)
		}
		s := &mixed(50)[0][i]
		jpg, _ := s.Field("jpg")
		txt, has := s.Field("txt")
		if got.Key != s.Key || !bytes.Equal(got.JPG.Bytes, jpg.Data()) || got.Cls != i-3 || got.OK != (i%2 == 0) || has != (got.Txt != nil) || has && *got.Txt != string(txt.Data()) || !strings.Contains(got.X.String(), ".") {
			t.Fatal(line)
		}
		i++
	}
	if i != 50 {
		t.Error(i, "lines")
	}
}

// Go's reader of Arrow, which knows nothing of us, reads the rows in batches from another process.
func TestStreamArrow(t *testing.T) {
	t.Parallel()
	const n = 2500
	cmd := exec.Command(need.Program(t), "export", "arrow", "--progress", "none", mixedShards(t, n), "-")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
			t.Errorf("%d bytes behind the stream, %v", len(rest), err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}()
	r, err := ipc.NewReader(out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if got := r.Schema().String(); !strings.Contains(got, "fields: 6") {
		t.Error(got)
	}
	rows, batches := 0, 0
	want := mixed(n)[0]
	for r.Next() {
		b := r.Record()
		column := func(name string) int { return r.Schema().FieldIndices(name)[0] }
		for i := range int(b.NumRows()) {
			s := &want[rows]
			jpg, _ := s.Field("jpg")
			txt, has := s.Field("txt")
			text := b.Column(column("txt")).(*array.String)
			if b.Column(column("__key__")).(*array.String).Value(i) != s.Key ||
				!bytes.Equal(b.Column(column("jpg")).(*array.Binary).Value(i), jpg.Data()) ||
				b.Column(column("cls")).(*array.Int64).Value(i) != int64(rows)-3 ||
				b.Column(column("x")).(*array.Float64).Value(i) != float64(rows)/4 ||
				b.Column(column("ok")).(*array.Boolean).Value(i) != (rows%2 == 0) ||
				has != text.IsValid(i) || has && text.Value(i) != string(txt.Data()) {
				t.Fatalf("row %d of %d", i, rows)
			}
			rows++
		}
		batches++
	}
	if r.Err() != nil || rows != n || batches < 2 {
		t.Errorf("%d rows in %d batches, %v", rows, batches, r.Err())
	}
}

func TestStreamRefuses(t *testing.T) {
	t.Parallel()
	bytesField := converters.Field{Name: "a", Value: converters.Bytes([]byte("x"))}
	for _, row := range []struct {
		name, format string
		late         converters.Field // of the last sample
		want         string
	}{
		{"another type", "arrow", converters.Field{Name: "a", Value: converters.Int(1)}, "it is int64 here, and binary"},
		{"a new field", "arrow", converters.Field{Name: "b", Value: converters.Int(1)}, "none of the first samples"},
		{"a list", "arrow", converters.Field{Name: "a", Value: converters.Nested([]any{})}, "it is a list or a map here, and binary"},
		{"a map that means bytes", "jsonl", converters.Field{Name: "a", Value: converters.Nested(converters.Map{{Key: "$bytes", Value: "x"}})}, "which means bytes"},
		{"a key that is a number", "jsonl", converters.Field{Name: "a", Value: converters.Nested(converters.Map{{Key: int64(1), Value: "x"}})}, "keys that are not text"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var samples []converters.Sample
			for i := range 1500 {
				samples = append(samples, converters.Sample{Key: fmt.Sprint(i), Fields: []converters.Field{bytesField}})
			}
			samples[1499].Fields = []converters.Field{row.late}
			_, err := streamed(t, sharded(t, &values{samples}, 1), row.format, "")
			if err == nil || !strings.Contains(err.Error(), row.want) || !strings.Contains(err.Error(), `"1499"`) {
				t.Error(err)
			}
		})
	}
}

// Chosen columns come in the order in which they are asked for.
func TestStreamColumns(t *testing.T) {
	t.Parallel()
	out, err := streamed(t, mixedShards(t, 3), "jsonl", "x,cls")
	if want := `{"__key__":"k/0","x":0.0,"cls":-3}` + "\n"; err != nil || !strings.HasPrefix(out, want) {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := streamed(t, mixedShards(t, 3), "jsonl", "nothing"); err == nil {
		t.Error("a column that no sample has")
	}
}

// A writer that fails ends the stream with its error.
func TestStreamWriter(t *testing.T) {
	t.Parallel()
	dir := shards(t, random(rand.New(rand.NewPCG(9, 9)), 500), encode.Options{}, 1)
	for _, format := range []string{"msgpack", "cbor", "jsonl", "arrow"} {
		err := with(t.Context(), func(s *export.Source) error {
			return export.Stream(t.Context(), full{}, s, format, export.Options{})
		}, dir)
		if err == nil || !strings.Contains(err.Error(), io.ErrShortWrite.Error()) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
