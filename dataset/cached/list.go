package cached

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
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
	Used  time.Time `json:"used"`  // when a server began, ended or took a new shard
	InUse bool      `json:"in_use"`
}

// List returns the datasets of a cache, sorted by their directories; none if it is not there.
func List(cache string) (found []Entry, err error) {
	dir := filepath.Join(cache, datasetsDir)
	all, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer all.Close()
	names, err := datasetsIn(all)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		e := Entry{Path: filepath.Join(dir, name)}
		url, err := all.ReadFile(path.Join(name, urlName))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it begins, or somebody removes it
		}
		if err != nil {
			return nil, err
		}
		e.URL = strings.TrimSpace(string(url))
		if e.Kept, e.Bytes, err = keptIn(all, name); err != nil {
			return nil, err
		}
		if st, err := all.Stat(name); err == nil {
			e.Used = st.ModTime()
		}
		unlock, err := lockAll(all, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody has removed it
		}
		if e.InUse = errors.Is(err, errBusy); err == nil {
			err = unlock()
		}
		if err != nil && !e.InUse {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// lockAll locks a dataset against servers and users, or returns errBusy.
func lockAll(all *os.Root, name string) (unlock func() error, err error) {
	server, err := lockFile(all, path.Join(name, lockName), false)
	if err != nil {
		return nil, err
	}
	users, err := lockFile(all, path.Join(name, usersName), false)
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return func() error { return errors.Join(users.Close(), server.Close()) }, nil
}

// Remove removes a dataset that no process serves or has open, and reports whether it did.
func (e *Entry) Remove() (bool, error) {
	all, err := os.OpenRoot(filepath.Dir(e.Path))
	if err != nil {
		return false, err
	}
	defer all.Close()
	name := filepath.Base(e.Path)
	unlock, err := lockAll(all, name)
	if errors.Is(err, errBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer unlock()
	gone := "removed-" + rand.Text() // first: who opens the dataset now makes another directory
	if err := all.Rename(name, gone); err != nil {
		return false, err
	}
	err = all.RemoveAll(gone)
	room, failed := lockFile(all, lockName, true)
	if failed == nil {
		failed = errors.Join(room.Truncate(0), room.Close()) // who wants room counts anew
	}
	return true, errors.Join(err, failed)
}
