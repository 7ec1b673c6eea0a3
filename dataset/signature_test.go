package dataset_test

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A manifest without sums whose meta.json was exchanged, CRC and all, is not signed: the plan contradicts it.
func TestForgedMetaIsNotSigned(t *testing.T) {
	t.Parallel()
	src := memsource.New(9, 1, 30, 3000)
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}}), dir, write.Options{NoVerify: true}); err != nil {
		t.Fatal(err)
	}
	path, metaPath := filepath.Join(dir, dataset.ManifestName), filepath.Join(dir, dataset.MetaName)
	sound, meta := string(must(os.ReadFile(path))), must(os.ReadFile(metaPath))
	for _, row := range []struct {
		change string
		want   error
	}{{" ", verify.ErrCorrupt}, {"", nil}} {
		forged := string(meta) + row.change
		crc := regexp.MustCompile(fmt.Sprintf(`"bytes": %d,\n    "crc32": \d+`, len(meta)))
		text := crc.ReplaceAllString(shardtest.WithoutSum(sound), fmt.Sprintf("\"bytes\": %d,\n    \"crc32\": %d", len(forged), crc32.ChecksumIEEE([]byte(forged))))
		if err := errors.Join(os.WriteFile(path, shardtest.WithSum(text), 0o644), os.WriteFile(metaPath, []byte(forged), 0o644)); err != nil {
			t.Fatal(err)
		}
		out, err := dataset.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		out.Sign = func([]byte) ([]byte, error) { return []byte("signed"), nil }
		_, summed, err := out.SignManifest(t.Context(), aio.Options{}, nil)
		if !errors.Is(err, row.want) || err != nil && !strings.Contains(err.Error(), `its "meta" is not what the plan and the journal say`) {
			t.Errorf("with %q: %v", row.change, err)
		}
		if summed != (row.want == nil) || shardtest.Has(t, out, dataset.SignatureName) != summed {
			t.Errorf("with %q: summed %v", row.change, summed)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
