package write_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Each part-aligned shard is the one shard that its parts alone make, whoever writes it;
// each part is taken once, and no more of them than one shard a worker and one ahead.
func TestWholeParts(t *testing.T) {
	t.Parallel()
	need.Time(t, "many conversions")
	src := memsource.New(60, 7, 40, 3000)
	src.Data[6] = append(src.Data[6], src.Data[5]...)
	pl := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	want := make(map[string]string)
	for i, s := range pl.Shards {
		alone := &memsource.Source{Data: src.Data[s.First : s.First+s.Parts]}
		dir := t.TempDir()
		if _, err := shardtest.Write(t, alone, shardtest.NewPlan(t, alone, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 1}}), dir, write.Options{}); err != nil {
			t.Fatal(err)
		}
		want[s.Name] = shardtest.Files(t, dir)["PART_00000.ffr"]
		if i == 0 {
			want["index/PART_00000.arrow"] = shardtest.Files(t, dir)["index/PART_00000.arrow"]
		}
	}
	exact := t.TempDir()
	report, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 3}}), exact, write.Options{})
	if err != nil {
		t.Fatal(err)
	}
	totals, meta := report.Manifest.Totals, metaOf(t, exact)
	var all map[string]string
	for _, workers := range []int{1, 2, 16} {
		dir := t.TempDir()
		stock := &shardtest.Stocked{Source: src}
		report, err := shardtest.WriteStock(t, stock, pl, dir, write.Options{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		got := shardtest.Files(t, dir)
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%d workers: %s has other bytes than its parts alone make", workers, name)
			}
		}
		if all == nil {
			all = got
		} else if !maps.Equal(got, all) {
			t.Errorf("%d workers wrote other bytes than 1", workers)
		}
		totals.Bytes = report.Manifest.Totals.Bytes // where the tables are cut differs
		if fmt.Sprint(report.Manifest.Totals) != fmt.Sprint(totals) || metaOf(t, dir) != meta {
			t.Errorf("totals %+v, want %+v", report.Manifest.Totals, totals)
		}
		if !slices.Equal(stock.Taken, []int{1, 1, 1, 1, 1, 1, 1}) || stock.Most > workers+1 || stock.Held != 0 {
			t.Errorf("%d workers: parts were taken %v times, %d shards at once; %d are still held", workers, stock.Taken, stock.Most, stock.Held)
		}
		for i, p := range report.Manifest.Sources {
			if p.Name != src.Parts()[i].Name || p.Account.Samples != int64(len(src.Data[i])) {
				t.Errorf("source %d is %+v", i, p)
			}
		}
	}
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, pl, dir, write.Options{}); err != nil || !maps.Equal(shardtest.Files(t, dir), all) {
		t.Errorf("a source that is here whole: %v, or other bytes", err)
	}
	if keys := shardtest.ReadIndex(t, dir, "PART_00002.ffr").Keys; !strings.HasPrefix(keys[0], fmt.Sprint(pl.Shards[2].First, "/")) {
		t.Errorf("keys %q", keys)
	}
}

// metaOf returns the meta.json of a dataset.
func metaOf(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, dataset.MetaName))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A run that stops takes what is left when it goes on, and no part of what is finished.
func TestWholePartsResume(t *testing.T) {
	t.Parallel()
	src := memsource.New(61, 6, 20, 500)
	p := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	reference := t.TempDir()
	if _, err := shardtest.WriteStock(t, &shardtest.Stocked{Source: src}, p, reference, write.Options{}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	dir := t.TempDir()
	stock := &shardtest.Stocked{Source: src, Fail: func(first int) error {
		if first == 4 {
			return broken
		}
		return nil
	}}
	_, err := shardtest.WriteStock(t, stock, p, dir, write.Options{Workers: 1})
	if u, ok := errors.AsType[*write.Unfinished](err); !ok || !errors.Is(err, broken) || stock.Held != 0 {
		t.Fatalf("%v (%+v), %d shards held", err, u, stock.Held)
	}
	if _, err := dataset.ReadManifest(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("a manifest of an unfinished dataset")
	}
	finished := 0
	for name := range shardtest.Files(t, dir) {
		if strings.HasSuffix(name, ".ffr") {
			finished++
		}
	}
	again := &shardtest.Stocked{Source: src}
	report, err := shardtest.WriteStock(t, again, p, dir, write.Options{})
	if err != nil || report.Kept != finished || !maps.Equal(shardtest.Files(t, dir), shardtest.Files(t, reference)) {
		t.Fatalf("%+v, %v, or other bytes; %d were finished", report, err, finished)
	}
	if n := slices.Index(again.Taken, 1); n != 2*finished {
		t.Errorf("parts were taken %v times, with %d shards finished", again.Taken, finished)
	}
	if metaOf(t, dir) != metaOf(t, reference) {
		t.Error("another meta.json")
	}

	other := &shardtest.Stocked{Source: src}
	marks := &marked{other}
	if _, err := shardtest.WriteStock(t, marks, p, dir, write.Options{}); !errors.Is(err, converters.ErrChanged) {
		t.Errorf("a part with another mark: %v", err)
	}
	if _, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 3}}), dir, write.Options{}); !errors.Is(err, dataset.ErrOccupied) || !strings.Contains(err.Error(), "option exact") && !strings.Contains(err.Error(), "option whole-parts") {
		t.Errorf("a plan cut at samples: %v", err)
	}
}

// marked parts have changed.
type marked struct{ *shardtest.Stocked }

func (m *marked) Parts() []converters.Part {
	parts := m.Stocked.Parts()
	parts[3].Copy = &converters.Copy{Mark: files.PinOf("etag", "other")}
	return parts
}

// A repair takes the parts of the damaged shard alone.
func TestWholePartsRepair(t *testing.T) {
	t.Parallel()
	src := memsource.New(62, 6, 20, 500)
	plan := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	dir := t.TempDir()
	if _, err := shardtest.WriteStock(t, &shardtest.Stocked{Source: src}, plan, dir, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Everything(t, dir)
	for _, row := range []struct {
		name    string
		harm    func()
		damaged []string
		taken   []int
	}{
		{"a shard", func() { shardtest.Flip(t, dir, "PART_00001.ffr", 4000) }, []string{"PART_00001.ffr"}, []int{0, 0, 1, 1, 0, 0}},
		{"an index", func() { shardtest.Truncate(t, dir, "index/PART_00000.arrow", -1) }, []string{"PART_00000.ffr"}, []int{1, 1, 0, 0, 0, 0}},
		{"the journal", func() { shardtest.Remove(t, dir, dataset.JournalName) }, nil, []int{1, 1, 1, 1, 1, 1}},
	} {
		row.harm()
		out, err := dataset.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		kept, err := out.Kept()
		if err != nil {
			t.Fatal(err)
		}
		kept.Damaged = row.damaged
		stock := &shardtest.Stocked{Source: src}
		_, err = write.Repair(t.Context(), stock, kept, out, write.Options{})
		if err := errors.Join(err, out.Close()); err != nil || !slices.Equal(stock.Taken, row.taken) {
			t.Fatalf("%s: %v; parts were taken %v times", row.name, err, stock.Taken)
		}
		got := shardtest.Everything(t, dir)
		delete(got, dataset.JournalName)
		for name := range got {
			if got[name] != want[name] && !strings.HasSuffix(name, "lock") {
				t.Errorf("%s: %s differs", row.name, name)
			}
		}
	}
}

// A shard that would have no samples is refused: an empty dataset that opens without
// complaint is a fault.
func TestWholePartsWithoutSamples(t *testing.T) {
	t.Parallel()
	src := memsource.New(63, 3, 5, 500)
	p := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	src.Data[1] = nil
	dir := t.TempDir()
	_, err := shardtest.WriteStock(t, &shardtest.Stocked{Source: src}, p, dir, write.Options{})
	if !errors.Is(err, plan.ErrEmpty) || !strings.Contains(err.Error(), "part-1") || strings.Contains(err.Error(), " to ") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "PART_00001.ffr")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has its name: %v", err)
	}
}

// The plan that was begun is known by its parts and options alone.
func TestBegun(t *testing.T) {
	t.Parallel()
	src := memsource.New(64, 4, 20, 500)
	opts := plan.Options{Sizes: plan.Sizes{Shards: 2}}
	pl := shardtest.NewWholePlan(t, src, opts)
	dir := t.TempDir()
	out, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := shardtest.BeginIn(out, pl, (&shardtest.Stocked{Source: src}).Parts(), false); err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Source = pl.Encode, pl.Source
	for _, row := range []struct {
		name   string
		change func(*plan.Options, []converters.Part)
		found  bool
	}{
		{"the same", func(*plan.Options, []converters.Part) {}, true},
		{"an encoding that is not known yet", func(o *plan.Options, _ []converters.Part) { o.Encode.Encoding = "" }, true},
		{"other sizes of shards", func(o *plan.Options, _ []converters.Part) { o.Sizes.Shards = 3 }, false},
		{"another size of a part", func(_ *plan.Options, p []converters.Part) { p[2].Size++ }, false},
		{"another name of a part", func(_ *plan.Options, p []converters.Part) { p[2].Name = "x" }, false},
		{"another option", func(o *plan.Options, _ []converters.Part) { o.Encode.Decode = true }, false},
	} {
		parts, opts := slices.Clone(src.Parts()), opts
		row.change(&opts, parts)
		got, err := out.Resumable(parts, opts)
		if err != nil || (got != nil) != row.found {
			t.Errorf("%s: %v, %v", row.name, got != nil, err)
		}
	}
}

// A told progress adds up what it is told.
type told struct {
	mu            sync.Mutex
	phases        []string
	total         int64
	samples, done int64
	shards, kept  int
	beside, moved int64
}

func (p *told) Planned(shards, kept int, beside int64) {
	p.shards, p.kept, p.beside = shards, kept, beside
}

func (*told) Begun(string)                                  {}
func (*told) Finished(dataset.ManifestShard, float64, bool) {}

func (p *told) Moved(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved += bytes
}

func (p *told) Start(phase string, bytes int64) {
	p.phases, p.total = append(p.phases, phase), bytes
}

func (p *told) Add(samples, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.samples, p.done = p.samples+samples, p.done+bytes
}

// Part-aligned shards are written and verified at the sizes that parts have where they are
// stored: compressed, a hundredth of what they hold, or more.
func TestWholeProgress(t *testing.T) {
	t.Parallel()
	src := memsource.New(61, 6, 40, 30_000)
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name     string
		size     int64 // of a part where it is stored
		noVerify bool
		again    int64 // passes that move data and write none: fetching, re-reading
	}{
		{"compressed", 3000, false, 2},
		{"padded", 50 << 20, false, 2},
		{"not verified", 3000, true, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parts := slices.Clone(src.Parts())
			for i := range parts {
				parts[i].Size = row.size
			}
			plan, err := plan.NewAligned(parts, nil, plan.Options{Recipe: plan.Recipe{Encode: spec.Options(), Source: plan.SourceSpec{Format: "memory"}}, Sizes: plan.Sizes{Shards: 3}})
			if err != nil {
				t.Fatal(err)
			}
			progress := &told{}
			if _, err := shardtest.WriteStock(t, &shardtest.Stocked{Source: src}, plan, t.TempDir(), write.Options{Progress: progress, NoVerify: row.noVerify}); err != nil {
				t.Fatal(err)
			}
			stored := int64(len(parts)) * row.size
			if len(progress.phases) != 1 || progress.samples != 240 || progress.total != stored || progress.beside != row.again*stored || progress.shards != 3 || progress.kept != 0 {
				t.Errorf("%d samples of %d bytes in %q, %d beside, %d shards", progress.samples, progress.total, progress.phases, progress.beside, progress.shards)
			}
			near := func(what string, got, want int64) {
				if got > want || got < want-want/50 { // a header is not told of
					t.Errorf("%s: told of %d bytes, want %d", what, got, want)
				}
			}
			near("written", progress.done, stored)
			near("re-read", progress.moved, (row.again-1)*stored) // fetching is the stock's to tell of
		})
	}
}
