package cached

import (
	"errors"
	"os"
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
	have := d.at(name + haveExt)
	if _, err := os.Stat(have); err == nil {
		return true, nil
	}
	root := filepath.Dir(filepath.Dir(d.path))
	l, err := lockFile(filepath.Join(root, datasetsDir, lockName), true)
	if err != nil {
		return false, err
	}
	defer l.Close()
	if d.opts.Size > 0 {
		st, err := os.Stat(d.at(name + copyExt))
		if err != nil {
			return false, err
		}
		if used, err := usedIn(root); err != nil || used+st.Size() > d.opts.Size {
			return false, err
		}
	}
	f, err := os.CreateTemp(d.path, "new-*")
	if err != nil {
		return false, err
	}
	err = f.Truncate(haveSize(samples))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), have)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err == nil, err
}

// haveSize returns the bytes of the file that says which samples of a shard are here.
func haveSize(samples int64) int64 { return 1 + (samples+7)/8 }

// datasetsIn returns the directories of the datasets in a cache, sorted.
func datasetsIn(cache string) (dirs []string, err error) {
	all, err := os.ReadDir(filepath.Join(cache, datasetsDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for _, e := range all {
		if e.IsDir() {
			dirs = append(dirs, filepath.Join(cache, datasetsDir, e.Name()))
		}
	}
	return dirs, err
}

// usedIn returns the bytes of all shards that a cache keeps, whether they are here yet or not.
func usedIn(cache string) (used int64, err error) {
	dirs, err := datasetsIn(cache)
	for _, dir := range dirs {
		_, n, err := keptIn(dir)
		if used += n; err != nil {
			return 0, err
		}
	}
	return used, err
}

// keptIn counts the shards of a dataset that are kept, and their bytes.
func keptIn(dir string) (shards int, size int64, err error) {
	all, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, err
	}
	for _, e := range all {
		name, kept := strings.CutSuffix(e.Name(), haveExt)
		if !kept {
			continue
		}
		st, err := os.Stat(filepath.Join(dir, name+copyExt))
		if errors.Is(err, os.ErrNotExist) {
			continue // somebody removes it
		}
		if err != nil {
			return 0, 0, err
		}
		shards, size = shards+1, size+st.Size()
	}
	return shards, size, nil
}
