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

// A Listing is a Store with a table of the known objects below Base, by their names relative to it: those that a list
// has returned, those that Stat has found, since a list may lack some, and those that were uploaded. Its methods may be
// called concurrently.
type Listing struct {
	Store
	Base string // prefix of the URLs of all objects

	begun []Object // unfinished uploads, from Look

	mu      sync.Mutex
	objects map[string]Object
}

// NewListing returns an empty listing.
func NewListing(s Store, base string) *Listing {
	return &Listing{Store: s, Base: base, objects: map[string]Object{}}
}

// Look lists all objects and enters those that accept selects. It also records the unfinished uploads that begun
// selects, for DropBegun; begun may be nil. It ignores an error of listing uploads: the user may lack that right.
func (l *Listing) Look(ctx context.Context, accept, begun func(name string) bool) error {
	for o, err := range l.List(ctx, l.Base) {
		if err != nil {
			return err
		}
		if name := strings.TrimPrefix(o.URL, l.Base); accept(name) {
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

// DropBegun removes the uploads that Look has recorded. It calls warn for each that cannot be removed.
func (l *Listing) DropBegun(ctx context.Context, warn func(string)) {
	for _, p := range l.begun {
		if err := l.Remove(ctx, p); err != nil {
			warn(fmt.Sprintf("%s: an upload in parts that was begun %s stays: %v", Redact(p.URL), p.Modified.Format(time.RFC3339), err))
		}
	}
}

// Object returns a known object.
func (l *Listing) Object(name string) (Object, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o, ok := l.objects[name]
	return o, ok
}

// Enter adds an object, or replaces what is known of it.
func (l *Listing) Enter(name string, o Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.objects[name] = o
}

// Names returns the names of known objects that begin with prefix, sorted.
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

// requests is the number of concurrent Stat requests.
const requests = 32

// StatAll calls Stat for each name and returns the objects that exist. It omits objects that the user may not read: a
// user who may only write relies on the list.
func (l *Listing) StatAll(ctx context.Context, names []string) (map[string]Object, error) {
	found := map[string]Object{}
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
			found[name] = o
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return found, nil
}

// StatUnknown calls StatAll for those names that are not known, and enters the objects that exist.
func (l *Listing) StatUnknown(ctx context.Context, names []string) error {
	unknown := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, known := l.Object(name); return known })
	found, err := l.StatAll(ctx, unknown)
	for name, o := range found {
		l.Enter(name, o)
	}
	return err
}

// Upload puts the object with that name and enters it. It sets u.URL.
func (l *Listing) Upload(ctx context.Context, name string, u *Upload) (Object, error) {
	u.URL = l.Base + name
	o, err := l.Put(ctx, u)
	if err == nil {
		l.Enter(name, o)
	}
	return o, err
}

// Drop removes an object from the store and from the table, if it is known.
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
