package input

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A listedDir collects the matching objects of one directory until the listing reaches the next directory.
type listedDir struct {
	*finder
	l     *lookup
	p     objectPattern
	dir   string // ends in a slash, or is ""
	one   bool   // the pattern matches no other directory
	seen  bool   // the listing has an object in the directory
	found []Name
}

func (d *listedDir) add(o store.Object) error {
	if d.room.Add(-1) < 0 {
		return tooMany(d.l.name, d.limit)
	}
	d.found = append(d.found, objectName(Shown(o.URL), o))
	return nil
}

// base returns the name of an object in the directory.
func (d *listedDir) base(n Name) string {
	return strings.TrimSuffix(n.Object.URL[len(d.p.bucket)+len(d.dir):], d.p.query)
}

// end adds the objects of the directory to the lookup.
func (d *listedDir) end(ctx context.Context) error {
	if !d.seen && !d.one {
		return nil
	}
	stated, err := d.complete(ctx)
	if err != nil {
		return err
	}
	if !d.seen && len(d.found) == 0 {
		return nil
	}
	if d.p.base() == "" {
		if err := d.arrange(); err != nil {
			return err
		}
		if len(d.found) == 0 {
			name := Shown(d.p.bucket + d.dir)
			d.l.missed = append(d.l.missed, miss{name: name, line: d.l.line, pattern: true, remote: place.Refuse(name, ErrNoMatch, "", "")})
		}
	}
	if !stated && len(d.found) > 0 {
		d.note()
	}
	d.l.found = append(d.l.found, d.found...)
	d.found, d.seen = nil, false
	return nil
}

// arrange applies opts.Arrange to the objects of the directory.
func (d *listedDir) arrange() error {
	if d.opts.Arrange == nil {
		return nil
	}
	byBase := make(map[string]Name, len(d.found))
	var names []string
	for _, n := range d.found {
		base := d.base(n)
		byBase[base] = n
		names = append(names, base)
	}
	names, err := d.opts.Arrange(names)
	if err != nil {
		return &place.Error{Where: Shown(d.p.bucket + d.dir), Off: -1, Err: err}
	}
	d.found = d.found[:0]
	for _, base := range names {
		d.found = append(d.found, byBase[base])
	}
	return nil
}

// complete adds the objects that opts.Contents requires and the listing lacks. stated: Contents states what the
// directory holds.
func (d *listedDir) complete(ctx context.Context) (stated bool, err error) {
	if d.opts.Contents == nil {
		return false, nil
	}
	holds, err := d.opts.Contents(func(name string) (text []byte, where string, err error) {
		text, err = readObject(ctx, d.opts.Remote, d.p.bucket+d.dir+name+d.p.query)
		return text, Shown(d.p.bucket + d.dir + name), err
	})
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return false, cause
		}
		return false, err
	}
	if holds == nil {
		return false, nil
	}
	listed := make(map[string]bool, len(d.found))
	for _, n := range d.found {
		listed[d.base(n)] = true
	}
	var unlisted []string
	for _, name := range holds.Names {
		if d.p.matchBase(name, d.opts.Match) && !listed[name] {
			unlisted = append(unlisted, name)
		}
	}
	objects := make([]store.Object, len(unlisted))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(lookups)
	for i, name := range unlisted {
		g.Go(func() error {
			o, err := store.Find(within, d.opts.Remote, d.p.bucket+d.dir+name+d.p.query)
			where := Shown(d.p.bucket + d.dir + name)
			if errors.Is(err, store.ErrNotFound) {
				return holds.lacks(where, Shown(d.p.bucket+d.dir))
			}
			if err != nil {
				return d.serviceFailed(ctx, where, err)
			}
			objects[i] = o
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return false, err
	}
	for _, o := range objects {
		if err := d.add(o); err != nil {
			return false, err
		}
	}
	slices.SortFunc(d.found, func(a, b Name) int { return strings.Compare(a.Object.URL, b.Object.URL) })
	return true, nil
}

// errFound stops hasContents at the first file that opts.Contents would read.
var errFound = errors.New("there")

// hasContents reports whether the directory of p has a file that states what it must hold. It does not read that file.
func (f *finder) hasContents(ctx context.Context, p objectPattern) (bool, error) {
	if f.opts.Contents == nil {
		return false, nil
	}
	_, err := f.opts.Contents(func(name string) (text []byte, where string, err error) {
		url := strings.TrimSuffix(p.prefix(), p.query) + name + p.query
		_, err = store.StatTwice(ctx, f.opts.Remote, url)
		if errors.Is(err, store.ErrNotFound) {
			return nil, Shown(url), ErrNotFound
		}
		return nil, Shown(url), cmp.Or(err, errFound)
	})
	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// readObject reads an object into memory.
func readObject(ctx context.Context, from store.Store, url string) ([]byte, error) {
	o, err := store.StatTwice(ctx, from, url)
	if errors.Is(err, store.ErrNotFound) {
		return nil, place.Refuse(Shown(url), ErrNotFound, "", "")
	}
	if err != nil {
		return nil, RemoteError(Shown(url), err)
	}
	if o.Size > maxList {
		return nil, place.Refuse(Shown(url), ErrMalformed, "", "it has %d bytes, %d are allowed", o.Size, maxList)
	}
	var m memory
	if err := from.Fetch(ctx, o, &m, func(int64) {}); err != nil {
		return nil, RemoteError(Shown(url), err)
	}
	return m.b, nil
}

// note adds a message about the directory to the notes of the lookup.
func (d *listedDir) note() {
	if d.opts.Note == nil {
		return
	}
	noun, all := "object", ""
	if d.opts.Contents != nil {
		noun, all = "bare shard", "; no manifest there says whether that is all"
	}
	what := text.Count(int64(len(d.found)), noun) + ", " + text.Name(d.base(d.found[0]))
	if len(d.found) > 1 {
		what += " to " + text.Name(d.base(d.found[len(d.found)-1]))
	}
	d.l.notes = append(d.l.notes, what+all)
}

// list adds to l the objects that a pattern matches.
func (f *finder) list(ctx context.Context, l *lookup, p objectPattern) error {
	if err := p.check(l.name); err != nil {
		return err
	}
	d := &listedDir{finder: f, l: l, p: p}
	if !slices.ContainsFunc(p.components[:len(p.components)-1], p.isGlob) {
		d.dir = strings.TrimSuffix(strings.Join(p.components, "/"), p.base())
		d.one = true
	}
	for o, err := range f.opts.Remote.List(ctx, p.prefix()) {
		if err != nil {
			return f.serviceFailed(ctx, l.name, err)
		}
		key, ok := p.key(o.URL)
		if !ok {
			return place.Refuse(l.name, ErrMalformed, "", "the service lists %s", text.Name(Shown(o.URL)))
		}
		in, base := path.Split(key)
		if !p.matchDir(in) {
			continue
		}
		if in != d.dir {
			if err := d.end(ctx); err != nil {
				return err
			}
			d.dir = in
		}
		d.seen = true
		if !p.matchBase(base, f.opts.Match) {
			continue
		}
		if err := d.add(o); err != nil {
			return err
		}
	}
	return d.end(ctx)
}
