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
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/memsource"
	"github.com/ffconvert/ffconvert/internal/need"
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
	f := New(Options{Command: program(t, how), Processes: processes, CacheDir: dir, Transient: true, lull: 100 * time.Millisecond})
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
		span.Shape = nil
		all.spans = append(all.spans, span)
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

func TestAnswers(t *testing.T) {
	t.Parallel()
	const n = 40
	for _, tt := range []struct {
		how            string
		dropped, added int64
		key            func(key string, i, of int) string
	}{
		{"itself", 0, 0, nil},
		{"unflushed", 0, 0, nil},
		{"at the end", 0, 0, nil},
		{"batches:7", 0, 0, nil},
		{"third", n / 10 * 3, 0, nil},
		{"nothing kept", n, 0, nil},
		{"two", 0, n, nil},
		{"two without keys", 0, n, func(key string, i, _ int) string { return key + []string{"", "-1"}[i] }},
		{"no key", 0, 0, nil},
		{"indefinite", 0, 0, nil},
	} {
		t.Run(tt.how, func(t *testing.T) {
			t.Parallel()
			inner := memsource.New(3, 3, n, 3000)
			inner.Skips = []converters.Span{{Skip: "directory", Entries: 1}, {Skip: "directory", Entries: 2}, {Skip: "odd", Accepted: true}}
			src := open(t, inner, tt.how, 2)
			for p := range inner.Data {
				got, err := index(t.Context(), src, p)
				must(t, err)
				before, err := index(t.Context(), inner, p)
				must(t, err)
				if got.entries != before.entries || got.skipped["directory"] != 3 || got.skipped["odd"] != 1 {
					t.Errorf("part %d: %d entries, skipped %v; want %d", p, got.entries, got.skipped, before.entries)
				}
				is := src.Source.(converters.Filtering).Filtered(p)
				if is.Samples != n || is.Dropped != tt.dropped || is.Added != tt.added || int64(len(got.spans)) != n-tt.dropped+tt.added {
					t.Errorf("part %d: %+v, %d samples", p, is, len(got.spans))
				}
				if (got.skipped[Dropped] > 0) != (tt.dropped > 0) {
					t.Errorf("part %d: skipped %v", p, got.skipped)
				}
				again, err := index(t.Context(), src, p)
				if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
					t.Errorf("part %d: indexed again: %v", p, err)
				}
				checkKeys(t, inner.Data[p], keysOf(t, src, p, got), tt.how, tt.key)
			}
			must(t, src.Finish(t.Context()))
			src.close(t)
		})
	}
}

// checkKeys compares samples with those that a filter was given.
func checkKeys(t *testing.T, given []converters.Sample, got []string, how string, key func(string, int, int) string) {
	t.Helper()
	var want []string
	for i, s := range given {
		fields := ""
		for _, f := range s.Fields {
			fields += fmt.Sprintf(" %s=%d", f.Name, f.Value.Len())
		}
		switch {
		case how == "nothing kept" || how == "third" && i%10%3 == 2:
		case strings.HasPrefix(how, "two"):
			for k := range 2 {
				one := s.Key
				if key != nil {
					one = key(one, k, 2)
				}
				want = append(want, one+fields)
			}
		case how == "indefinite":
			want = append(want, s.Key+" a=2 n=0")
		default:
			want = append(want, s.Key+fields)
		}
	}
	sorted := func(all []string) string { // a Go map has no order of fields
		text := strings.Join(all, "\n")
		for range all {
			text = strings.ReplaceAll(text, "  ", " ")
		}
		return text
	}
	for i := range got {
		if f := strings.Fields(got[i]); len(f) == 3 && f[1] > f[2] {
			got[i] = f[0] + " " + f[2] + " " + f[1]
		}
	}
	if sorted(got) != sorted(want) {
		t.Errorf("got %.200q\nwant %.200q", got, want)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	huge := strings.Repeat("\x81", 200)
	for _, tt := range []struct {
		how  string
		want error
		says string
	}{
		{"exit:0", converters.ErrTruncated, "has ended, with status 0, after 2 of 10 answers"},
		{"exit:3", input.ErrCommand, "exit status 3, after 2 of 10 answers"},
		{"killed", input.ErrCommand, "signal: killed, after 2 of 10 answers"},
		{"one more", converters.ErrMalformed, "more answers than it was given"},
		{"one less", converters.ErrTruncated, "after 9 of 10 answers"},
		{"status:7", input.ErrCommand, "exit status 7"},
		{"closes its input", errShut, "after 1 of 10"},
		{"raw:\x01", converters.ErrMalformed, "an answer is an integer"},
		{"raw:\x40", converters.ErrMalformed, "an answer is a byte string"},
		{"raw:\xc1\x80", converters.ErrMalformed, "an answer is a tag"},
		{"raw:\x81\x01", converters.ErrMalformed, "an integer among its samples"},
		{"raw:\x81\x80", converters.ErrMalformed, "an array among its samples"},
		{"raw:\xff", converters.ErrMalformed, "simple value"},
		{"raw:\x1c", converters.ErrMalformed, "0x1c"},
		{"raw:\xa1\x61a\xff", converters.ErrMalformed, "a break"},
		{"raw:\xa1\x61a\x5f\x61b\xff", converters.ErrMalformed, "a text among its chunks"},
		{"raw:\xa1\x61a" + huge, converters.ErrLimit, "nested"},
		{"raw:\xa1\x61a\x5b\x10\x00\x00\x00\x00\x00\x00\x00", converters.ErrLimit, "more than"},
		{"raw:\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x61a\x01", converters.ErrMalformed, "name of a field"},
		{"raw:\xa2\x61a\x01\x61a\x02", converters.ErrDuplicate, "(filtered)"},
		{"raw:\xa1\x01\x02", converters.ErrMalformed, "name of a field"},
		{"raw:\xa1\x61\xff\x02", converters.ErrMalformed, "(filtered)"},
		{"raw at the third:\xa1\x61", converters.ErrTruncated, "inside an answer"},
		{"raw at the third:\xa1", converters.ErrTruncated, "inside an answer"},
		{"raw at the third:\x81\xa1\x61a\x44\x01", converters.ErrTruncated, "inside an answer"},
	} {
		t.Run(fmt.Sprintf("%.30q", tt.how), func(t *testing.T) {
			t.Parallel()
			how := tt.how
			if name, raw, ok := strings.Cut(how, ":"); ok && strings.HasPrefix(how, "raw") {
				how = fmt.Sprintf("%s:%x", name, raw)
			}
			src := open(t, memsource.New(5, 1, 10, 50_000), how, 1)
			_, err := index(t.Context(), src, 0)
			if err == nil {
				err = src.Finish(t.Context())
			}
			var e *converters.Error
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %v, want %v saying %q", err, tt.want, tt.says)
			}
			src.close(t)
		})
	}
}

// A program that hangs ends when the conversion is interrupted.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	for _, how := range []string{"silent", "closes its input", "closes its output"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			src := open(t, memsource.New(5, 1, 1000, 3000), how, 1)
			why := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
			start := time.Now()
			if _, err := index(ctx, src, 0); !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(start); d > 4*time.Second {
				t.Errorf("it took %v", d)
			}
			src.close(t)
		})
	}
}

// A process that flushes its answers serves all parts; one that does not is started anew for each. There are never more than
// were asked for.
func TestProcesses(t *testing.T) {
	t.Parallel()
	src := open(t, memsource.New(6, 12, 5, 100), "counts", 2)
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
	if _, err := index(t.Context(), src, 0); err == nil || !strings.Contains(err.Error(), "Options.Quota") {
		t.Error(err)
	}
	src.close(t)
}
