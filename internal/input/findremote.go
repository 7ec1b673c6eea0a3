package input

import (
	"context"
	"errors"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// lookups is how many remote names are looked up concurrently. waiting is how many may be queued, or finished
// after the oldest unfinished one.
const (
	lookups = 16
	waiting = 4 * lookups
)

// A lookup is the lookup of one remote name.
type lookup struct {
	name  string // redacted, for errors
	where location
	line  string // file and line of the list with the name

	done   chan struct{} // closed when the fields below are set
	found  []Name
	missed []miss
	notes  []string // messages for Options.Note
	err    error
}

// look starts the lookup of a remote name.
func (f *finder) look(ctx context.Context, shown string, where location) error {
	if err := f.settle(waiting); err != nil {
		return err
	}
	l := &lookup{name: shown, where: where, line: f.line, done: make(chan struct{})}
	f.pending = append(f.pending, l)
	f.looking.Go(func() error {
		defer close(l.done)
		l.err = f.resolve(ctx, l)
		return nil
	})
	return nil
}

// settle takes the results of lookups in order until at most most lookups remain.
func (f *finder) settle(most int) error {
	for len(f.pending) > most {
		l := f.pending[0]
		f.pending = f.pending[1:]
		<-l.done
		if err := f.takeRemote(l); err != nil {
			return at(l.line, err)
		}
	}
	return nil
}

func (f *finder) takeRemote(l *lookup) error {
	if l.err != nil {
		return l.err
	}
	for _, n := range l.notes {
		f.opts.Note(l.name, n)
	}
	for _, m := range l.missed {
		f.missed.add(m)
	}
	for _, n := range l.found {
		if !f.opts.AllowRepeats {
			where := n.Path // the file's path, if it is from Options.Laid
			if n.Path == "" {
				where = store.Identity(n.URL())
			}
			if err := f.once(where, n.Name); err != nil {
				return err
			}
		}
		if err := f.append(n); err != nil {
			return err
		}
	}
	return nil
}

// resolve finds the objects of a remote name.
func (f *finder) resolve(ctx context.Context, l *lookup) error {
	if f.opts.Directories {
		return f.findTree(ctx, l)
	}
	url := l.where.name
	pattern, listed := parseObjects(l.where)
	switch {
	case listed && hasMeta(pattern.bucket):
		return place.Refuse(l.name, errPattern, "name each bucket", "a bucket cannot be a glob")
	case listed && pattern.base() == "": // the name ends in a slash, so no object has it
		literal := pattern
		literal.literal = true
		if err := f.list(ctx, l, literal); err != nil || len(l.found)+len(l.missed) > 0 || !pattern.meta() {
			return l.missNothing(err)
		}
		return l.missNothing(f.list(ctx, l, pattern))
	}
	dir := !listed && strings.HasSuffix(url, "/")
	if dir {
		if done, err := f.ofWeb(ctx, l); done {
			return err
		}
	}
	n, err := f.opts.stat(ctx, url, l.name)
	if !listed && !dir && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrPage) || errors.Is(err, store.ErrDenied)) {
		if done, late := f.ofWeb(ctx, l); done {
			return late
		}
	}
	switch {
	case err == nil:
		l.found = []Name{n}
		return nil
	case !errors.Is(err, store.ErrNotFound):
		return f.serviceFailed(ctx, l.name, err)
	case listed && pattern.meta():
		return l.missNothing(f.list(ctx, l, pattern))
	case !listed && strings.ContainsAny(urlPath(url), "*["):
		return place.Refuse(l.name, errPattern, "name each object, as by {000..009}", "%s: gives no lists, so that there are no globs", l.where.scheme)
	}
	if listed {
		below := pattern.below()
		stated, late := f.hasContents(ctx, below)
		switch {
		case late != nil:
			return f.serviceFailed(ctx, l.name, late)
		case stated:
			return l.missNothing(f.list(ctx, l, below))
		}
	}
	l.missed = []miss{{name: l.name, line: l.line, remote: RemoteError(l.name, err)}}
	return nil
}

// ofWeb finds the objects in a directory of a web server, which gives no lists, if a file there states what it holds: see
// [Options].Contents. done is false if none does; then what the server says of the directory is the better error.
func (f *finder) ofWeb(ctx context.Context, l *lookup) (done bool, err error) {
	p, ok := webDirectory(l.where.name)
	if !ok {
		return false, nil
	}
	if stated, err := f.hasContents(ctx, p); err != nil || !stated {
		return false, nil
	}
	d := &listedDir{finder: f, l: l, p: p, dir: strings.Join(p.components, "/"), one: true}
	return true, l.missNothing(d.end(ctx))
}

// missNothing records a miss if err is nil and no object was found.
func (l *lookup) missNothing(err error) error {
	if err == nil && len(l.found)+len(l.missed) == 0 {
		l.missed = []miss{{name: l.name, line: l.line, pattern: true, remote: place.Refuse(l.name, ErrNoMatch, "", "")}}
	}
	return err
}

// serviceFailed returns the cause of ctx if it has ended, else err with its place.
func (f *finder) serviceFailed(ctx context.Context, name string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return RemoteError(name, err)
}

// URL returns the URL of the object, or of the prefix of the tree. Unlike Name it may hold secrets. It is "" if
// the name is not remote.
func (n Name) URL() string {
	switch {
	case n.Object != nil:
		return n.Object.URL
	case n.Tree != nil:
		return n.Tree.prefix()
	}
	return ""
}

func objectName(shown string, o store.Object) Name {
	return Name{Name: shown, Size: o.Size, ModTime: o.Modified, Object: &o}
}

// urlPath returns the path of an http URL, without host, query and fragment.
func urlPath(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	_, path, _ := strings.Cut(rest, "/")
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	return path
}

// findTree lists the objects below a remote name, where directories are inputs. The listing is kept in the Name:
// package stage fetches exactly these objects.
func (f *finder) findTree(ctx context.Context, l *lookup) error {
	tree := NewTree(l.where.name)
	for o, err := range f.opts.Remote.List(ctx, tree.prefix()) {
		if err != nil {
			return f.serviceFailed(ctx, l.name, err)
		}
		if f.room.Add(-1) < 0 {
			return tooMany(l.name, f.limit)
		}
		if err := tree.Add(o); err != nil {
			return err
		}
	}
	pattern, _ := parseObjects(location{l.where.scheme, tree.url})
	switch {
	case tree.Files > 0:
		l.found = []Name{{Name: trimSlashes(l.name), Size: tree.Bytes, Tree: tree}}
	case pattern.meta():
		return place.Refuse(l.name, errPattern, "name each of them, as by {train,val}", "directories of a service are no globs")
	default:
		l.missed = []miss{{name: l.name, line: l.line, remote: place.Refuse(l.name, ErrNotFound, "no object lies below it; check the spelling", "")}}
	}
	return nil
}
