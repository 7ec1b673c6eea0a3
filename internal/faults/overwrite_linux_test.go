package faults

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// TestFaultI2Overwrite lets two runs at once replace a dataset in a bucket by two others, or begin there. One that ends with
// status 0 leaves a dataset that verify calls sound.
func TestFaultI2Overwrite(t *testing.T) {
	slow(t)
	t.Parallel()
	stores := []*store{startS3(t, versitygw.Kind()), startS3(t, testserver.MinIO()), startGoogle(t)}
	n := cases(200, 4)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		s := stores[i%len(stores)]
		prefix := fmt.Sprintf("overwrite/%d/", i)
		out := s.scheme + "://" + bucketName + "/" + prefix
		tar := func(shards, k int, flags ...string) []string {
			args := append([]string{"tar", "--progress", "none", "--scratch-dir", filepath.Join(dir, fmt.Sprint(k)), "--shards", fmt.Sprint(shards)}, flags...)
			return append(append(args, sources...), out)
		}
		var flags []string
		if i%4 != 3 {
			flags = []string{"--overwrite"}
			if err := s.must(tar(8, 2)); err != nil {
				return err
			}
		}
		var results [2]result
		var errs [2]error
		var wg sync.WaitGroup
		for k := range 2 {
			wg.Go(func() { results[k], errs[k] = upload{store: s}.run(s.address, nil, tar(4+k, k, flags...)) })
		}
		wg.Wait()
		if err := errors.Join(errs[0], errs[1]); err != nil {
			return err
		}
		if results[0].code == 0 || results[1].code == 0 {
			if err := s.must([]string{"verify", "--progress", "none", out}); err != nil {
				return fmt.Errorf("%s, ended %d and %d: %w: %w", s.scheme, results[0].code, results[1].code, errBad, err)
			}
		}
		return s.clear(prefix)
	})
	t.Logf("I2 [overwrite] %v", sum)
}
