// Package shardtest plans and writes datasets of package memsource, for tests.
package shardtest

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
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// NewPlan indexes and plans.
func NewPlan(t testing.TB, src converters.Source, enc encode.Options, opts plan.Options) *plan.Plan {
	t.Helper()
	return PlanEach(t, src, nil, opts, enc)
}

// Write writes the plan to dir, opening and closing it.
func Write(t testing.TB, src converters.Source, plan *plan.Plan, dir string, opts write.Options) (*write.Report, error) {
	t.Helper()
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	return write.All(context.Background(), write.Local(src), plan, out, opts)
}

// Files reads the shards and indexes below dir.
func Files(t testing.TB, dir string) map[string]string {
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

// Begin stores a plan in a new directory.
func Begin(t testing.TB, plan *plan.Plan, src converters.Source) string {
	t.Helper()
	dir := t.TempDir()
	out, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(BeginIn(out, plan, src.Parts(), false), out.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// BeginIn stores a plan in an open directory.
func BeginIn(out *dataset.Writing, plan *plan.Plan, parts []converters.Part, overwrite bool) error {
	j, err := out.Begin(plan, parts, nil, overwrite)
	if err != nil {
		return err
	}
	return errors.Join(j.Changed, j.Close())
}

// RunTask writes the slice of a task. The parts of the source become available when they are needed, or
// all at once.
func RunTask(t testing.TB, dir string, task plan.Task, src *memsource.Source, together bool, opts write.Options) (*write.Report, error) {
	t.Helper()
	out, err := dataset.OpenTask(dir)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	slice, err := out.Slice(task, together)
	if err != nil {
		return nil, err
	}
	var stock write.PartProvider = write.Local(src)
	if !together {
		some := *src
		some.Data = src.Data[slice.First : slice.First+len(slice.Plan.Parts)]
		some.First = src.First + slice.First
		stock = &Stocked{Source: &some}
	}
	return write.Slice(t.Context(), stock, slice, out, opts)
}

func Finish(t testing.TB, dir string, opts write.Options) (*write.Report, error) {
	t.Helper()
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, err
	}
	report, err := write.Finish(t.Context(), out, opts)
	return report, errors.Join(err, out.Close())
}

func NewWholePlan(t testing.TB, src *memsource.Source, opts plan.Options) *plan.Plan {
	t.Helper()
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	index, err := plan.Index(context.Background(), src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Source.Format = spec.Options(), "memory"
	plan, err := plan.NewAligned(src.Parts(), index[:1], opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// A stocked dataset counts how its parts are used.
type Stocked struct {
	*memsource.Source
	mu    sync.Mutex
	Taken []int // times, by part
	Held  int   // shards
	Most  int   // shards held at once
	Fail  func(first int) error
}

func (s *Stocked) Parts() []converters.Part {
	parts := s.Source.Parts()
	for i := range parts {
		parts[i].Copy = &converters.Copy{Mark: files.PinOf("etag", strconv.Itoa(s.First+i))}
	}
	return parts
}

func (s *Stocked) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fail != nil {
		if err := s.Fail(first); err != nil {
			return nil, nil, err
		}
	}
	if s.Taken == nil {
		s.Taken = make([]int, len(s.Data))
	}
	for i := range n {
		s.Taken[first+i]++
	}
	s.Held++
	s.Most = max(s.Most, s.Held)
	return s.WithParts(first, s.Parts()[first:first+n]), func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.Held--
		return nil
	}, nil
}

func WriteStock(t *testing.T, stock write.PartProvider, plan *plan.Plan, dir string, opts write.Options) (*write.Report, error) {
	t.Helper()
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	}()
	return write.All(t.Context(), stock, plan, out, opts)
}

// Dataset makes a directory that holds the plan's dataset.
func Dataset(src *memsource.Source, plan *plan.Plan) func(t *testing.T) string {
	return func(t *testing.T) string {
		dir := t.TempDir()
		if _, err := Write(t, src, plan, dir, write.Options{NoVerify: true}); err != nil {
			t.Fatal(err)
		}
		return dir
	}
}

func Put(t *testing.T, dir, name string) string {
	if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func Mkdir(t *testing.T, dir, name string) {
	if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
		t.Fatal(err)
	}
}

func Remove(t *testing.T, dir, name string) {
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// Truncate adds n bytes to the size of a file; n may be negative.
func Truncate(t *testing.T, dir, name string, by int64) {
	path := filepath.Join(dir, name)
	st, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, st.Size()+by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Flip flips a bit of byte at of a file.
func Flip(t *testing.T, dir, name string, at int) {
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

// Edit replaces the first of a text in a file.
func Edit(t *testing.T, dir, name, old, new string) {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Everything reads the files that a repair restores, the time in the manifest and its checksum left out.
func Everything(t *testing.T, dir string) map[string]string {
	all := Files(t, dir)
	for _, name := range []string{dataset.ManifestName, dataset.MetaName, dataset.PlanName} {
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

// Repair does what the command does: it verifies the dataset and writes damaged shards again.
func Repair(t *testing.T, src converters.Source, dir string) (damaged []string, report *write.Report, err error) {
	t.Helper()
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer out.Close()
	kept, err := out.Kept()
	if err != nil {
		return nil, nil, err
	}
	if _, damaged, err = out.Reread(t.Context(), kept.Shards, &kept.Meta, aio.Options{}, nil); err != nil {
		return nil, nil, err
	}
	kept.Damaged = damaged
	report, err = write.Repair(t.Context(), write.Local(src), kept, out, write.Options{})
	return damaged, report, err
}

var FourShards = plan.Options{Sizes: plan.Sizes{Shards: 4}}

// Status reads the status of the dataset in a directory.
func Status(dir string) (*dataset.Status, error) {
	d, err := dataset.View(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Status()
}

// Verify reads the dataset in a directory again.
func Verify(t *testing.T, dir string, m *dataset.Manifest, how verify.Options) (*verify.Report, *dataset.Repairable, error) {
	t.Helper()
	d, err := dataset.View(dir)
	if err != nil {
		return nil, nil, err
	}
	defer d.Close()
	return d.Verify(t.Context(), m, how)
}

// Claimed makes the claim of another process.
func Claimed(t testing.TB, dir, shard string, age time.Duration) {
	t.Helper()
	path := filepath.Join(dir, ".ffconvert", "running", strings.TrimSuffix(shard, ".ffr"))
	text := `{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z","task":"1/2","token":"aaaaaaaaaaaaa"}`
	at := time.Now().Add(-age)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// WithSum returns a manifest of these lines, with the checksum that it should have.
func WithSum(body string) []byte {
	return fmt.Appendf(nil, "%s  \"sha256\": \"%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}

// WithoutSum returns the lines of a manifest that its checksum covers.
func WithoutSum(text string) string {
	const sum = `  "sha256": "` + "\"\n}\n"
	return text[:max(0, len(text)-len(sum)-2*sha256.Size)]
}

// Has reports whether a file of that name is in the output.
func Has(t *testing.T, o *dataset.Writing, name string) bool {
	t.Helper()
	st, err := o.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return st != nil
}

// PlanEach plans parts of which each has one of several encodings.
func PlanEach(t testing.TB, src converters.Source, of []int, opts plan.Options, each ...encode.Options) *plan.Plan {
	t.Helper()
	enc := plan.Encodings{Of: of}
	for _, o := range each {
		spec, err := encode.Parse(o)
		if err != nil {
			t.Fatal(err)
		}
		enc.Specs = append(enc.Specs, spec)
	}
	index, err := plan.Index(context.Background(), src, plan.IndexOptions{Encodings: enc, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Encodes, opts.Source.Format = enc.Specs[0].Options(), enc.Options(), "memory"
	plan, err := plan.New(index, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}
