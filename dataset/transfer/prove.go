package transfer

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// prove reads a file and compares it with what the manifest says of it: of a shard the header, whose CRC pins the
// checksums of all samples, and these; of another file its CRC. where is the place that it is in.
func (f *file) prove(ctx context.Context, where string, from io.ReaderAt) error {
	check, end := f.checker()
	err := store.CopyBlocks(ctx, judging{check}, from, f.bytes, nil)
	if err == nil {
		err = end()
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrSource):
		err = fmt.Errorf("%w: %w", ErrSource, err)
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
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSource, err)
	}
	return n, err
}

// checker returns a writer for all bytes of the file; end returns how they differ.
func (f *file) checker() (w io.Writer, end func() error) {
	if f.shard == nil {
		sum := crc32.NewIEEE()
		return sum, func() error {
			if got := sum.Sum32(); got != f.sum.CRC {
				return fmt.Errorf("%w: its checksum is %08x, %08x by the manifest", ErrSource, got, f.sum.CRC)
			}
			return nil
		}
	}
	scan := record.NewScanner("", f.bytes, record.Options{MaxSample: math.MaxInt64})
	var first error
	scan.Problem = func(e *record.FormatError) {
		if first == nil {
			first = e.Err
			if e.Sample >= 0 {
				first = fmt.Errorf("sample %d: %w", e.Sample, e.Err)
			}
		}
	}
	return scan, func() error {
		got, err := scan.Close()
		switch {
		case first != nil:
			return fmt.Errorf("%w: %w", ErrSource, first)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrSource, err)
		case got != record.FileInfo{Samples: f.shard.Samples, Size: f.shard.Bytes, HeaderCRC: f.shard.HeaderCRC}:
			return fmt.Errorf("%w: it is another shard", ErrSource)
		}
		return nil
	}
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
