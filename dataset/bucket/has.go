package bucket

import (
	"errors"
	"hash/crc32"
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
	read := b.isRead
	if f.Stored != nil {
		same, err := b.isStored(f.Name, shard, f.Stored.Shard)
		if err == nil && same {
			same, err = b.isStored(index, beside, f.Stored.Index)
		}
		if err != nil || !same || !b.opts.ReadBack {
			return same, err
		}
	} else if !b.opts.ReadBack {
		read = b.isHeaded
	}
	if same, err := read(f, shard); err != nil || !same {
		return false, err
	}
	return b.isIndexOf(f, beside)
}

// isHeaded reads the header of a shard and compares it with that of the shard that was finished.
func (b *bucket) isHeaded(f dataset.Finished, o store.Object) (bool, error) {
	got, err := record.ReadInfo(b.read(o), store.Redact(o.URL), o.Size, record.Options{MaxSample: math.MaxInt64})
	return err == nil && got.Samples == f.Samples && got.HeaderCRC == f.HeaderCRC, damaged(err)
}

// isIndexOf reads an index and compares its checksum.
func (b *bucket) isIndexOf(f dataset.Finished, o store.Object) (bool, error) {
	sum := crc32.NewIEEE()
	_, err := io.CopyBuffer(sum, io.NewSectionReader(b.read(o), 0, o.Size), make([]byte, 1<<20))
	return err == nil && sum.Sum32() == f.Index.CRC, gone(err)
}

// isRead reads all bytes of a shard and compares them with their checksums, and these with the shard that was finished.
func (b *bucket) isRead(f dataset.Finished, o store.Object) (bool, error) {
	sound := true
	scan := record.NewScanner("", o.Size, record.Options{MaxSample: math.MaxInt64})
	scan.Problem = func(*record.FormatError) { sound = false }
	buf := make([]byte, min(8<<20, o.Size))
	for off := int64(0); off < o.Size && sound; off += int64(len(buf)) {
		p := buf[:min(int64(len(buf)), o.Size-off)]
		if err := b.there.Read(b.ctx, o, p, off); err != nil {
			return false, gone(err)
		}
		if _, err := scan.Write(p); err != nil {
			return false, nil
		}
	}
	got, err := scan.Close()
	return sound && err == nil && got == record.FileInfo{Samples: f.Samples, Size: f.Bytes, HeaderCRC: f.HeaderCRC}, nil
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

func (b *bucket) read(o store.Object) io.ReaderAt { return store.ReadAt(b.ctx, b.there, o) }

// damaged returns nil for the error of a shard that is damaged or gone: it is not the one that was finished.
func damaged(err error) error {
	if errors.Is(err, record.ErrCorrupt) {
		return nil
	}
	return gone(err)
}

func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}
