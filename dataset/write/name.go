package write

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// name renames a written and verified shard to its final name. If a file has the name already, from another process, or
// from one that stopped before it wrote the journal line, the two must be equal, and the existing file stays: name
// returns first = false. name replaces an existing file that is damaged or contradicts the journal.
func (k *finisher) name(ctx context.Context, f *files.Temp, done *dataset.Finished) (first bool, err error) {
	switch there, equal, err := k.compare(ctx, done); {
	case err != nil:
		return false, err
	case equal:
		return false, nil
	case there:
		return true, f.Replace(done.Name)
	}
	err = f.Commit(done.Name)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	// Another process named it first.
	_, equal, err := k.compare(ctx, done)
	if err == nil && !equal {
		err = fmt.Errorf("%s: it was damaged while it was given its name; run the same command again", k.out.Path(done.Name))
	}
	return false, err
}

// compare examines the file under the final name of a shard: whether there is one, and whether it is the same shard. If
// it is another, its name may be taken: the file is damaged, or differs from the shard in the journal. Sound shards are
// equal if their headers are, which hold the CRC of every sample. compare reads the whole file to see whether it is
// sound, unless verification is off. If another sound shard is there and the journal has no line for it, the error is
// [converters.ErrChanged]: it was made from other sources.
func (k *finisher) compare(ctx context.Context, done *dataset.Finished) (there, equal bool, err error) {
	found, err := k.out.Header(done.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case errors.Is(err, record.ErrCorrupt):
		return true, false, nil
	case err != nil:
		return false, false, err
	}
	if found.Samples == done.Samples && found.Size == done.Bytes && found.HeaderCRC == done.HeaderCRC {
		if k.reader == nil {
			return true, true, nil
		}
		switch err := k.verify(ctx, k.out.Root, done.Name, done, func(int64, int64) {}); {
		case err == nil:
			return true, true, nil
		case ctx.Err() != nil:
			return false, false, err
		}
		return true, false, nil
	}
	if k.journal.Knew(done.Name) { // and the new shard matches the journal
		return true, false, nil
	}
	return false, false, &converters.Error{Where: done.Name, Off: -1, Hint: plan.StartAnew,
		Err: fmt.Errorf("%w: it is there already with %d bytes and the header checksum %08x, its sources give %d with %08x", converters.ErrChanged, found.Size, found.HeaderCRC, done.Bytes, done.HeaderCRC)}
}
