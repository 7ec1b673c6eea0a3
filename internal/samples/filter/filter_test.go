package filter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A through is a filter and its source.
type through struct {
	*Filter
	converters.Source
	dir string
}

// open passes a source through the filter that a test program is.
func open(t testing.TB, inner converters.Source, how string, processes int) through {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "cache")
	f := New(Options{Command: program(t, how), Processes: processes, Timeout: time.Minute, CacheDir: dir, lull: 100 * time.Millisecond})
	spec, err := encode.Parse(encode.Options{Encoding: "cbor"})
	must(t, err)
	answered := cbor.Open(nil, cbor.Options{Fields: true})
	return through{f, f.Source(inner, func(int) *encode.Spec { return spec }, answered), dir}
}

// close ends the filter, which must leave nothing.
func (s through) close(t testing.TB) {
	t.Helper()
	must(t, s.Filter.Close())
	if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is left: %v", s.dir, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// indexed is what an index of a part has found.
type indexed struct {
	spans   []converters.Span
	entries int
	skipped map[string]int
}

func index(ctx context.Context, src converters.Source, p int) (all indexed, err error) {
	all.skipped = make(map[string]int)
	for span, err := range src.Index(ctx, p) {
		if err != nil {
			return all, err
		}
		all.entries += span.Entries
		if span.Shape == nil {
			all.skipped[span.Skip] += max(1, span.Entries)
			continue
		}
		all.spans = append(all.spans, *span)
		all.spans[len(all.spans)-1].Shape = nil
	}
	return all, nil
}

// keysOf reads a part and returns its samples as text.
func keysOf(t testing.TB, src converters.Source, p int, of indexed) (all []string) {
	t.Helper()
	if len(of.spans) == 0 {
		return nil
	}
	for s, err := range src.Read(t.Context(), converters.Run{Part: p, Off: of.spans[0].Off, Count: int64(len(of.spans))}) {
		must(t, err)
		one := s.Key
		for _, f := range s.Fields {
			one += fmt.Sprintf(" %s=%d", f.Name, f.Value.Len())
		}
		all = append(all, one)
	}
	return all
}

// A process that flushes its answers serves all parts; one that does not is started anew for each. There are never more than
// were asked for.
func TestProcesses(t *testing.T) {
	t.Parallel()
	src := open(t, memsource.New(6, 12, 5, 100), "counts", 2)
	src.opts.lull = time.Minute // on a busy machine a process that flushes may be slow
	pids := make(map[int64]bool)
	errs := make(chan error)
	for p := range 12 {
		go func() {
			_, err := index(t.Context(), src, p)
			errs <- err
		}()
	}
	for range 12 {
		must(t, <-errs)
	}
	for p := range 12 {
		of, err := index(t.Context(), src, p)
		must(t, err)
		for s, err := range src.Read(t.Context(), converters.Run{Part: p, Off: of.spans[0].Off, Count: 5}) {
			must(t, err)
			pids[s.Fields[0].Value.Int()] = true
		}
	}
	if len(pids) == 0 || len(pids) > 2 {
		t.Errorf("%d processes served the parts", len(pids))
	}
	must(t, src.Finish(t.Context()))
	src.close(t)
}

// An error of the source ends the part, with the error of the source.
func TestSourceFails(t *testing.T) {
	t.Parallel()
	inner := memsource.New(7, 1, 100, 3000)
	bad := &converters.Error{Where: "part-0", Off: 50, Err: converters.ErrTruncated}
	inner.Fail = func(_ int, ordinal int64) error {
		if ordinal == 50 {
			return bad
		}
		return nil
	}
	for _, how := range []string{"itself", "at the end"} {
		src := open(t, inner, how, 1)
		if _, err := index(t.Context(), src, 0); !errors.Is(err, bad) {
			t.Errorf("%s: %v", how, err)
		}
		src.close(t)
	}
	inner.IndexErr = func(int) error { return bad }
	src := open(t, inner, "itself", 1)
	if _, err := index(t.Context(), src, 0); !errors.Is(err, bad) {
		t.Error(err)
	}
	src.close(t)
}

// Answers are kept while a shard needs them, and no longer.
func TestHold(t *testing.T) {
	t.Parallel()
	inner := memsource.New(8, 4, 10, 100)
	src := open(t, inner, "itself", 1)
	first := src.Hold(0, 2)
	for p := range 4 {
		_, err := index(t.Context(), src, p)
		must(t, err)
	}
	kept := func() int {
		names, _ := filepath.Glob(filepath.Join(src.dir, "*.staged"))
		return len(names)
	}
	second := src.Hold(1, 2)
	must(t, first())
	if n := kept(); n != 3 {
		t.Errorf("%d copies are kept, want 3", n)
	}
	must(t, src.Hold(3, 1)())
	if n := kept(); n != 3 {
		t.Errorf("%d copies are kept, want 3", n)
	}
	must(t, second())
	if n := kept(); n != 1 {
		t.Errorf("%d copies are kept, want 1", n)
	}
	src.close(t)
}

// Progress moves while a part is with a program, and adds up to the part.
func TestProgress(t *testing.T) {
	t.Parallel()
	need.Time(t, "a program that takes its time")
	inner := memsource.New(9, 1, 10, 1000)
	src := open(t, inner, "slow", 1)
	var calls, samples, bytes int64
	src.opts.Progress = func(s, b int64) {
		calls++
		samples += s
		bytes += b
	}
	_, err := index(t.Context(), src, 0)
	must(t, err)
	is := src.Source.(converters.Filtering).Filtered(0)
	if size := max(is.Size, src.Parts()[0].Size); calls < 4 || samples != 10 || bytes != size || size == 0 {
		t.Errorf("%d calls, %d samples, %d of %d bytes", calls, samples, bytes, size)
	}
	src.close(t)
}

// Check may refuse answers, and a cache that is too small does.
func TestCheck(t *testing.T) {
	t.Parallel()
	bad := errors.New("other answers")
	src := open(t, memsource.New(8, 1, 10, 100), "itself", 1)
	src.opts.Check = func(part int, name string, is *converters.Filtered) error {
		if part != 0 || name != "part-0" || is.Samples != 10 || len(is.Content) != 16 {
			t.Errorf("part %d, %s: %+v", part, name, is)
		}
		return bad
	}
	if _, err := index(t.Context(), src, 0); !errors.Is(err, bad) {
		t.Error(err)
	}
	src.close(t)
	src = open(t, memsource.New(8, 1, 100, 100_000), "itself", 1)
	src.opts.Quota = 1 << 20
	if _, err := index(t.Context(), src, 0); err == nil || !strings.Contains(err.Error(), "option cache-size") {
		t.Error(err)
	}
	src.close(t)
}
