package shardtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/dataset"
)

// A Rule gives the places of samples in an index without columns for them, as JSON in its schema.
type Rule struct {
	Version int        `json:"index"`
	Samples int64      `json:"samples"`
	Offset  int64      `json:"offset"`
	Length  int64      `json:"length"`
	Runs    [][4]int64 `json:"runs"`
}

// An Index is what the index of a shard says.
type Index struct {
	Rule    *Rule // nil: there is none
	Columns []string
	Rows    int
	Keys    []string
	Labels  []int64
}

// ReadIndex reads the index of a shard.
func ReadIndex(t testing.TB, dir, name string) *Index {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(dataset.IndexName(name))))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x := &Index{}
	if text, ok := r.Schema().Metadata().GetValue("ffconvert"); ok {
		if err := json.Unmarshal([]byte(text), &x.Rule); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range r.Schema().Fields() {
		x.Columns = append(x.Columns, c.Name)
	}
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		x.Rows += int(rec.NumRows())
		for _, i := range rec.Schema().FieldIndices("key") {
			column := rec.Column(i).(*array.String)
			for row := range column.Len() {
				x.Keys = append(x.Keys, strings.Clone(column.Value(row)))
			}
		}
		for _, i := range rec.Schema().FieldIndices("label") {
			x.Labels = append(x.Labels, rec.Column(i).(*array.Int64).Int64Values()...)
		}
	}
	return x
}
