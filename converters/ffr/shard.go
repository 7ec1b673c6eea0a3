package ffr

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// A shard is an open part.
type shard struct {
	part   converters.Part
	known  Shard
	tables converters.File // the shard, for its header; the caller closes it
	info   record.FileInfo
	index  *os.File        // nil: the part has no index
	rows   *sidecar.Reader // of the index, from the first sample of the run on
	opts   *Options
	decode func(record []byte) (*converters.Sample, error) // nil: a sample is a whole record
}

// openShard opens the index of a part if there is one. tables is the part.
func (s *Source) openShard(part int, tables converters.File) (*shard, error) {
	x := &shard{part: s.Parts()[part], known: s.known(part), opts: &s.opts, tables: tables}
	var err error
	if s.opts.Decode != nil {
		if x.decode, err = s.opts.Decode(s.first + part); err != nil {
			return nil, err
		}
	}
	if x.known.Index != "" {
		if err := x.openIndex(); err != nil {
			x.close()
			return nil, err
		}
	}
	return x, nil
}

// Head returns the number of samples of a part, and the checksum of its table of checksums.
func (s *Source) Head(part int) (record.FileInfo, error) {
	x := &shard{part: s.Parts()[part], known: s.known(part), opts: &s.opts}
	var err error
	if x.tables, err = s.open(x.part, converters.Cached); err != nil {
		return record.FileInfo{}, err
	}
	defer x.tables.Close()
	err = s.readHead(part, x)
	return x.info, err
}

// readHead sets the info of an open part, which it compares with the manifest.
func (s *Source) readHead(part int, x *shard) error {
	return s.sound(part, func() (err error) {
		if x.info, err = record.ReadHead(x.tables, x.part.Name, x.part.Size, s.opts.Record); err != nil {
			return x.fail(-1, -1, "", err)
		}
		return x.checkKnown()
	})
}

func (x *shard) openIndex() (err error) {
	if x.index, err = files.Open(x.known.Index); err != nil {
		return x.indexError(err)
	}
	st, err := x.index.Stat()
	switch {
	case err != nil:
	case !st.Mode().IsRegular():
		err = fmt.Errorf("%w: not a regular file", converters.ErrUnsupported)
	case st.Size() != x.known.IndexSize:
		err = fmt.Errorf("%w: it has %d bytes, %d by the manifest", sidecar.ErrMalformed, st.Size(), x.known.IndexSize)
	}
	if err != nil {
		return x.indexError(err)
	}
	return nil
}

// finder returns the finder of the index, which is shared by all runs.
func (s *Source) finder(x *shard, part int) (*sidecar.Finder, error) {
	if f, ok := s.finders.Load(part); ok {
		return f.(*sidecar.Finder), nil
	}
	f, err := sidecar.OpenFinder(x.index, x.known.IndexSize, x.info.Samples)
	if err != nil {
		return nil, x.indexError(err)
	}
	s.finders.Store(part, f)
	return f, nil
}

// checkIndex compares the index with its known CRC.
func (x *shard) checkIndex() error {
	if x.index == nil {
		return nil
	}
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, io.NewSectionReader(x.index, 0, x.known.IndexSize)); err != nil {
		return x.indexError(err)
	}
	if sum.Sum32() != x.known.IndexCRC {
		return x.indexError(fmt.Errorf("%w: its CRC-32 is %08x, %08x by the manifest", sidecar.ErrMalformed, sum.Sum32(), x.known.IndexCRC))
	}
	return nil
}

// checkKnown compares the header with the manifest.
func (x *shard) checkKnown() error {
	if k := &x.known; k.Samples > 0 && (x.info.Samples != k.Samples || x.info.HeaderCRC != k.HeaderCRC) {
		return x.fail(-1, 0, "", fmt.Errorf("%w: %d samples with the header checksum %08x, by its manifest %d with %08x",
			record.ErrHeader, x.info.Samples, x.info.HeaderCRC, k.Samples, k.HeaderCRC))
	}
	return nil
}

func (x *shard) close() {
	if x.index != nil {
		x.index.Close()
	}
}

// row reads the index row of sample i, which must be the next one and is at e.
func (x *shard) row(i int64, e record.Extent) (*sidecar.Row, error) {
	if x.rows == nil {
		return new(sidecar.Row), nil
	}
	row, err := x.rows.Next()
	if err != nil {
		return nil, x.indexError(err)
	}
	if at := (record.Extent{Off: row.Off, Size: row.Size, CRC: row.CRC}); row.Placed && at != e {
		return nil, x.indexError(fmt.Errorf("%w: it has sample %d at %d, %d bytes, CRC %08x; the shard at %d, %d bytes, CRC %08x",
			sidecar.ErrMalformed, i, at.Off, at.Size, at.CRC, e.Off, e.Size, e.CRC))
	}
	return row, nil
}

// fail places an error in the part; sample is -1 if it concerns no sample.
func (x *shard) fail(sample, off int64, key string, err error) error {
	var at *record.FormatError
	if errors.As(err, &at) {
		sample, off, err = at.Sample, at.Off, at.Err
	}
	if sample >= 0 {
		err = fmt.Errorf("sample %d: %w", sample, err)
	}
	return &converters.Error{Where: x.part.Name, Off: off, Entry: key, Err: err, Hint: place.HintOf(err)}
}

func (x *shard) indexError(err error) error {
	return &converters.Error{Where: x.known.Index, Off: -1, Err: err}
}
