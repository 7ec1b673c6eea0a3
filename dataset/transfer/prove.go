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

// prove reads a file and compares it with the manifest: a shard by the CRC of its header, which covers the checksums of
// all samples, and by these checksums; another file by its CRC. It returns ErrSource if it differs. where names the site.
func (f *file) prove(ctx context.Context, where string, from io.ReaderAt) error {
	check, end := f.sum.Checker()
	if f.shard != nil {
		check, end = f.shard.Checker()
	}
	err := store.CopyBlocks(ctx, checkWriter{check}, from, f.bytes, nil)
	if err == nil {
		err = sourceError(end())
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrSource):
		err = sourceError(err)
	}
	return f.placed(where, err)
}

// proveText is prove for a file in memory.
func (f *file) proveText(where string, text []byte) error {
	if int64(len(text)) != f.sum.Bytes || crc32.ChecksumIEEE(text) != f.sum.CRC {
		return f.placed(where, fmt.Errorf("%w: other bytes than were written", ErrSource))
	}
	return nil
}

// A checkWriter turns every error of its Writer, a Checker, into ErrSource.
type checkWriter struct{ io.Writer }

func (w checkWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	return n, sourceError(err)
}

// sourceError wraps an error with ErrSource; nil stays nil.
func sourceError(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSource, err)
	}
	return err
}

// lost converts an error of reading a file that the manifest names: if the file is missing, or differs from the checksum
// of the service, the dataset is damaged (ErrSource).
func (f *file) lost(where string, err error) error {
	e, ok := errors.AsType[*store.Error](err)
	switch {
	case ok && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrSum)): // the text counts the requests
		return f.placed(where, fmt.Errorf("%w: %s", ErrSource, e.Problem()))
	case store.IsMissing(err) && place.KindOf(err) == place.Refused: // not an error of the scratch
		return f.placed(where, fmt.Errorf("%w: it is missing", ErrSource))
	}
	return err
}

// placed adds the site, the name of the file and a hint to an error; nil stays nil.
func (f *file) placed(where string, err error) error {
	if err == nil {
		return nil
	}
	e := &place.Error{Where: where, Off: -1, Entry: f.name, Err: err, Kind: place.KindOf(err)}
	if errors.Is(err, ErrSource) {
		e.Hint = "ffconvert verify lists what is damaged, ffconvert repair writes it anew"
	}
	return e
}
