package ffr

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/record"
)

// Sizes of reads in bytes. The first read is small, because a run may be one small sample.
const (
	firstRead  = 64 << 10
	windowSize = 1 << 20
)

// A reader reads one run. Readers are reused.
type reader struct {
	window scan.Window
	at     []record.Extent
	whole  whole
}

// Read yields the samples of a run. It reads the shard in large reads, and compares each record with its CRC.
// The bytes of a sample are in the read buffer, not copied.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		r, _ := s.readers.Get().(*reader)
		if r == nil {
			r = &reader{}
		}
		err := s.read(ctx, run, r, func(sample *converters.Sample) bool { return yield(sample, nil) })
		r.window.File = nil
		s.readers.Put(r)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (s *Source) read(ctx context.Context, run converters.Run, r *reader, yield func(*converters.Sample) bool) error {
	asked := run.Count
	var how converters.Access // for the header
	if run.Count == 1 {
		how = converters.ForRun(run)
	}
	x, err := s.openRun(&run, how)
	if err != nil {
		return err
	}
	defer x.close()
	if done, err := s.readRun(ctx, x, run, r, yield); err != nil || !done {
		return err
	}
	if asked > run.Count {
		return x.fail(-1, -1, "", fmt.Errorf("%w: the part ends after %d of the samples from sample %d on", converters.ErrTruncated, max(0, run.Count), run.First))
	}
	return nil
}

// openRun opens the part of a run, with its index at the first sample, and cuts the run where the part ends.
func (s *Source) openRun(run *converters.Run, how converters.Access) (*shard, error) {
	x, err := s.openShard(run.Part, how)
	if err != nil {
		return nil, err
	}
	if err := s.seek(x, run); err != nil {
		x.close()
		return nil, err
	}
	return x, nil
}

// seek reads the head of the shard, and moves the index to the row of the first sample.
func (s *Source) seek(x *shard, run *converters.Run) (err error) {
	if x.info, err = record.ReadHead(x.tables, x.part.Name, x.part.Size, x.opts.Record); err != nil {
		return x.fail(-1, -1, "", err)
	}
	if err := x.checkKnown(); err != nil {
		return err
	}
	run.Count = min(run.Count, x.info.Samples-run.First)
	if x.index == nil || run.Count <= 0 {
		return nil
	}
	f, err := s.finder(x, run.Part)
	if err != nil {
		return err
	}
	x.rows = f.Rows(x.index, run.First, run.Count)
	return nil
}

// begin opens the shard for payload, unless it is open, and turns the window to the first of the extents r.at. A run of
// one sample, or of few bytes, is read with the file of the header; others are read ahead, past the page cache.
func (s *Source) begin(x *shard, run converters.Run, r *reader) (err error) {
	first, last := r.at[0], r.at[len(r.at)-1]
	size := last.Off + last.Size - first.Off
	if x.file == nil {
		x.file = x.tables
		if few := size <= firstRead && int64(len(r.at)) == run.Count; run.Count > 1 && !few {
			if x.file, err = s.open(x.part, converters.ForRun(run)); err != nil {
				return err
			}
		}
	}
	r.window.Reset(x.file, x.part.Size, first.Off, scan.Sizes{First: int(min(firstRead, size)), Usual: windowSize})
	return nil
}

// readRun yields the samples of a run of an open shard; its index must be at the first. It reports whether all
// were wanted.
func (s *Source) readRun(ctx context.Context, x *shard, run converters.Run, r *reader, yield func(*converters.Sample) bool) (done bool, err error) {
	for first, end := run.First, run.First+run.Count; first < end; first += int64(len(r.at)) {
		if r.at, err = record.ReadExtents(x.tables, x.info, first, min(extentsAtOnce, end-first), r.at[:0]); err != nil {
			return false, x.fail(-1, -1, "", err)
		}
		if first == run.First {
			if err := s.begin(x, run, r); err != nil {
				return false, err
			}
		}
		for i, e := range r.at {
			if err := ctx.Err(); err != nil {
				return false, x.fail(-1, e.Off, "", err)
			}
			sample, err := x.sample(r, first+int64(i), e)
			if err != nil {
				return false, err
			}
			if !yield(sample) {
				return false, nil
			}
			r.window.Skip(e.Size)
			r.window.Relax()
		}
	}
	return true, nil
}

// sample reads sample i, which lies at e, where the window is.
func (x *shard) sample(r *reader, i int64, e record.Extent) (*converters.Sample, error) {
	row, err := x.row(i, e)
	if err != nil {
		return nil, err
	}
	if limit := x.opts.maxSample(); e.Size > limit {
		return nil, x.fail(i, e.Off, row.Key, fmt.Errorf("%w: %d bytes, at most %d are allowed", record.ErrTooLarge, e.Size, limit))
	}
	payload, err := r.window.Peek(int(e.Size))
	if err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	if err := x.info.CheckSample(i, e, payload); err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	if x.decode == nil {
		return r.whole.sample(row, e, converters.Bytes(payload)), nil
	}
	sample, err := x.decode.Decode(payload)
	if err != nil {
		return nil, x.fail(i, e.Off, row.Key, err)
	}
	sample.Off = e.Off
	if sample.Key == "" {
		sample.Key = row.Key
	}
	return sample, nil
}

// maxSample returns the largest record that is read, in bytes.
func (o *Options) maxSample() int64 {
	if o.Record.MaxSample > 0 {
		return o.Record.MaxSample
	}
	return record.DefaultMaxSample
}
