package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// build makes files below a new directory and returns it. A path that ends in a slash is
// a directory; contents that begin with "-> " are those of a symbolic link.
func build(t testing.TB, files map[string]string) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		add(t, root, name, data)
	}
	return root
}

func add(t testing.TB, root, name, data string) {
	t.Helper()
	path := filepath.Join(root, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		if target, ok := strings.CutPrefix(data, "-> "); ok {
			err = os.Symlink(target, path)
		} else if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, []byte(data), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open opens roots, the first of which the user called data.
func open(t testing.TB, opts Options, roots ...string) (*source, error) {
	t.Helper()
	var parts []converters.Part
	for i, root := range roots {
		parts = append(parts, converters.Part{Name: []string{"data", "more"}[i], Path: root})
	}
	return Open(t.Context(), parts, opts)
}

func mustOpen(t testing.TB, opts Options, roots ...string) *source {
	t.Helper()
	s, err := open(t, opts, roots...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// listed is what the index of all parts says, a line a span.
func indexed(t testing.TB, s *source) (lines []string, err error) {
	t.Helper()
	for p, part := range s.Parts() {
		for span, err := range s.Index(t.Context(), p) {
			switch {
			case err != nil:
				return lines, err
			case span.Accepted:
				lines = append(lines, fmt.Sprintf("%s: waived: %s: %s", part.Name, span.Skip, span.Name))
			case span.Shape == nil:
				lines = append(lines, fmt.Sprintf("%s: %s: %s", part.Name, span.Skip, span.Name))
			default:
				lines = append(lines, fmt.Sprintf("%s: %s", part.Name, words(span.Shape)))
			}
		}
	}
	return lines, nil
}

// words is a sample in words; fields that were not read have their sizes.
func words(s *converters.Sample) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %d:", s.Key, s.Off)
	for _, f := range s.Fields {
		switch {
		case f.Value.Kind() == converters.KindInt:
			fmt.Fprintf(&b, " %s=%d", f.Name, f.Value.Int())
		case f.Value.Unread():
			fmt.Fprintf(&b, " %s(%d)", f.Name, f.Value.Len())
		default:
			fmt.Fprintf(&b, " %s=%q", f.Name, f.Value.Data())
		}
	}
	return b.String()
}

// runOf is the run of all samples of a part.
func runOf(t testing.TB, s *source, p int) converters.Run {
	t.Helper()
	run := converters.Run{Part: p}
	for span, err := range s.Index(t.Context(), p) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape != nil {
			run.Count++
		}
	}
	return run
}

// contents reads all samples of all parts.
func contents(t testing.TB, s *source) (lines []string, err error) {
	t.Helper()
	for p, part := range s.Parts() {
		for sample, err := range s.Read(t.Context(), runOf(t, s, p)) {
			if err != nil {
				return lines, err
			}
			lines = append(lines, fmt.Sprintf("%s: %s", part.Name, words(sample)))
		}
	}
	return lines, nil
}

// usage counts what a source does with the files that it opens.
type usage struct {
	read, opened, closed atomic.Int64
	ops                  atomic.Int64 // stat, read, stat, close
	fail                 int64        // the one that fails
}

type countedFile struct {
	file
	use *usage
}

var errInjected = errors.New("injected")

func (f countedFile) op() error {
	if f.use.ops.Add(1) == f.use.fail {
		return errInjected
	}
	return nil
}

func (f countedFile) Stat() (fs.FileInfo, error) {
	if err := f.op(); err != nil {
		return nil, err
	}
	return f.file.Stat()
}

func (f countedFile) Read(b []byte) (int, error) {
	if err := f.op(); err != nil {
		return 0, err
	}
	n, err := f.file.Read(b)
	f.use.read.Add(int64(n))
	return n, err
}

func (f countedFile) Close() error {
	f.use.closed.Add(1)
	return errors.Join(f.file.Close(), f.op())
}

// counted makes a source count.
func counted(s *source) *usage {
	use := new(usage)
	s.opened = func(f *os.File) file {
		use.opened.Add(1)
		return countedFile{f, use}
	}
	return use
}
