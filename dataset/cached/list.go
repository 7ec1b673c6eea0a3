package cached

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// An Entry describes a dataset in a cache.
type Entry struct {
	Path  string    `json:"path"`
	URL   string    `json:"url"`
	Kept  int       `json:"kept"`  // shards of which all samples are here, or will be
	Bytes int64     `json:"bytes"` // of these shards, which the cache counts
	Used  time.Time `json:"used"`  // when the last server began or fetched something
	InUse bool      `json:"in_use"`
}

// List returns the datasets of a cache, sorted by their directories; none if it is not there.
func List(cache string) (all []Entry, err error) {
	dirs, err := datasetsIn(cache)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		e := Entry{Path: dir}
		url, err := os.ReadFile(filepath.Join(dir, urlName))
		if errors.Is(err, os.ErrNotExist) {
			continue // somebody removes it
		}
		if err != nil {
			return nil, err
		}
		e.URL = strings.TrimSpace(string(url))
		if e.Kept, e.Bytes, err = keptIn(e.Path); err != nil {
			return nil, err
		}
		if st, err := os.Stat(e.Path); err == nil {
			e.Used = st.ModTime()
		}
		l, err := lockFile(filepath.Join(e.Path, lockName), false)
		if e.InUse = errors.Is(err, errBusy); err == nil {
			err = l.Close()
		}
		if err != nil && !e.InUse {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Remove removes a dataset that no process serves, and reports whether it did.
func (e *Entry) Remove() (bool, error) {
	l, err := lockFile(filepath.Join(e.Path, lockName), false)
	if errors.Is(err, errBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer l.Close()
	return true, os.RemoveAll(e.Path)
}
