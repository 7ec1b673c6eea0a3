package packed

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"slices"
)

var (
	_ fs.StatFS     = (*Folder)(nil)
	_ fs.ReadDirFS  = (*Folder)(nil)
	_ fs.ReadFileFS = (*Folder)(nil)
)

// stat returns the entry of a name, which must be a valid path of package fs.
func (f *Folder) stat(op, name string) (Entry, error) {
	if !fs.ValidPath(name) {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	it, err := f.find(op, name)
	if err != nil {
		return Entry{}, err
	}
	return f.entry(name, it), nil
}

// Stat returns the [Entry] of a name.
func (f *Folder) Stat(name string) (fs.FileInfo, error) {
	e, err := f.stat("stat", name)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ReadDir returns the entries of a directory, sorted by name. [Folder.List] returns them in stored order.
func (f *Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.stat("readdir", name)
	if err != nil {
		return nil, err
	}
	if !e.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errors.New("not a directory")}
	}
	list, err := f.List(name)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(list))
	for i, e := range list {
		entries[i] = fs.FileInfoToDirEntry(e)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ReadFile returns the content of a file. If its CRC does not match, ReadFile returns an error and no bytes.
func (f *Folder) ReadFile(name string) ([]byte, error) {
	e, err := f.stat("read", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		return nil, isDirectory(name)
	}
	return f.read(name, e.Sample, nil)
}

func isDirectory(name string) error {
	return &fs.PathError{Op: "read", Path: name, Err: errors.New("is a directory")}
}

// Open opens a file or a directory. The first Read of a file reads all of it and checks its CRC.
func (f *Folder) Open(name string) (fs.File, error) {
	e, err := f.stat("open", name)
	if err != nil {
		return nil, err
	}
	if e.IsDir() {
		return &openDir{f: f, e: e}, nil
	}
	return &openFile{f: f, e: e}, nil
}

// An openFile reads its content at the first Read.
type openFile struct {
	f       *Folder
	e       Entry
	content *bytes.Reader
	closed  bool
}

func (o *openFile) Stat() (fs.FileInfo, error) { return o.e, nil }

func (o *openFile) Read(p []byte) (int, error) {
	if o.closed {
		return 0, &fs.PathError{Op: "read", Path: o.e.Path, Err: fs.ErrClosed}
	}
	if o.content == nil {
		data, err := o.f.read(o.e.Path, o.e.Sample, nil)
		if err != nil {
			return 0, err
		}
		o.content = bytes.NewReader(data)
	}
	return o.content.Read(p)
}

func (o *openFile) Close() error {
	o.content, o.closed = nil, true
	return nil
}

// An openDir lists its entries at the first ReadDir.
type openDir struct {
	f    *Folder
	e    Entry
	left []fs.DirEntry
	read bool
}

func (o *openDir) Stat() (fs.FileInfo, error) { return o.e, nil }
func (o *openDir) Read([]byte) (int, error)   { return 0, isDirectory(o.e.Path) }
func (o *openDir) Close() error               { return nil }

func (o *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !o.read {
		var err error
		if o.left, err = o.f.ReadDir(o.e.Path); err != nil {
			return nil, err
		}
		o.read = true
	}
	if n > 0 && len(o.left) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(o.left) {
		n = len(o.left)
	}
	list := o.left[:n:n]
	o.left = o.left[n:]
	return list, nil
}
