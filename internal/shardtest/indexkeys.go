package shardtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/dataset"
)

// IndexKeys returns the keys in the index of a shard.
func IndexKeys(t testing.TB, dir, shard string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(dataset.IndexName(shard))))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var keys []string
	for i := range r.NumRecords() {
		rec, err := r.Record(i)
		if err != nil {
			t.Fatal(err)
		}
		column := rec.Column(rec.Schema().FieldIndices("key")[0]).(*array.String)
		for row := range column.Len() {
			keys = append(keys, strings.Clone(column.Value(row)))
		}
	}
	return keys
}
