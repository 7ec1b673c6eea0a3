package cached

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/record"
)

// Samples that are wanted at once come by one request where little lies between them, and with them of a shard that is kept
// what comes in the time until the first byte: see pace.
const (
	leastWaste = 4 << 10 // bytes between samples of a shard that is not kept that cost no more than a request does
	mostAtOnce = 8 << 20 // bytes of a request for several samples
	mostBeside = 4 << 10 // samples that come beside one that is asked for: each is an entry of shard.flights
)

// A flight is a request for consecutive samples of a shard. What it brings is in data when done is closed.
type flight struct {
	shard *shard
	lo    int64           // the first sample
	at    []record.Extent // of all of them
	done  chan struct{}
	waste int64  // bytes between samples that were asked for
	data  []byte // of all of them; nil if they are in the copy
	err   error

	// shard.mu guards these.
	held int64 // bytes of memory that are counted until its samples are taken; 0: it was not asked for ahead
	left int   // samples that were asked for ahead and not taken
	room *semaphore.Weighted
}

func (f *flight) size() int64 {
	last := f.at[len(f.at)-1]
	return last.Off + last.Size - f.at[0].Off
}

// wait waits until the flight has come, and returns its error. nil: the sample is here.
func (f *flight) wait(ctx context.Context) error {
	if f == nil {
		return nil
	}
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sample returns the bytes of a sample after the flight.
func (f *flight) sample(i int64) []byte {
	e := f.at[i-f.lo]
	return f.data[e.Off-f.at[0].Off:][:e.Size]
}

// plan makes flights for those of samples, which ascend, that are neither here nor on their way. Of a shard that is kept, a
// flight brings what lies beside it, too, until it has so many bytes. Flights that are returned with an error must fly all the
// same: others may wait for them. mu is held.
func (s *shard) plan(samples []int64, bytes int64) (all []*flight, err error) {
	bytes = min(bytes, mostBeside*max(1, s.Bytes/s.Samples))
	var f *flight
	for _, i := range samples {
		if s.here(i) {
			continue
		}
		if f != nil {
			if ok, err := s.extend(f, i); err != nil {
				return all, err
			} else if ok {
				continue
			}
		}
		if f, err = s.run(i, bytes); err != nil {
			return all, err
		}
		for n := range f.at {
			s.flights[f.lo+int64(n)] = f
		}
		f.left = 1
		all = append(all, f)
	}
	return all, nil
}

// run makes a flight of a sample that is neither here nor on its way, and of a shard that is kept of such samples beside it, so
// many bytes at the most. mu is held.
func (s *shard) run(i, bytes int64) (*flight, error) {
	lo, hi := i, i+1
	if s.keeps() {
		most := min(mostSamples, 1+min(bytes, mostAtOnce)/max(1, s.Bytes/s.Samples))
		for i-lo < most/2 && lo > 0 && !s.here(lo-1) {
			lo--
		}
		for hi-lo < most && hi < s.Samples && !s.here(hi) {
			hi++
		}
	}
	at, err := s.extents(lo, hi-lo)
	if err != nil {
		return nil, err
	}
	f := &flight{shard: s, lo: lo, at: at, done: make(chan struct{})}
	for f.size() > bytes && len(f.at) > 1 {
		if f.lo+int64(len(f.at)) > i+1 {
			f.at = f.at[:len(f.at)-1]
		} else {
			f.lo, f.at = f.lo+1, f.at[1:]
		}
	}
	return f, nil
}

// here reports whether a sample is here or on its way. mu is held.
func (s *shard) here(i int64) bool { return s.has(i) || s.coming(i) != nil }

// coming returns the flight that brings a sample, nil if there is none. mu is held.
func (s *shard) coming(i int64) *flight {
	for _, f := range s.pieces {
		if f.lo <= i && i < f.lo+int64(len(f.at)) {
			return f
		}
	}
	return s.flights[i]
}

// extend makes a flight of a shard that is not kept bring sample i, too, if little lies between. mu is held.
func (s *shard) extend(f *flight, i int64) (bool, error) {
	next := f.lo + int64(len(f.at))
	if s.keeps() || i-next > leastWaste/16 { // an extent takes 24 bytes: of the smallest samples fewer are looked at
		return false, nil
	}
	more, err := s.extents(next, i-next+1)
	if err != nil {
		return false, err
	}
	e, end := more[len(more)-1], f.at[0].Off+f.size()
	between := int64(leastWaste)
	if f.waste+e.Off-end > f.size()/2 { // at most half of a request is what nobody wants
		between = 0
	}
	if e.Off-end > between || e.Off+e.Size-f.at[0].Off > mostAtOnce {
		return false, nil
	}
	f.at, f.waste = append(f.at, more...), f.waste+e.Off-end
	s.flights[i], f.left = f, f.left+1
	return true, nil
}

// fly fetches the samples of a flight, compares them with their CRCs, and writes them into the copy if the shard is kept.
func (f *flight) fly(ctx context.Context) {
	s := f.shard
	f.err = f.fetch(ctx)
	s.mu.Lock()
	kept := s.has(f.lo)
	if f.held == 0 || f.err != nil || kept {
		s.land(f)
	}
	s.mu.Unlock()
	if kept && f.err == nil {
		freeBuffer(f.data)
		f.data = nil
	}
	close(f.done)
	if s.have != nil {
		s.wake()
	}
}

// buffers are for flights whose samples are kept: their memory is used again, since new memory is dear.
var buffers = sync.Pool{New: func() any { return new([mostAtOnce]byte) }}

// newBuffer returns memory of a size.
func (s *shard) newBuffer(size int64) []byte {
	if !s.kept() || size <= mostAtOnce/8 || size > mostAtOnce {
		return make([]byte, size)
	}
	return buffers.Get().(*[mostAtOnce]byte)[:size]
}

func freeBuffer(data []byte) {
	if cap(data) == mostAtOnce {
		buffers.Put((*[mostAtOnce]byte)(data[:mostAtOnce]))
	}
}

// land takes a flight off the list: its samples are here, or have to be asked for again. mu is held.
func (s *shard) land(f *flight) {
	if k := slices.Index(s.pieces, f); k >= 0 {
		s.pieces = slices.Delete(s.pieces, k, k+1)
		return
	}
	for i := range f.at {
		if n := f.lo + int64(i); s.flights[n] == f {
			delete(s.flights, n)
		}
	}
	if f.held > 0 {
		f.room.Release(f.held)
		f.held = 0
	}
}

// fetch sets data to samples that were compared with their CRCs, and keeps them. In doubt it looks into the copy first.
func (f *flight) fetch(ctx context.Context) error {
	s := f.shard
	data := s.newBuffer(f.size())
	if s.doubt {
		if _, err := s.copy.ReadAt(data, f.at[0].Off); err == nil && f.bad(data) < 0 {
			f.data = data
			s.keep(f.lo, f.at, data, true)
			return nil
		}
	}
	began := time.Now()
	err := s.dir.read(ctx, s.dir.object(s.Name, s.Bytes), data, f.at[0].Off, func() error {
		s.dir.fetched.Add(int64(len(data)))
		if bad := f.bad(data); bad >= 0 {
			return s.dir.fail(s.Name, f.at[bad].Off, fmt.Errorf("sample %d %w", f.lo+int64(bad), ErrChanged))
		}
		return nil
	})
	if err == nil {
		s.pace.saw(f.size(), time.Since(began))
		f.data = data
		s.keep(f.lo, f.at, data, false)
	}
	return err
}

// bad returns the number of the first sample in data that differs from its CRC, counted in the flight; -1: none does.
func (f *flight) bad(data []byte) int {
	for i, e := range f.at {
		if err := f.shard.info.CheckSample(f.lo+int64(i), e, data[e.Off-f.at[0].Off:][:e.Size]); err != nil {
			return i
		}
	}
	return -1
}

// A part is what is wanted of a shard.
type part struct {
	*shard
	samples []int64 // ascending
	at      []record.Extent
	flights []*flight // which bring them; nil: the sample is here
}

// find finds where the samples of a part lie, and returns the bytes that they have.
func (p *part) find() (size int64, err error) {
	for _, i := range p.samples {
		at, err := p.extents(i, 1)
		if err != nil {
			return 0, err
		}
		p.at = append(p.at, at[0])
		size += at[0].Size
	}
	return size, nil
}

// begin returns the flights that are to be begun so that all samples of the part come.
func (p *part) begin() ([]*flight, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, err := p.plan(p.samples, p.pace.free())
	for _, i := range p.samples {
		p.flights = append(p.flights, p.coming(i))
	}
	return all, err
}

// take fills memory with the samples of a part, and returns the rest of it.
func (p *part) take(ctx context.Context, memory []byte) ([]byte, error) {
	for k, i := range p.samples {
		e := p.at[k]
		if err := p.shard.take(ctx, i, e, memory[:e.Size], p.flights[k]); err != nil {
			return nil, err
		}
		memory = memory[e.Size:]
	}
	return memory, nil
}

// take fills memory with a sample, once the flight that brings it has come; nil: the sample is here.
func (s *shard) take(ctx context.Context, i int64, e record.Extent, memory []byte, f *flight) error {
	if err := f.wait(ctx); err != nil {
		return err
	}
	if f == nil || f.data == nil {
		if _, err := s.copy.ReadAt(memory, e.Off); err == nil && s.info.CheckSample(i, e, memory) == nil {
			return nil
		}
		f = &flight{shard: s, lo: i, at: []record.Extent{e}, done: make(chan struct{})} // the copy is damaged
		if f.err = f.fetch(ctx); f.err != nil {
			return f.err
		}
	}
	copy(memory, f.sample(i))
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.held > 0 && s.flights[i] == f {
		delete(s.flights, i)
		if f.left--; f.left == 0 {
			s.land(f)
		}
	}
	return nil
}
