package bucket

import (
	"errors"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// Has implements [dataset.Bucket]. An object with the version that it had after its upload is the one whose checksum was
// compared then. Of another version the checksum is asked for. Where neither is known, as in a dataset that another
// program has copied there, the header of the shard and all bytes of the index are read.
func (b *bucket) Has(f dataset.Finished) (bool, error) {
	index := dataset.IndexName(f.Name)
	shard, ok1 := b.there.Object(f.Name)
	beside, ok2 := b.there.Object(index)
	if !ok1 || !ok2 || shard.Size != f.Bytes || beside.Size != f.Index.Bytes {
		return false, nil
	}
	if f.Stored != nil {
		same, err := b.isStored(f.Name, shard, f.Stored.Shard)
		if err == nil && same {
			same, err = b.isStored(index, beside, f.Stored.Index)
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
		got, bad := record.ReadInfo(b.read(shard), store.Redact(shard.URL), shard.Size, record.Options{MaxSample: math.MaxInt64})
		same, err = bad == nil && got.Samples == f.Samples && got.HeaderCRC == f.HeaderCRC, gone(bad)
	}
	if err != nil || !same {
		return false, err
	}
	check, end := f.Index.Checker()
	return b.holds(beside, check, end)
}

// holds reads all bytes of an object and reports whether they are what check and end, a Checker, expect.
func (b *bucket) holds(o store.Object, check io.Writer, end func() error) (bool, error) {
	if err := store.CopyBlocks(b.ctx, check, b.read(o), o.Size, nil); err != nil {
		return false, gone(err)
	}
	return end() == nil, nil
}

// isStored reports whether an object of the list is the one that was uploaded.
func (b *bucket) isStored(name string, o store.Object, want dataset.StoredObject) (bool, error) {
	if want.Version != "" && o.Version == want.Version {
		return true, nil
	}
	if want.Sum == "" {
		return false, nil
	}
	now, err := b.there.Stat(b.ctx, b.url+name)
	if err != nil {
		return false, gone(err)
	}
	return now.Size == o.Size && storedOf(now).Sum == want.Sum, nil
}

func (r *mirror) read(o store.Object) io.ReaderAt { return store.ReadAt(r.ctx, r.there, o) }

// gone returns nil for the error of an object that is damaged or gone: it is not the one that was finished.
func gone(err error) error {
	if errors.Is(err, record.ErrCorrupt) || errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}
