package cached

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sort"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/record"
)

// A local is what a user knows of a shard.
type local struct {
	first   int64 // number of its first sample
	entered bool  // its header is here
	have    *os.File
	whole   bool // all of it is here
}

// Files describes the copies of all shards, as [record.OpenFiles] takes them. Copies that are not there are made, with
// their first bytes, which the manifest tells. Before a sample is looked for in one, [Dataset.Enter] makes its header be
// there; [Dataset.Has] says whether the sample is.
func (x *Dataset) Files() (all []record.FileInfo, err error) {
	for i := range x.dir.manifest.Shards {
		s := &x.dir.manifest.Shards[i]
		info := record.FileInfo{Path: x.dir.at(s.Name + copyExt), Samples: s.Samples, Size: s.Bytes, HeaderCRC: s.HeaderCRC}
		if err := x.dir.newCopy(info); err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// newCopy makes a copy unless it is there.
func (d *dir) newCopy(info record.FileInfo) error {
	name := filepath.Base(info.Path)
	if st, err := d.root.Stat(name); err == nil && st.Size() == info.Size {
		return nil
	}
	f, err := d.create()
	if err != nil {
		return err
	}
	defer f.Discard()
	head := binary.LittleEndian.AppendUint32(nil, info.HeaderCRC)
	head = binary.LittleEndian.AppendUint64(head, uint64(info.Samples))
	if _, err := f.Write(head); err != nil {
		return err
	}
	if err := f.Truncate(info.Size); err != nil {
		return err
	}
	if err := f.Commit(name); !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil // the server has made it
}

// Enter makes the headers of the shards be here that have samples with these numbers, which exist.
func (x *Dataset) Enter(ctx context.Context, numbers []int64) error {
	var wanted []int64
	x.mu.Lock()
	for _, i := range numbers {
		if k := int64(x.shardOf(i)); !x.locals[k].entered && !slices.Contains(wanted, k) {
			wanted = append(wanted, k)
		}
	}
	x.mu.Unlock()
	if len(wanted) == 0 {
		return nil
	}
	kept, err := x.Shards(ctx, wanted...)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for n, k := range wanted {
		l := &x.locals[k]
		if kept[n] && l.have == nil {
			if l.have, err = x.dir.root.Open(x.dir.manifest.Shards[k].Name + haveExt); err != nil {
				return err
			}
		}
		l.entered = true
	}
	return nil
}

// Has reports whether a sample is in its copy. The header of its shard is here.
func (x *Dataset) Has(i int64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := &x.locals[x.shardOf(i)]
	if l.whole || l.have == nil {
		return l.whole
	}
	var b [1]byte
	if _, err := l.have.ReadAt(b[:], 0); err == nil && b[0] == 1 {
		l.whole = true
		return true
	}
	n := i - l.first
	_, err := l.have.ReadAt(b[:], 1+n>>3)
	return err == nil && b[0]&(1<<(n&7)) != 0
}

// bring makes samples be in their copies, of shards that are kept, and as far as the disk has room.
func (x *Dataset) bring(ctx context.Context, numbers []int64) error {
	var lacking []int64
	for _, i := range numbers {
		x.mu.Lock()
		kept := x.locals[x.shardOf(i)].have != nil
		x.mu.Unlock()
		if kept && !x.Has(i) {
			lacking = append(lacking, i)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	_, err := x.ask(ctx, nil, askHere, slices.Sorted(slices.Values(lacking))...)
	return err
}

// shardOf returns the shard of a sample.
func (x *Dataset) shardOf(i int64) int {
	return sort.Search(len(x.locals), func(k int) bool { return x.locals[k].first > i }) - 1
}

// ReadEach fills memory[k] with sample numbers[k], as [Dataset.Read] does; in any order, with repetitions.
func (x *Dataset) ReadEach(ctx context.Context, numbers []int64, memory [][]byte) error {
	places, total := make(map[int64]int), 0 // where each sample begins in the reply
	sorted := slices.Compact(slices.Sorted(slices.Values(numbers)))
	for k, i := range numbers {
		places[i] = len(memory[k])
	}
	for _, i := range sorted {
		places[i], total = total, total+places[i]
	}
	all := make([]byte, total)
	if err := x.Read(ctx, sorted, all); err != nil {
		return err
	}
	for k, i := range numbers {
		copy(memory[k], all[places[i]:])
	}
	return nil
}

// OpenIndex opens an index by its name in the dataset, once it was compared with its checksum.
func (x *Dataset) OpenIndex(name string) (dataset.File, int64, error) {
	for k := range x.dir.manifest.Shards {
		if name != dataset.IndexName(x.dir.manifest.Shards[k].Name) {
			continue
		}
		if _, err := x.ask(context.Background(), nil, askFile, int64(k)); err != nil {
			return nil, 0, err
		}
		f, err := x.dir.root.Open(name)
		if err != nil {
			return nil, 0, err
		}
		return f, x.dir.manifest.Shards[k].Index.Bytes, nil
	}
	return nil, 0, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
}
