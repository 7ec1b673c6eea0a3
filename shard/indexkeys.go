package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// IndexKeys returns the first n keys of a shard from the index that stands beside it;
// none where there is no index, or the dataset has no keys.
func IndexKeys(shardPath string, n int) ([]string, error) {
	name := filepath.Join(filepath.Dir(shardPath), filepath.FromSlash(indexName(filepath.Base(shardPath))))
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.ReplaceAll(err.Error(), "\n", " "))
	}
	defer r.Close()
	if !r.Schema().HasField(keyColumn.Name) {
		return nil, nil
	}
	var keys []string
	for i := 0; i < r.NumRecords() && len(keys) < n; i++ {
		rec, err := r.Record(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		column, ok := rec.Column(0).(*array.String)
		if !ok {
			return nil, fmt.Errorf("%s: its first column holds no keys", name)
		}
		for row := 0; row < column.Len() && len(keys) < n; row++ {
			keys = append(keys, strings.Clone(column.Value(row)))
		}
	}
	return keys, nil
}
