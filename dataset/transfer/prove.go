package transfer

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// prove reads a file and compares it with what the manifest says of it: of a shard the header, whose CRC pins the
// checksums of all samples, and these; of another file its CRC. where is the place that it is in.
func (f *file) prove(ctx context.Context, where string, from io.ReaderAt) error {
	check, end := f.sum.Checker()
	if f.shard != nil {
		check, end = f.shard.Checker()
	}
	err := store.CopyBlocks(ctx, judging{check}, from, f.bytes, nil)
	if err == nil {
		err = differs(end())
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrSource):
		err = differs(err)
	}
	return f.wrong(where, err)
}

// proveText is prove of a file that is in memory.
func (f *file) proveText(where string, text []byte) error {
	if int64(len(text)) != f.sum.Bytes || crc32.ChecksumIEEE(text) != f.sum.CRC {
		return f.wrong(where, fmt.Errorf("%w: other bytes than were written", ErrSource))
	}
	return nil
}

// A judging writer takes every error for one of the bytes.
type judging struct{ io.Writer }

func (w judging) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	return n, differs(err)
}

// differs makes [ErrSource] of an error about the bytes of a file.
func differs(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSource, err)
	}
	return err
}

// lost returns the error of reading the file in a dataset that has to have it: that it is missing there, or differs
// from the checksum of its service, is damage.
func (f *file) lost(where string, err error) error {
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case ok && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrSum)): // which says how often it was asked for
		return f.wrong(where, fmt.Errorf("%w: %s", ErrSource, e.Problem()))
	case store.IsMissing(err) && place.KindOf(err) == place.Refused: // not an error of the scratch
		return f.wrong(where, fmt.Errorf("%w: it is missing", ErrSource))
	}
	return err
}

// wrong places an error of the file; nil stays nil.
func (f *file) wrong(where string, err error) error {
	if err == nil {
		return nil
	}
	e := &place.Error{Where: where, Off: -1, Entry: f.name, Err: err, Kind: place.KindOf(err)}
	if errors.Is(err, ErrSource) {
		e.Hint = "ffconvert verify lists what is damaged, ffconvert repair writes it anew"
	}
	return e
}
