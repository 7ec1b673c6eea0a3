package cached

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Names of the files of a shard.
const (
	copyExt = ".copy"
	haveExt = ".have"
)

// reserve makes the file that says which samples of a shard are here, if there is room for the shard, whose copy is there
// with its size. ok says whether the file is there. Processes that reserve at once wait for each other.
func (d *dir) reserve(name string, samples int64) (ok bool, err error) {
	have := name + haveExt
	if _, err := d.root.Stat(have); err == nil {
		return true, nil
	}
	all, err := os.OpenRoot(filepath.Dir(d.path))
	if err != nil {
		return false, err
	}
	defer all.Close()
	l, err := lockFile(all, lockName, true)
	if err != nil {
		return false, err
	}
	defer l.Close()
	st, err := d.root.Stat(name + copyExt)
	if err != nil {
		return false, err
	}
	used, err := d.used(all, l)
	if err != nil || d.opts.Size > 0 && used+st.Size() > d.opts.Size {
		return false, err
	}
	f, err := d.create()
	if err != nil {
		return false, err
	}
	defer f.Discard()
	if err := f.Truncate(haveSize(samples)); err != nil {
		return false, err
	}
	if err = setUsed(l, used+st.Size()); err == nil { // first: who ends here has counted too much
		err = f.Replace(have)
	}
	return err == nil, err
}

// haveSize returns the bytes of the file that says which samples of a shard are here.
func haveSize(samples int64) int64 { return 1 + (samples+7)/8 }

// datasetsIn returns the names of the directories of datasets in a cache, sorted.
func datasetsIn(all *os.Root) (names []string, err error) {
	entries, err := fs.ReadDir(all.FS(), ".")
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// used returns the bytes of all shards that a cache keeps, whether they are here yet or not. The lock of the cache, l, has
// their number. Each server counts them once: before it, one may have been killed, or a dataset removed by hand.
func (d *dir) used(all *os.Root, l *os.File) (used int64, err error) {
	var number [8]byte
	if _, err := l.ReadAt(number[:], 0); err == nil && d.counted.Load() {
		return int64(binary.LittleEndian.Uint64(number[:])), nil
	}
	names, err := datasetsIn(all)
	for _, name := range names {
		_, n, err := keptIn(all, name)
		if used += n; err != nil {
			return 0, err
		}
	}
	if err == nil {
		err = setUsed(l, used)
	}
	d.counted.Store(err == nil)
	return used, err
}

func setUsed(l *os.File, used int64) error {
	_, err := l.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(used)), 0)
	return err
}

// keptIn counts the shards of a dataset that are kept, and their bytes.
func keptIn(all *os.Root, dataset string) (shards int, size int64, err error) {
	entries, err := fs.ReadDir(all.FS(), dataset)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, err
	}
	for _, e := range entries {
		name, kept := strings.CutSuffix(e.Name(), haveExt)
		if !kept {
			continue
		}
		st, err := all.Stat(path.Join(dataset, name+copyExt))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody removes it
		}
		if err != nil {
			return 0, 0, err
		}
		shards, size = shards+1, size+st.Size()
	}
	return shards, size, nil
}
