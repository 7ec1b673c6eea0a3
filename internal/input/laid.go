package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A laid is a directory of files that a user placed there as copies of objects, each named by the base name of its
// URL, as in webdataset's cache. An object with such a file is looked up once, for at most laidPatience; if its
// service does not answer, the file is the input. Its methods may be called concurrently. nil: no directory.
type laid struct {
	dir string

	mu     sync.Mutex
	silent map[string]string // scheme and host → why the service did not answer
	taken  map[string]taking // path → the object that the file stands for
}

// laidPatience is how long a service may take to answer for an object that has a file.
const laidPatience = 2 * time.Second

// NewLaid returns the directory, which need not exist. "": nil.
func NewLaid(dir string) *laid {
	if dir == "" {
		return nil
	}
	return &laid{dir: dir, silent: map[string]string{}, taken: map[string]taking{}}
}

// stat looks up an object. If the service does not answer and the object has a file, stat returns the file.
func (o *Options) stat(ctx context.Context, url, shown string) (Name, error) {
	if file := o.Laid.file(url); file != "" {
		fi, err := os.Stat(file)
		if err == nil && fi.Mode().IsRegular() {
			return o.statBriefly(ctx, url, shown, file, fi)
		}
	}
	object, err := o.Remote.Stat(ctx, url)
	return objectName(shown, object), err
}

func (o *Options) statBriefly(ctx context.Context, url, shown, file string, fi fs.FileInfo) (Name, error) {
	service := service(url)
	o.Laid.mu.Lock()
	why := o.Laid.silent[service]
	o.Laid.mu.Unlock()
	if why == "" {
		brief, cancel := context.WithTimeout(store.Once(ctx), laidPatience)
		object, err := o.Remote.Stat(brief, url)
		late := brief.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return Name{}, err
		case err != nil && (late || store.Silent(err)):
			if why = fmt.Sprintf("no answer in %v", laidPatience); !late {
				why = problem(err)
			}
			o.Laid.mu.Lock()
			o.Laid.silent[service] = why
			o.Laid.mu.Unlock()
		case errors.Is(err, store.ErrUnavailable): // the service has answered, and may recover
			object, err = o.Remote.Stat(ctx, url)
			return objectName(shown, object), err
		default:
			return objectName(shown, object), err
		}
	}
	if err := o.Laid.take(file, url, shown); err != nil {
		return Name{}, err
	}
	return Name{Name: shown, Path: file, Size: fi.Size(), ModTime: fi.ModTime(), Laid: why}, nil
}

// file returns the path of an object's file; "" if there can be none.
func (l *laid) file(url string) string {
	base := BaseName(url)
	if l == nil || base == "" || cache.Named(base) {
		return ""
	}
	return filepath.Join(l.dir, base)
}

// problem formats an error of the service on one line, without the URL.
func problem(err error) string {
	if e, ok := errors.AsType[*store.Error](err); ok {
		return text.Spaces(e.Problem())
	}
	return text.Spaces(err.Error())
}

// A taking is the object that a file stands for.
type taking struct {
	identity string
	shown    string // its URL, redacted
}

// take records that a file stands for an object. It refuses a second object: the file may be either. The error is
// at the URL that sorts last, since takes come in any order.
func (l *laid) take(file, url, shown string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	is := store.Identity(url)
	if was, ok := l.taken[file]; ok && was.identity != is {
		return place.Refuse(max(shown, was.shown), errRepeated, "give objects of one base name different directories", "nothing tells whether %s is this object or another one of that name", text.Name(file))
	}
	l.taken[file] = taking{is, shown}
	return nil
}

// service returns the scheme and the host, or the bucket, of a URL.
func service(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	host, _, _ := strings.Cut(rest, "/")
	if scheme != "http" && scheme != "https" {
		return scheme
	}
	return scheme + "://" + host
}

// BaseName returns the name that webdataset's cache gives to a URL: its path after the last slash. "" if that is empty.
func BaseName(url string) string {
	url, _, _ = strings.Cut(url, "#")
	url, _, _ = strings.Cut(url, "?")
	_, rest, _ := strings.Cut(url, "://")
	_, rest, ok := strings.Cut(rest, "/")
	base := path.Base(rest)
	if !ok || base == "." || base == ".." || base == "/" || strings.HasSuffix(rest, "/") || strings.ContainsRune(base, filepath.Separator) {
		return ""
	}
	return base
}

// LaidDoubts returns a doubt for inputs that are files of Options.Laid and were not compared with their services.
func LaidDoubts(found []Name) []converters.Doubt {
	n, first := 0, -1
	for i := range found {
		if found[i].Laid != "" {
			if n++; n == 1 {
				first = i
			}
		}
	}
	if n == 0 {
		return nil
	}
	more := ""
	if n > 1 {
		more = fmt.Sprintf("; %s in all", text.Count(int64(n), "input"))
	}
	return []converters.Doubt{{Part: found[first].Name, Off: -1, Text: fmt.Sprintf("the file by this name in the cache directory was taken, and compared with nothing: %s%s", found[first].Laid, more)}}
}
