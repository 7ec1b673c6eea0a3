package write_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func textSource(samples int) *memsource.Source {
	var part []converters.Sample
	for i := range samples {
		part = append(part, converters.Sample{
			Key: fmt.Sprintf("key-%03d", i), Off: int64(i),
			Fields: []converters.Field{{Name: "txt", Value: converters.Bytes([]byte(fmt.Sprint("text ", i)))}},
		})
	}
	return &memsource.Source{Data: [][]converters.Sample{part}}
}

func TestConvert(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "out")
	opts := shardtest.ConvertOptions{Sizes: plan.Sizes{Shards: 3}}
	report, err := shardtest.Convert(ctx, textSource(10), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if report.Samples != 10 || report.Shards != 3 || report.Kept != 0 || !report.Verified || report.Manifest == nil {
		t.Fatalf("report %+v", report)
	}
	if report.Manifest.Encode.Encoding != "msgpack" {
		t.Errorf("encoding %q, want msgpack", report.Manifest.Encode.Encoding)
	}

	again, err := shardtest.Convert(ctx, textSource(10), dir, opts)
	if err != nil || again.Kept != 3 {
		t.Errorf("the same call again: %+v, %v; want 3 shards kept", again, err)
	}
	if _, err := shardtest.Convert(ctx, textSource(11), dir, opts); !errors.Is(err, converters.ErrChanged) {
		t.Errorf("the source has one sample more: %v, want ErrChanged", err)
	}
	opts.Shuffle = &plan.Shuffle{Seed: 1}
	if _, err := shardtest.Convert(ctx, textSource(10), dir, opts); !errors.Is(err, dataset.ErrOccupied) {
		t.Errorf("another order: %v, want ErrOccupied", err)
	}
}

func TestConvertRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shardtest.Convert(context.Background(), textSource(0), dir, shardtest.ConvertOptions{}); !errors.Is(err, plan.ErrEmpty) {
		t.Errorf("no samples: %v, want ErrEmpty", err)
	}
	damaged := textSource(4)
	damaged.IndexErr = func(int) error { return converters.ErrLimit }
	if _, err := shardtest.Convert(context.Background(), damaged, dir, shardtest.ConvertOptions{}); !errors.Is(err, converters.ErrLimit) {
		t.Errorf("an index that fails: %v, want its error", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused source leaves %s behind: %v", dir, err)
	}
}
