package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
)

// A dir is a directory of parts, local or remote.
type dir struct {
	name   string // with a final slash
	remote bool
	files  Files // reads files of a remote directory; nil: they cannot be read
}

// dirOf returns the directory of a part, and the part's name in it. The name is "" for a part without a place:
// standard input, or the output of a command.
func dirOf(p *converters.Part, files Files) (d dir, name string) {
	local, ok := p.Path, p.Copy == nil
	if p.Path == "" || !ok {
		local, ok = input.LocalPath(p.Name)
	}
	if ok {
		d.name, name = filepath.Split(local)
		return d, name
	}
	if strings.Contains(p.Name, "://") && !strings.ContainsAny(p.Name, "?#") { // a signed URL names one object
		d.name, name = path.Split(p.Name)
		d.remote, d.files = true, files
	}
	return d, name
}

// readable reports whether the files of the directory can be read.
func (d *dir) readable() bool { return !d.remote || d.files != nil }

// paths returns the local paths of files of the directory. If it is remote, paths fetches the files and checks them
// with sound. If one does not exist the error is [input.ErrNotFound].
func (d *dir) paths(ctx context.Context, names []string, sound judge) ([]string, error) {
	paths := make([]string, len(names))
	for i, name := range names {
		if d.remote {
			paths[i] = d.name + name
			continue
		}
		paths[i] = filepath.Join(d.name, filepath.FromSlash(name))
		if _, err := os.Lstat(paths[i]); errors.Is(err, fs.ErrNotExist) {
			return nil, &converters.Error{Where: d.name + name, Off: -1, Err: input.ErrNotFound}
		}
	}
	if d.remote {
		return d.files.Fetch(ctx, paths, sound)
	}
	return paths, nil
}

// path is paths for one file; it returns "" if the file does not exist.
func (d *dir) path(ctx context.Context, name string, sound judge) (string, error) {
	paths, err := d.paths(ctx, []string{name}, sound)
	if errors.Is(err, input.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return paths[0], nil
}

// read reads a file of at most that many bytes; it returns nil if the file does not exist. hint is for a larger file.
func (d *dir) read(ctx context.Context, name string, most int64, hint string) ([]byte, error) {
	file, err := d.path(ctx, name, nil)
	if err != nil || file == "" {
		return nil, err
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if st.Size() > most {
		return nil, &converters.Error{Where: d.name + name, Off: -1, Err: fmt.Errorf("%w: it has %d bytes, %d are allowed", converters.ErrLimit, st.Size(), most), Hint: hint}
	}
	return os.ReadFile(file) // not nil for an empty file
}

// look returns [input.ErrNotFound] unless all files exist. hint is for a file that a local directory lacks.
func (d *dir) look(ctx context.Context, names []string, hint string) error {
	if !d.remote {
		_, err := d.paths(ctx, names, nil)
		if e, ok := errors.AsType[*converters.Error](err); ok {
			e.Hint = hint
		}
		return err
	}
	urls := make([]string, len(names))
	for i, name := range names {
		urls[i] = d.name + name
	}
	return d.files.Look(ctx, urls)
}
