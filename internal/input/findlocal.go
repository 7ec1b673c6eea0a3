package input

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// local finds the inputs of a local name. paths are its possible meanings; the first that exists counts.
func (f *finder) local(name string, paths []string) error {
	for _, path := range paths {
		fi, err := os.Stat(path)
		if err == nil {
			return f.take(name, path, fi)
		}
		if !isMissing(err) {
			return place.IOError(path, err)
		}
	}
	if !hasMeta(paths[0]) {
		f.miss(name, false)
		return nil
	}
	matches, err := glob(paths[0])
	if err != nil {
		return err
	}
	if len(matches) == 0 {
		f.miss(name, true)
		return nil
	}
	for _, path := range matches {
		fi, err := os.Stat(path)
		if err != nil {
			// The file was removed after it was listed, or it is a broken link.
			if isMissing(err) {
				f.miss(path, false)
				continue
			}
			return place.IOError(path, err)
		}
		if err := f.take(path, path, fi); err != nil {
			return err
		}
	}
	return nil
}

// take adds the input at path: a file, the files of a directory, or the directory.
func (f *finder) take(name, path string, fi fs.FileInfo) error {
	if fi.IsDir() && !f.opts.Directories {
		return f.directory(path)
	}
	found, err := localName(name, path, fi, f.opts.Directories)
	if err != nil {
		return err
	}
	if !f.opts.AllowRepeats {
		real, err := f.real(path)
		if err != nil {
			return place.IOError(path, err)
		}
		if err := f.once(real, found.Name); err != nil {
			return err
		}
	}
	return f.append(found)
}

// localName returns the input at path: a regular file, or a directory if directories are inputs.
func localName(name, path string, fi fs.FileInfo, directories bool) (Name, error) {
	switch {
	case directories && !fi.IsDir():
		return Name{}, place.Refuse(name, ErrNotDirectory, "name the directory that holds it", "a %s", kindOf(fi.Mode()))
	case directories:
		return Name{Name: trimSlashes(name), Path: trimSlashes(path), Directory: true}, nil
	case !fi.Mode().IsRegular():
		return Name{}, NotRegular(name, fi.Mode())
	}
	return Name{Name: name, Path: path, Size: fi.Size(), ModTime: fi.ModTime()}, nil
}

// trimSlashes removes the slashes at the end of a directory's name. A root keeps one.
func trimSlashes(name string) string {
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" || strings.HasSuffix(trimmed, ":") { // file:///, C:/
		return name[:min(len(trimmed)+1, len(name))]
	}
	return trimmed
}

// NotRegular returns the error for an input whose mode is not a regular file's.
func NotRegular(name string, mode fs.FileMode) *place.Error {
	hint := ""
	if mode&(fs.ModeNamedPipe|fs.ModeDevice) != 0 {
		hint = "use - and redirect standard input from it"
	}
	return place.Refuse(name, ErrNotRegular, hint, "a %s", kindOf(mode))
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeDevice != 0:
		return "device"
	}
	return "socket"
}

// directory adds the files directly in dir. A matching file that cannot be examined is an error.
func (f *finder) directory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return place.IOError(dir, err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() && (f.opts.Match == nil || f.opts.Match(e.Name())) {
			names = append(names, e.Name())
		}
	}
	if err := f.holds(dir, names); err != nil {
		return err
	}
	if f.opts.Arrange != nil {
		if names, err = f.opts.Arrange(names); err != nil {
			return &place.Error{Where: dir, Off: -1, Err: err}
		}
	}
	taken := false
	for _, name := range names {
		path := join(dir, name)
		fi, err := os.Stat(path)
		switch {
		case err != nil && isMissing(err):
			f.miss(path, false)
			taken = true
			continue
		case err != nil:
			return place.IOError(path, err)
		case fi.IsDir(): // a link to a directory
			continue
		}
		if err := f.take(path, path, fi); err != nil {
			return err
		}
		taken = true
	}
	if !taken {
		f.miss(dir, true)
	}
	return nil
}

// holds returns an error if dir lacks a file that opts.Contents requires. names are the files found, sorted.
func (f *finder) holds(dir string, names []string) error {
	if f.opts.Contents == nil {
		return nil
	}
	contents, err := f.opts.Contents(func(name string) (text []byte, where string, err error) {
		where = join(dir, name)
		text, err = readLocal(where)
		return text, where, err
	})
	if err != nil || contents == nil {
		return err
	}
	for _, name := range contents.Names {
		if f.opts.Match != nil && !f.opts.Match(name) {
			continue
		}
		if _, ok := slices.BinarySearch(names, name); !ok {
			return contents.lacks(join(dir, name), dir)
		}
	}
	return nil
}

// readLocal reads a file into memory.
func readLocal(name string) ([]byte, error) {
	fi, err := os.Stat(name)
	switch {
	case isMissing(err):
		return nil, place.Refuse(name, ErrNotFound, "", "")
	case err != nil:
		return nil, place.IOError(name, err)
	case !fi.Mode().IsRegular(): // opening a pipe would block
		return nil, place.Refuse(name, ErrNotRegular, "", "a %s", kindOf(fi.Mode()))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, place.IOError(name, err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxList+1))
	if err != nil {
		return nil, place.IOError(name, err)
	}
	if len(b) > maxList {
		return nil, place.Refuse(name, ErrMalformed, "", "it has more than %d bytes", maxList)
	}
	return b, nil
}

// join is filepath.Join without cleaning dir, so that a leading ./ stays.
func join(dir, base string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + base
	}
	return dir + "/" + base
}

// real returns the path of a file with links resolved, which is equal for two names of one file. Hard links count
// as different files: equal files of a dataset are often hard links.
func (f *finder) real(path string) (string, error) {
	if !filepath.IsAbs(path) { // not cleaned: .. after a link is the parent of the link's target
		wd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		path = join(wd, path)
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !fi.Mode().IsRegular() {
		return filepath.EvalSymlinks(path)
	}
	dir, base := filepath.Split(path)
	resolved, ok := f.dirs[dir]
	if !ok {
		if resolved, err = filepath.EvalSymlinks(dir); err != nil {
			return "", err
		}
		f.dirs[dir] = resolved
	}
	return filepath.Join(resolved, base), nil
}
