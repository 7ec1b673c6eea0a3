package write_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

var rawRow = encode.Options{Encoding: "raw:row"}

// newRows makes parts with these numbers of samples, each of eight bytes without a key.
func newRows(parts ...int) *memsource.Source {
	src := &memsource.Source{}
	for p, n := range parts {
		part := make([]converters.Sample, 0, n)
		for i := range n {
			part = append(part, converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Bytes(fmt.Appendf(nil, "%02d%06d", p, i))}}})
		}
		src.Data = append(src.Data, part)
	}
	return src
}

// The rule of an index says of every sample where it lies, and which of which source it is; the index has
// neither columns nor, with any number of workers, other bytes.
func TestIndexRule(t *testing.T) {
	t.Parallel()
	src := newRows(40_000, 0, 7, 33_000)
	p := shardtest.NewPlan(t, src, rawRow, plan.Options{Sizes: plan.Sizes{Shards: 3}})
	var first map[string]string
	for _, workers := range []int{1, 16} {
		dir := t.TempDir()
		if _, err := shardtest.Write(t, src, p, dir, write.Options{Workers: workers}); err != nil {
			t.Fatal(err)
		}
		files := shardtest.Files(t, dir)
		if first == nil {
			first = files
		} else if !maps.Equal(first, files) {
			t.Error("16 workers wrote other bytes than 1")
		}
		samples := 0
		for i := range p.Shards {
			name := p.Shards[i].Name
			x := shardtest.ReadIndex(t, dir, name)
			if x.Rule == nil || len(x.Columns) > 0 || x.Rows != int(p.Shards[i].Samples) || x.Rule.Version != 2 {
				t.Fatalf("index of %s: %+v", name, x)
			}
			samples += checkRule(t, src, filepath.Join(dir, name), x.Rule)
		}
		if samples != 73_007 {
			t.Errorf("%d samples", samples)
		}
	}
}

// checkRule compares each sample of a shard with the one of the source that the rule names.
func checkRule(t *testing.T, src *memsource.Source, path string, rule *shardtest.Rule) int {
	t.Helper()
	r, err := record.Open(path, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if int64(r.Len()) != rule.Samples || rule.Runs[0][0] != 0 {
		t.Fatalf("%s has %d samples, rule %+v", path, r.Len(), rule)
	}
	for i := range r.Len() {
		run := rule.Runs[0]
		if len(rule.Runs) > 1 && rule.Runs[1][0] == int64(i) {
			rule.Runs = rule.Runs[1:]
			run = rule.Runs[0]
		}
		_, e, err := r.Extent(i)
		if err != nil || e.Off != rule.Offset+int64(i)*rule.Length || e.Size != rule.Length {
			t.Fatalf("sample %d is at %+v, error %v", i, e, err)
		}
		got, err := r.Read(i, nil)
		n := int64(i) - run[0]
		if want := src.Data[run[1]][run[2]+n].Fields[0].Value.Data(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("sample %d is %q, the rule names %q; error %v", i, got, want, err)
		}
		if n == 0 && run[3] != run[2] { // an offset in this source is an ordinal
			t.Fatalf("run %v", run)
		}
	}
	return r.Len()
}

// An index has a row for every sample, with its place, unless all are alike in the whole dataset.
func TestIndexWithoutRule(t *testing.T) {
	t.Parallel()
	places := []string{"ordinal", "offset", "length", "crc32", "source", "source_offset"}
	for name, row := range map[string]struct {
		change  func(*memsource.Source)
		opts    plan.Options
		columns []string
	}{
		"keys":       {change: func(s *memsource.Source) { s.Data[1][2].Key = "k" }, columns: append([]string{"key"}, places...)},
		"length":     {change: func(s *memsource.Source) { s.Data[1][2].Fields[0].Value = converters.Bytes([]byte("other")) }, columns: places},
		"left out":   {change: func(s *memsource.Source) { s.Data[1][2].Fields[0].Name = "other" }, columns: places},
		"shuffled":   {opts: plan.Options{Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 1}}}, columns: places},
		"all alike":  {},
		"one sample": {change: func(s *memsource.Source) { s.Data = [][]converters.Sample{s.Data[0][:1]} }, opts: plan.Options{Sizes: plan.Sizes{Shards: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := newRows(50, 30)
			if row.change != nil {
				row.change(src)
			}
			if row.opts.Sizes.Shards == 0 {
				row.opts.Sizes.Shards = 2
			}
			enc := rawRow
			enc.Missing = encode.MissingSkip
			p := shardtest.NewPlan(t, src, enc, row.opts)
			dir := t.TempDir()
			if _, err := shardtest.Write(t, src, p, dir, write.Options{}); err != nil {
				t.Fatal(err)
			}
			for i := range p.Shards {
				x := shardtest.ReadIndex(t, dir, p.Shards[i].Name)
				if !reflect.DeepEqual(x.Columns, row.columns) || (x.Rule == nil) != (row.columns != nil) || x.Rows != int(p.Shards[i].Samples) {
					t.Errorf("%s: %+v", p.Shards[i].Name, x)
				}
			}
		})
	}
}

// Labels stay a column, with a row for every sample.
func TestIndexRuleLabels(t *testing.T) {
	t.Parallel()
	src := newRows(9000, 3000)
	want := make([]int64, 0, 12_000)
	for p := range src.Data {
		for i := range src.Data[p] {
			s := &src.Data[p][i]
			s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%10))})
			want = append(want, int64(i%10))
		}
	}
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, rawRow, plan.Options{Sizes: plan.Sizes{Shards: 1}}), dir, write.Options{}); err != nil {
		t.Fatal(err)
	}
	x := shardtest.ReadIndex(t, dir, "PART_00000.ffr")
	if x.Rule == nil || !reflect.DeepEqual(x.Columns, []string{"label"}) || !reflect.DeepEqual(x.Labels, want) {
		t.Errorf("%+v, %d rows", x.Rule, x.Rows)
	}
}

// In a part-aligned plan each shard has the index that its own records allow, if the first part has equal
// records.
func TestIndexRuleAligned(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		odd   int // part with a sample of another length
		alike []bool
	}{
		"later part": {2, []bool{true, true, false}},
		"first part": {0, []bool{false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := newRows(50, 50, 50)
			src.Data[row.odd][7].Fields[0].Value = converters.Bytes([]byte("other"))
			dir := t.TempDir()
			p := shardtest.NewWholePlan(t, src, plan.Options{Sizes: plan.Sizes{Shards: 3}})
			if _, err := shardtest.Write(t, src, p, dir, write.Options{}); err != nil {
				t.Fatal(err)
			}
			for i, want := range row.alike {
				if x := shardtest.ReadIndex(t, dir, p.Shards[i].Name); (x.Rule != nil) != want || x.Rows != 50 {
					t.Errorf("shard %d: %+v", i, x)
				}
			}
		})
	}
}

// A dataset that was begun with a row for every sample in its indexes goes on, and is repaired, with
// them: indexes have the bytes that they would have had. Overwriting it makes new ones.
func TestIndexFormIsKept(t *testing.T) {
	t.Parallel()
	src := newRows(300, 200)
	newPlan := func(alike bool) *plan.Plan {
		p := shardtest.NewPlan(t, src, rawRow, plan.Options{Sizes: plan.Sizes{Shards: 3}})
		p.Columns.Alike = alike
		return p
	}
	reference := t.TempDir()
	if _, err := shardtest.Write(t, src, newPlan(false), reference, write.Options{}); err != nil {
		t.Fatal(err)
	}
	want := shardtest.Files(t, reference)
	for name, harm := range map[string]func(t *testing.T, dir string){
		"complete":      func(*testing.T, string) {},
		"a shard gone":  func(t *testing.T, dir string) { shardtest.Remove(t, dir, "PART_00001.ffr") },
		"an index gone": func(t *testing.T, dir string) { shardtest.Remove(t, dir, "index/PART_00002.arrow") },
		"the plan gone": func(t *testing.T, dir string) { shardtest.Remove(t, dir, dataset.PlanName) },
		"unfinished": func(t *testing.T, dir string) {
			shardtest.Remove(t, dir, dataset.ManifestName)
			shardtest.Remove(t, dir, "PART_00000.ffr")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
				t.Fatal(err)
			}
			harm(t, dir)
			if _, err := shardtest.Write(t, src, newPlan(true), dir, write.Options{}); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(shardtest.Files(t, dir), want) {
				t.Error("files differ")
			}
			if _, err := shardtest.Write(t, src, newPlan(true), dir, write.Options{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
			if x := shardtest.ReadIndex(t, dir, "PART_00001.ffr"); x.Rule == nil {
				t.Error("overwritten, its index has no rule")
			}
		})
	}
}

// A row that has got longer, and another one shorter by as much, is a changed source: the rule of the index
// would be wrong.
func TestIndexRuleChanged(t *testing.T) {
	t.Parallel()
	src := newRows(100)
	p := shardtest.NewPlan(t, src, rawRow, plan.Options{Sizes: plan.Sizes{Shards: 1}})
	src.Data[0][40].Fields[0].Value = converters.Bytes([]byte("shorter"))
	src.Data[0][50].Fields[0].Value = converters.Bytes([]byte("longer by"))
	dir := t.TempDir()
	_, err := shardtest.Write(t, src, p, dir, write.Options{})
	if at, ok := errors.AsType[*converters.Error](err); !errors.Is(err, converters.ErrChanged) || !ok || at.Off != 40 {
		t.Errorf("error %v", err)
	}
	if files := shardtest.Files(t, dir); len(files) > 0 {
		t.Errorf("%d files are left", len(files))
	}
}
