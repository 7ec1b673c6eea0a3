package check

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/findings"
)

// A file is one input of a test.
type file struct {
	name string
	data []byte
}

// tarOf makes a tar of members, "name=content"; "name/" is a directory, "name->to" a link.
func tarOf(name string, members ...string) file {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		h := &tar.Header{Typeflag: tar.TypeReg, Mode: 0o644, Format: tar.FormatGNU}
		path, data, _ := strings.Cut(m, "=")
		if h.Name = path; strings.HasSuffix(path, "/") {
			h.Typeflag = tar.TypeDir
		}
		if from, to, ok := strings.Cut(path, "->"); ok {
			h.Typeflag, h.Name, h.Linkname = tar.TypeSymlink, from, to
		}
		h.Size = int64(len(data))
		must(w.WriteHeader(h))
		_, err := w.Write([]byte(data))
		must(err)
	}
	must(w.Close())
	return file{name, b.Bytes()}
}

// cut keeps the first n bytes; a negative n drops the last ones.
func (f file) cut(n int) file {
	if n < 0 {
		n += len(f.data)
	}
	return file{f.name, f.data[:n]}
}

func (f file) flip(at int) file {
	data := slices.Clone(f.data)
	data[at] ^= 1
	return file{f.name, data}
}

func (f file) and(g file) file { return file{f.name, slices.Concat(f.data, g.data)} }

// partsOf writes the files.
func partsOf(t testing.TB, files ...file) []converters.Part {
	dir := t.TempDir()
	var parts []converters.Part
	for i, f := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		must(os.WriteFile(path, f.data, 0o600))
		parts = append(parts, converters.Part{Name: f.name, Path: path, Size: int64(len(f.data))})
	}
	return parts
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// check runs Source and returns the lines of its report, without that of totals.
func check(t testing.TB, src converters.Source, opts Options) []string {
	t.Helper()
	report, err := Source(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	return lines(t, report)
}

func lines(t testing.TB, report *findings.Report) []string {
	t.Helper()
	var b strings.Builder
	if err := findings.Write(&b, findings.Text, report); err != nil {
		t.Fatal(err)
	}
	all := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	return all[:len(all)-1]
}

// made is a source in memory: each part a function of its spans, which hold what Read yields.
type made []iter.Seq2[*converters.Span, error]

func (m made) Parts() []converters.Part {
	var parts []converters.Part
	for i := range m {
		parts = append(parts, converters.Part{Name: fmt.Sprintf("part-%d", i), Path: "-"})
	}
	return parts
}

func (m made) Index(_ context.Context, p int) iter.Seq2[*converters.Span, error] { return m[p] }

func (m made) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		ordinal := int64(0)
		for span, err := range m[run.Part] {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if span.Shape == nil {
				continue
			}
			if ordinal >= run.First && !yield(span.Shape, nil) {
				return
			}
			if ordinal++; ordinal == run.First+run.Count {
				return
			}
		}
	}
}

// samples is a part of such samples, each a sample in 100 bytes.
func samples(all ...converters.Sample) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		for i := range all {
			s := all[i]
			s.Off = int64(i) * 100
			if !yield(&converters.Span{Off: s.Off, Entries: 1, Shape: &s}, nil) {
				return
			}
		}
	}
}

func sample(key string, fields ...converters.Field) converters.Sample {
	return converters.Sample{Key: key, Fields: fields}
}

func field(name, data string) converters.Field {
	return converters.Field{Name: name, Value: converters.Bytes([]byte(data))}
}
