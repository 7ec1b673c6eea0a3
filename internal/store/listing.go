package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A Listing holds the objects below a URL that are known, by their names there: those of a list, those that were looked up by
// name, since lists may lack some, and those that were put since. Its methods may be called concurrently.
type Listing struct {
	Store
	Base string // what the URL of each object begins with

	begun []Object // uploads

	mu      sync.Mutex
	objects map[string]Object
}

// NewListing returns a listing that knows nothing yet.
func NewListing(s Store, base string) *Listing {
	return &Listing{Store: s, Base: base, objects: map[string]Object{}}
}

// Look lists all objects, and enters those for which ours returns true. It also notes the uploads that were begun and not ended,
// for whose names begun returns true; nil: none. A user who may not list uploads gets none.
func (l *Listing) Look(ctx context.Context, ours, begun func(name string) bool) error {
	for o, err := range l.List(ctx, l.Base) {
		if err != nil {
			return err
		}
		if name := strings.TrimPrefix(o.URL, l.Base); ours(name) {
			l.Enter(name, o)
		}
	}
	if begun == nil {
		return nil
	}
	for p, err := range l.Pending(ctx, l.Base) {
		if err != nil {
			break
		}
		if begun(strings.TrimPrefix(p.URL, l.Base)) {
			l.begun = append(l.begun, p)
		}
	}
	return nil
}

// DropBegun removes the uploads that Look has noted, and tells warn of those that stay.
func (l *Listing) DropBegun(ctx context.Context, warn func(string)) {
	for _, p := range l.begun {
		if err := l.Remove(ctx, p); err != nil {
			warn(fmt.Sprintf("%s: an upload in parts that was begun %s stays: %v", Redact(p.URL), p.Modified.Format(time.RFC3339), err))
		}
	}
}

// Object returns an object that is known.
func (l *Listing) Object(name string) (Object, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.objects[name]
	return o, ok
}

// Enter notes that there is an object.
func (l *Listing) Enter(name string, o Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.objects[name] = o
}

// Names returns the names that begin with prefix, sorted.
func (l *Listing) Names(prefix string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for name := range l.objects {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// requests is how many objects are looked at at once.
const requests = 32

// StatAll looks at objects by their names. It returns those that exist. An object that the user may not read is left
// out: who only writes has the list alone.
func (l *Listing) StatAll(ctx context.Context, names []string) (map[string]Object, error) {
	there := map[string]Object{}
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(requests)
	for _, name := range names {
		g.Go(func() error {
			o, err := l.Stat(ctx, l.Base+name)
			if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDenied) {
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			there[name] = o
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return there, nil
}

// Ask looks up those of the names that are not known, and enters the objects that exist.
func (l *Listing) Ask(ctx context.Context, names []string) error {
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := l.Object(name); return known })
	there, err := l.StatAll(ctx, unknown)
	for name, o := range there {
		l.Enter(name, o)
	}
	return err
}

// Upload puts an object of that name, which it sets in u, and enters it.
func (l *Listing) Upload(ctx context.Context, name string, u *Upload) (Object, error) {
	u.URL = l.Base + name
	o, err := l.Put(ctx, u)
	if err == nil {
		l.Enter(name, o)
	}
	return o, err
}

// Drop removes an object, if it is known.
func (l *Listing) Drop(ctx context.Context, name string) error {
	if _, known := l.Object(name); !known {
		return nil
	}
	if err := l.Remove(ctx, Object{URL: l.Base + name}); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.objects, name)
	return nil
}
