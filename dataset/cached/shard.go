package cached

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

const headSize = 12 // bytes of a shard before its tables: docs/format.md

// A shard is one of the shards that the server has.
type shard struct {
	*dataset.ManifestShard
	dir   *dir
	first int64 // number of its first sample in the dataset
	pace  *pace // of the server

	open sync.Mutex // held while the header is fetched
	copy *os.File   // nil: nothing of it was asked for yet
	have *os.File   // nil: it is not kept
	info record.FileInfo

	mu      sync.Mutex
	bits    []byte            // of have, without its first byte
	missing int64             // samples that are not here
	from    int64             // all samples before this one are here
	doubt   bool              // samples may be in copy without a bit
	full    error             // why nothing more is written into it
	flights map[int64]*flight // by sample of the shard
	pieces  []*flight         // those of the filler, each of many samples
	wake    func()            // is called after each flight of a shard that is kept
}

// enter opens the copy of a shard, and fetches its header if that is not here.
func (s *shard) enter(ctx context.Context, doubt bool) error {
	s.open.Lock()
	defer s.open.Unlock()
	if s.copy != nil {
		return nil
	}
	f, err := s.dir.root.OpenFile(s.Name+copyExt, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Truncate(s.Bytes); err != nil { // as large as it will be, which is what a cache counts
		f.Close()
		return err
	}
	kept, err := s.dir.reserve(s.Name, s.Samples)
	if err != nil {
		s.dir.opts.Warn(fmt.Sprintf("%s: %v: it is fetched each time", s.Name, err))
	}
	if err := s.fillHeader(ctx, f); err != nil {
		f.Close()
		return err
	}
	s.info = record.FileInfo{Path: store.Redact(s.dir.url + s.Name), Samples: s.Samples, Size: s.Bytes, HeaderCRC: s.HeaderCRC}
	s.flights, s.missing = make(map[int64]*flight), s.Samples
	if kept {
		if err := s.openHave(doubt); err != nil {
			f.Close()
			return err
		}
	}
	s.copy = f
	s.dir.toCome.Add(-headSize - 12*s.Samples)
	return nil
}

// entered reports whether the header is here.
func (s *shard) entered() bool {
	s.open.Lock()
	defer s.open.Unlock()
	return s.copy != nil
}

// fillHeader makes the copy have the header that the manifest pins.
func (s *shard) fillHeader(ctx context.Context, f *os.File) error {
	size := headSize + 12*s.Samples
	if size > s.Bytes {
		return s.dir.fail(s.Name, -1, ErrChanged)
	}
	header := make([]byte, size)
	if _, err := f.ReadAt(header, 0); err == nil && s.soundHeader(header) {
		return nil
	}
	err := s.dir.read(ctx, s.dir.object(s.Name, s.Bytes), header, 0, func() error {
		if !s.soundHeader(header) {
			return s.dir.fail(s.Name, 0, ErrChanged)
		}
		return nil
	})
	if err == nil {
		_, err = f.WriteAt(header, 0)
	}
	return err
}

// soundHeader reports whether a header is the one of the manifest, whose CRC covers all of it.
func (s *shard) soundHeader(header []byte) bool {
	return crc32.ChecksumIEEE(header[4:]) == s.HeaderCRC && int64(binary.LittleEndian.Uint64(header[4:])) == s.Samples
}

func (s *shard) openHave(doubt bool) error {
	f, err := s.dir.root.OpenFile(s.Name+haveExt, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	all := make([]byte, haveSize(s.Samples))
	if _, err := f.ReadAt(all, 0); err != nil || doubt {
		clear(all)
		s.doubt = true
		if _, err := f.WriteAt(all, 0); err != nil {
			f.Close()
			return err
		}
	}
	s.have, s.bits = f, all[1:]
	for i := range s.Samples {
		if s.has(i) {
			s.missing--
		}
	}
	if s.missing == 0 { // an empty shard, or its server was killed before it said so
		if _, err = f.WriteAt([]byte{1}, 0); err != nil {
			s.have = nil
			f.Close()
		}
	}
	return err
}

// has reports whether a sample is here. mu is held, or nobody else has the shard.
func (s *shard) has(i int64) bool { return s.have != nil && s.bits[i>>3]&(1<<(i&7)) != 0 }

// keeps reports whether samples that come will be here. mu is held.
func (s *shard) keeps() bool { return s.have != nil && s.full == nil }

// kept is keeps for who does not hold mu.
func (s *shard) kept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keeps()
}

// extents returns where samples lie, and their CRCs.
func (s *shard) extents(first, count int64) ([]record.Extent, error) {
	return record.ReadExtents(s.copy, s.info, first, count, nil)
}

// keep writes consecutive samples into the copy, and then says that they are here. It does nothing for a shard that is
// not kept. An error of the system, as a full disk, ends the keeping, and not the work.
func (s *shard) keep(lo int64, at []record.Extent, data []byte, there bool) {
	if !s.kept() {
		return
	}
	var err error
	if !there {
		if err = s.room(int64(len(data))); err == nil {
			_, err = s.copy.WriteAt(data, at[0].Off)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = s.mark(lo, lo+int64(len(at)))
	}
	if err != nil {
		s.full = err // which the filler says
	}
}

// spare is what of a disk is left free beside the headers that are to come.
const spare = 1 << 20

// room returns an error unless the disk has room for so many bytes, and for all headers: no sample is found without those.
func (s *shard) room(size int64) error {
	free, err := freeOn(s.copy)
	if err == nil && free < size+s.dir.toCome.Load()+spare {
		err = errFull
	}
	return err
}

var errFull = place.New(place.IO, "the disk is full")

// mark says that samples are here.
func (s *shard) mark(lo, hi int64) error {
	for i := lo; i < hi; i++ {
		if !s.has(i) {
			s.bits[i>>3] |= 1 << (i & 7)
			s.missing--
		}
	}
	if _, err := s.have.WriteAt(s.bits[lo>>3:(hi-1)>>3+1], 1+lo>>3); err != nil {
		return err
	}
	if s.missing == 0 {
		_, err := s.have.WriteAt([]byte{1}, 0)
		return err
	}
	return nil
}

func (s *shard) close() {
	if s.copy != nil {
		s.copy.Close()
	}
	if s.have != nil {
		s.have.Close()
	}
}
