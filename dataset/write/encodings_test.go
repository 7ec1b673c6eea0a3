package write_test

import (
	"bytes"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// The records of a part are encoded as its own options say, in order and shuffled, by the
// plan and by its file, and the account tells the fields that each part has left out.
func TestEncodings(t *testing.T) {
	t.Parallel()
	src := memsource.New(61, 3, 50, 300)
	each := []encode.Options{{Encoding: "msgpack"}, {Fields: "bin"}, {Rename: []string{"x=bin"}, Fields: "x"}}
	of := []int{1, 0, 2}
	for name, shuffle := range map[string]*plan.Shuffle{"in order": nil, "shuffled": {Seed: 7}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := shardtest.PlanEach(t, src, of, plan.Options{Sizes: plan.Sizes{Shards: 3}, Recipe: plan.Recipe{Shuffle: shuffle}}, each...)
			if got := p.Account(); got.FieldsLeftOut != 80 { // cls, of four fifths of two parts
				t.Errorf("%d fields are left out", got.FieldsLeftOut)
			}
			var file bytes.Buffer
			digest, err := p.Write(&file)
			if err != nil {
				t.Fatal(err)
			}
			read, err := plan.Read(bytes.NewReader(file.Bytes()), int64(file.Len()))
			if err != nil {
				t.Fatal(err)
			}
			if again, err := read.Digest(); err != nil || again != digest || !reflect.DeepEqual(read.Encodes, p.Encodes) {
				t.Errorf("it is read as %+v, error %v", read.Encodes, err)
			}
			var want map[string]string
			for workers, plan := range map[int]*plan.Plan{1: p, 16: read} {
				dir := t.TempDir()
				report, err := shardtest.Write(t, src, plan, dir, write.Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				if m := report.Manifest; m.Totals.FieldsLeftOut != 80 || !reflect.DeepEqual(m.Encodes, plan.Encodes) || m.Sources[2].Encode != 2 {
					t.Errorf("manifest: %+v", m)
				}
				if got := shardtest.Files(t, dir); want == nil {
					want = got
				} else if !maps.Equal(got, want) {
					t.Error("other bytes")
				}
				wantRecords(t, dir, plan, src, of, each)
			}
		})
	}
}

// wantRecords wants each record to be that of its sample by the options of its part.
func wantRecords(t *testing.T, dir string, plan *plan.Plan, src *memsource.Source, of []int, each []encode.Options) {
	t.Helper()
	for _, s := range plan.Shards {
		r, err := record.Open(filepath.Join(dir, s.Name), record.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		at := 0
		for _, run := range s.Runs {
			for i := run.First; i < run.First+run.Count; i++ {
				spec, err := encode.Parse(each[of[run.Part]])
				if err != nil {
					t.Fatal(err)
				}
				rec, err := spec.NewEncoder().Encode(&src.Data[run.Part][i])
				if err != nil {
					t.Fatal(err)
				}
				got, err := r.Read(at, nil)
				if want := slices.Concat(rec.Parts...); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%s: record %d is %q, want %q (%v)", s.Name, at, got, want, err)
				}
				at++
			}
		}
	}
}

// A dataset that was begun with other fields for one of its parts is not gone on with.
func TestEncodingsClash(t *testing.T) {
	t.Parallel()
	src := memsource.New(63, 2, 20, 50)
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, shardtest.PlanEach(t, src, []int{0, 1}, plan.Options{}, encode.Options{}, encode.Options{Fields: "bin"}), dir, write.Options{}); err != nil {
		t.Fatal(err)
	}
	before := shardtest.Files(t, dir)
	_, err := shardtest.Write(t, src, shardtest.PlanEach(t, src, []int{0, 1}, plan.Options{}, encode.Options{}, encode.Options{Rename: []string{"x=bin"}}), dir, write.Options{})
	if !errors.Is(err, dataset.ErrOccupied) || !strings.Contains(err.Error(), "option fields") {
		t.Errorf("error %v", err)
	}
	if !maps.Equal(before, shardtest.Files(t, dir)) {
		t.Error("files have changed")
	}
}
