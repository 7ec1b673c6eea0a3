package loader

import (
	"errors"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// A Loader reads the batches of one rank. Its methods must not be called concurrently. Inside a loop over
// [Loader.Batches] SetEpoch, Close and a second loop are errors.
type Loader struct {
	opts   Options
	data   *data
	order  *ordering
	digest string

	number  uint64 // number of the epoch
	epoch   *epochOrder
	step    int64 // next step
	stats   stats
	running atomic.Bool
}

// stats count what a Loader has delivered since Open.
type stats struct {
	Batches int64
	Samples int64
	Bytes   int64
	Skipped int64 // damaged samples that were skipped in these batches
	AIO     aio.Stats
}

var (
	errRunning = errors.New("a loop over the batches of this loader is still running")
	errNone    = errors.New("no dataset was given")
)

// Open opens datasets as one, in this order: output directories, whose manifest.json lists the shards; directories
// of other .ffr files; single files; and URLs of datasets in object stores, whose samples Options.Cache keeps. It compares
// the size and the head of each shard with the manifest, and reads no more of it; files without a manifest are checked as
// [record.Open] does. The rest of a header is checked when a sample of the shard is first needed, and a damaged one ends
// the loop.
//
// The error is [ErrState] if Options.State is of other data or of another order.
func Open(paths []string, opts Options) (*Loader, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, errNone
	}
	d, err := openData(paths, opts)
	if err != nil {
		return nil, err
	}
	l := &Loader{opts: opts, data: d, number: opts.Epoch}
	if err := l.begin(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return l, nil
}

// begin creates the order, and determines the first step.
func (l *Loader) begin() (err error) {
	shards := l.Files()
	var sets [][]int64
	var digests []string
	at := 0
	for _, n := range l.data.counts {
		var sizes []int64
		for k := at; k < at+n; k++ {
			sizes = append(sizes, shards[k].Samples)
			shards[k].HeaderCRC = l.data.reader.HeaderCRC(k) // computed for a legacy file
		}
		sets, digests = append(sets, sizes), append(digests, digestOf(shards[at:at+n]))
		at += n
	}
	if l.order, err = newMixedOrdering(sets, l.opts.Order); err != nil {
		return err
	}
	l.digest = digestOf(shards)
	if l.order.mix != nil {
		l.digest = digestOfAll(sets, digests)
	}
	if s := l.opts.State; s != nil {
		if l.step, err = l.order.step(*s, l.digest); err != nil {
			return err
		}
		l.number = s.Epoch
	}
	if l.number > uint64(l.order.lastEpoch()) {
		return errEpoch(l.number, l.order.lastEpoch())
	}
	l.epoch = l.order.epoch(l.number)
	return nil
}

// Len returns the number of samples; of a mixture, those of an epoch.
func (l *Loader) Len() int64 { return l.order.size() }

// Steps returns the number of batches of an epoch, which is the same for every rank.
func (l *Loader) Steps() int64 { return l.order.steps() }

// Epoch returns the number of the epoch that Batches delivers or continues.
func (l *Loader) Epoch() uint64 { return l.number }

// SetEpoch makes Batches begin with the first batch of epoch n, at most 2⁶³-1. In mode Group it sorts all samples.
func (l *Loader) SetEpoch(n uint64) error {
	switch {
	case l.running.Load():
		return errRunning
	case n > uint64(l.order.lastEpoch()):
		return errEpoch(n, l.order.lastEpoch())
	}
	l.number, l.step, l.epoch = n, 0, l.order.epoch(n)
	return nil
}

// State returns the state after the last delivered batch, where Batches continues.
func (l *Loader) State() State { return l.order.state(l.digest, l.number, l.step) }

// Stats counts the Batches, Samples and Bytes delivered so far, and the damaged samples Skipped in them; AIO says how
// they were read.
func (l *Loader) Stats() stats {
	s := l.stats
	s.AIO = l.data.reader.BatchStats()
	return s
}

// Files returns the shards in the order of their samples.
func (l *Loader) Files() []record.FileInfo { return l.data.reader.Files() }

// Close closes the files.
func (l *Loader) Close() error {
	if l.running.Load() {
		return errRunning
	}
	return l.data.close()
}
