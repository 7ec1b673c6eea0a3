package shard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// name gives a shard that was written and verified its name. The first to do so wins: where
// the name is there already, given by another process or by one that was stopped before its
// line was in the journal, the two must be equal, and the one that is there stays (first is
// false then). One that is damaged, or that is not what the journal says, is replaced.
func (k *finisher) name(ctx context.Context, f *atomicfile.File, done *dataset.Finished) (first bool, err error) {
	switch there, err := k.compare(ctx, done); {
	case err != nil:
		return false, err
	case there == equal:
		return false, nil
	case there == useless:
		return true, f.Replace(done.Name)
	}
	err = f.Commit(done.Name)
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	// Another process named it first.
	there, err := k.compare(ctx, done)
	if err == nil && there != equal {
		err = fmt.Errorf("%s: it was damaged while it was given its name; run the same command again", k.out.Path(done.Name))
	}
	return false, err
}

// A presence is what lies under the name of a shard that was written.
type presence int

const (
	nothing presence = iota
	equal            // the same shard
	useless          // a damaged one, or one that the journal knows to be another
)

// compare looks at what lies under the name of a shard. Sound shards are equal if their headers
// are, which hold the CRC of every sample; whether it is sound, reading it tells, unless nothing
// is to be verified. Another sound shard, of which the journal knows nothing, is
// [converters.ErrChanged]: it was made of other sources.
func (k *finisher) compare(ctx context.Context, done *dataset.Finished) (presence, error) {
	there, err := k.out.Header(done.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nothing, nil
	case errors.Is(err, record.ErrCorrupt):
		return useless, nil
	case err != nil:
		return nothing, err
	}
	if there.Samples == done.Samples && there.Size == done.Bytes && there.HeaderCRC == done.HeaderCRC {
		if k.reader == nil {
			return equal, nil
		}
		switch err := k.verify(ctx, done.Name, done, discard{}); {
		case err == nil:
			return equal, nil
		case ctx.Err() != nil:
			return nothing, err
		}
		return useless, nil
	}
	if k.journal.Knew(done.Name) { // and the new shard matches the journal
		return useless, nil
	}
	return nothing, &converters.Error{Where: done.Name, Off: -1, Hint: plan.StartAnew,
		Err: fmt.Errorf("%w: it is there already with %d bytes and the header checksum %08x, its sources give %d with %08x", converters.ErrChanged, there.Size, there.HeaderCRC, done.Bytes, done.HeaderCRC)}
}
