package bucket

import (
	"errors"
	"io"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// Has implements [dataset.Bucket]. If an object still has the version of its upload, its checksum was compared then. If
// the version differs, Has compares the checksum that the service returns. If f.Stored is nil, as in a dataset that
// another program has copied there, Has reads the header of the shard and all bytes of the index.
func (b *bucket) Has(f dataset.Finished) (bool, error) {
	index := dataset.IndexName(f.Name)
	shard, ok1 := b.objects.Object(f.Name)
	rows, ok2 := b.objects.Object(index)
	if !ok1 || !ok2 || shard.Size != f.Bytes || rows.Size != f.Index.Bytes {
		return false, nil
	}
	if f.Stored != nil {
		same, err := b.isStored(f.Name, shard, f.Stored.Shard)
		if err == nil && same {
			same, err = b.isStored(index, rows, f.Stored.Index)
		}
		if err != nil || !same || !b.opts.ReadBack {
			return same, err
		}
	}
	var same bool
	var err error
	if b.opts.ReadBack {
		check, end := f.Checker()
		same, err = b.holds(shard, check, end)
	} else {
		got, bad := record.CheckHeader(b.read(shard), store.Redact(shard.URL), shard.Size, record.Options{})
		same, err = bad == nil && got.Samples == f.Samples && got.HeaderCRC == f.HeaderCRC, otherError(bad)
	}
	if err != nil || !same {
		return false, err
	}
	check, end := f.Index.Checker()
	return b.holds(rows, check, end)
}

// holds writes all bytes of an object to check, and reports whether end returns nil. check and end are from a Checker
// of package dataset.
func (b *bucket) holds(o store.Object, check io.Writer, end func() error) (bool, error) {
	if err := store.CopyBlocks(b.ctx, check, b.read(o), o.Size, nil); err != nil {
		return false, otherError(err)
	}
	return end() == nil, nil
}

// isStored reports whether an object of the listing is the uploaded one, by its version or else by its checksum.
func (b *bucket) isStored(name string, o store.Object, want dataset.StoredObject) (bool, error) {
	if want.Version != "" && o.Version == want.Version {
		return true, nil
	}
	if want.Sum == "" {
		return false, nil
	}
	now, err := b.objects.Stat(b.ctx, b.url+name)
	if err != nil {
		return false, otherError(err)
	}
	return now.Size == o.Size && storedOf(now).Sum == want.Sum, nil
}

func (r *mirror) read(o store.Object) io.ReaderAt { return store.ReadAt(r.ctx, r.objects, o) }

// otherError returns nil for the errors of an object that is damaged, missing or changed, which Has reports as false.
func otherError(err error) error {
	if errors.Is(err, record.ErrCorrupt) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}
