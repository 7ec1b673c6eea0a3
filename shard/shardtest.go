package shard

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/pin"
)

// newPlan indexes and plans.
func newPlan(t testing.TB, src converters.Source, enc encode.Options, opts Options) *Plan {
	t.Helper()
	return planEach(t, src, nil, opts, enc)
}

// write writes the plan to dir, opening and closing it.
func write(t testing.TB, src converters.Source, plan *Plan, dir string, opts WriteOptions) (*Report, error) {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	return Write(context.Background(), src, plan, out, opts)
}

// files reads all files below dir whose bytes are promised: shards and indexes.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".ffr") && !strings.HasSuffix(name, ".arrow") {
			return err
		}
		data, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// begin puts a plan into a new directory.
func begin(t testing.TB, plan *Plan, src converters.Source) string {
	t.Helper()
	dir := t.TempDir()
	out, err := OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Begin(plan, src.Parts(), nil, false), out.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// runTask writes the slice of a task, of a source whose parts come as they are needed, or all
// at once.
func runTask(t testing.TB, dir string, task Task, src *fixture, together bool, opts WriteOptions) (*Report, error) {
	t.Helper()
	out, err := OpenShared(dir)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	slice, err := out.Slice(task, together)
	if err != nil {
		return nil, err
	}
	var stock Stock = Local(src)
	if !together {
		some := *src
		some.parts = src.parts[slice.First : slice.First+len(slice.Plan.Parts)]
		some.first = src.first + slice.First
		stock = &stocked{fixture: &some}
	}
	return RunStock(t.Context(), stock, slice, out, opts)
}

func finishDir(t testing.TB, dir string, opts FinishOptions) (*Report, error) {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		return nil, err
	}
	report, err := Finish(t.Context(), out, opts)
	return report, errors.Join(err, out.Close())
}

func newWholePlan(t testing.TB, src *fixture, opts Options) *Plan {
	t.Helper()
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	index, err := Index(context.Background(), src, spec, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Source.Format = spec.Options(), "memory"
	plan, err := NewWholePlan(storedParts(src), index[:1], opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func storedParts(src *fixture) (parts []Part) {
	for _, p := range src.Parts() {
		parts = append(parts, Part{Name: p.Name, Size: p.Size})
	}
	return parts
}

// A stocked dataset counts what is taken of it.
type stocked struct {
	*fixture
	mu    sync.Mutex
	taken []int // times, by part
	held  int   // shards
	most  int   // shards held at once
	fail  func(first int) error
}

func (s *stocked) Parts() []converters.Part {
	parts := s.fixture.Parts()
	for i := range parts {
		parts[i].Copy = &converters.Copy{Mark: pin.Of("etag", strconv.Itoa(s.first+i))}
	}
	return parts
}

func (s *stocked) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		if err := s.fail(first); err != nil {
			return nil, nil, err
		}
	}
	if s.taken == nil {
		s.taken = make([]int, len(s.parts))
	}
	for i := range n {
		s.taken[first+i]++
	}
	s.held++
	s.most = max(s.most, s.held)
	return s.WithParts(first, s.Parts()[first:first+n]), func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
		return nil
	}, nil
}

func writeStock(t *testing.T, stock Stock, plan *Plan, dir string, opts WriteOptions) (*Report, error) {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	return WriteStock(t.Context(), stock, plan, out, opts)
}

// dataset makes a directory that holds the plan's dataset.
func dataset(src *fixture, plan *Plan) func(t *testing.T) string {
	return func(t *testing.T) string {
		dir := t.TempDir()
		if _, err := write(t, src, plan, dir, WriteOptions{NoVerify: true}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
}

func put(t *testing.T, dir, name string) string {
	if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t *testing.T, dir, name string) {
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// truncate changes the size of a file by so many bytes.
func truncate(t *testing.T, dir, name string, by int64) {
	path := filepath.Join(dir, name)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, st.Size()+by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// flip flips a bit of byte at of a file.
func flip(t *testing.T, dir, name string, at int) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[at] ^= 4
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// edit replaces the first of a text in a file.
func edit(t *testing.T, dir, name, old, new string) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// everything reads the files that a repair restores, the time in the manifest and its checksum left out.
func everything(t *testing.T, dir string) map[string]string {
	all := files(t, dir)
	for _, name := range []string{ManifestName, metaName, PlanName} {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		lines := slices.DeleteFunc(strings.Split(string(data), "\n"), func(l string) bool {
			return strings.HasPrefix(l, `  "created"`) || strings.HasPrefix(l, `  "sha256"`)
		})
		all[name] = strings.Join(lines, "\n")
	}
	return all
}

// repair does what the command does: verify what is known, write anew what is damaged.
func repair(t *testing.T, src converters.Source, dir string) (damaged []string, report *Report, err error) {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		return nil, nil, err
	}
	defer out.Close()
	kept, err := out.Kept()
	if err != nil {
		return nil, nil, err
	}
	found, err := kept.Verify(t.Context(), out, aio.Options{}, nil)
	if err != nil {
		return nil, nil, err
	}
	damaged = kept.Damaged(found.Problems)
	report, err = Repair(t.Context(), src, kept, damaged, out, WriteOptions{})
	return damaged, report, err
}

var fourShards = Options{Sizes: Sizes{Shards: 4}}

// claimed makes the claim of another process.
func claimed(t testing.TB, dir, shard string, age time.Duration) {
	t.Helper()
	path := filepath.Join(dir, ".ffconvert", "running", strings.TrimSuffix(shard, ".ffr"))
	text := `{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z","task":"1/2","token":"aaaaaaaaaaaaa"}`
	at := time.Now().Add(-age)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// withSum returns a manifest of these lines, with the checksum that it should have.
func withSum(body string) []byte {
	return fmt.Appendf(nil, "%s  \"sha256\": \"%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}

// withoutSum returns the lines of a manifest that its checksum is of.
func withoutSum(text string) string {
	const sum = `  "sha256": "` + "\"\n}\n"
	return text[:max(0, len(text)-len(sum)-2*sha256.Size)]
}

// has reports whether a file of that name is in the output.
func has(t *testing.T, o *Output, name string) bool {
	t.Helper()
	st, err := o.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return st != nil
}

// planEach plans parts of which each has one of several encodings.
func planEach(t testing.TB, src converters.Source, of []int, opts Options, each ...encode.Options) *Plan {
	t.Helper()
	enc := Encodings{Of: of}
	for _, o := range each {
		spec, err := encode.Parse(o)
		if err != nil {
			t.Fatal(err)
		}
		enc.Specs = append(enc.Specs, spec)
	}
	index, err := IndexEach(context.Background(), src, enc, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Encodes, opts.Source.Format = enc.Specs[0].Options(), enc.Options(), "memory"
	plan, err := NewPlan(index, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
