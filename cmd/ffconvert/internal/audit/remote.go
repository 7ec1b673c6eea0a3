package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/hint"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// viewOf opens a dataset in an object store. Its shards are fetched when they are verified.
func (w *work) viewOf(ctx context.Context, url string, how bucket.Options) (d verifyDir, err error) {
	if strings.HasSuffix(url, record.Ext) {
		return d, fmt.Errorf("%s: a shard in an object store is verified with its dataset; name what it lies in, %s", url, url[:strings.LastIndexByte(url, '/')+1])
	}
	out, err := bucket.View(ctx, url, how)
	if err != nil {
		return d, hint.Add(err, "verify", url)
	}
	d = verifyDir{path: url, data: out}
	if d.manifest, err = w.want.readManifest(url, out); err == nil {
		d.names, err = out.Shards()
	}
	if err == nil && d.manifest == nil {
		begun, lookErr := out.Begun()
		switch {
		case lookErr != nil:
			err = lookErr
		case begun:
			copied, lookErr := out.Lookup(dataset.CopyName)
			err = cmp.Or(lookErr, unfinished(url, copied != nil))
		case len(d.names) == 0:
			err = fmt.Errorf("%s: %w", url, hint.ErrNoShards)
		}
	}
	if err == nil && d.manifest == nil && w.want.some() {
		err = fmt.Errorf("%s: %w", url, errNoManifest)
	}
	if err != nil {
		return d, errors.Join(err, out.Close())
	}
	return d, nil
}

func unfinished(dir string, copied bool) error {
	if copied {
		return fmt.Errorf("%s: %w: the copy was not finished, there is no %s; run ffconvert copy again", dir, verify.ErrCorrupt, dataset.ManifestName)
	}
	return fmt.Errorf("%s: %w: %v", dir, verify.ErrCorrupt, dataset.ErrUnfinished)
}

// Close closes the datasets. It removes the scratch of those in object stores.
func (w *work) Close() error {
	var errs []error
	for _, d := range w.dirs {
		errs = append(errs, d.data.Close())
	}
	return errors.Join(errs...)
}

// bytesByManifest is the size of the shards that are read, nil: of all, as the manifest has it; 0 without one.
func (d *verifyDir) bytesByManifest(read map[string]bool) int64 {
	total := int64(0)
	if d.manifest != nil {
		for _, s := range d.manifest.Shards {
			if read == nil || read[s.Name] {
				total += s.Bytes
			}
		}
	}
	return total
}
