package input

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
)

// FindNamed returns the inputs with the given names, in order, as an earlier [Find] named them. Names are literal:
// no pattern, list or glob is expanded. A repeated name is the same input. A directory is [ErrNotRegular]; with
// opts.Directories a file is [ErrNotDirectory]. Standard input is refused: it cannot be read again.
//
// Rewrite rules apply as in Find. Find names an argument as it was before the rules, but a file of a directory or
// glob as it is after them; so if nothing has the rewritten name, the unchanged name is looked up.
//
// Several names are looked up concurrently. All missing names are collected before [ErrNotFound] reports the
// first; any other error is reported at once. Plans store names without secrets, so a URL that needs a secret is
// not found. opts.MaxNames limits the objects of an [ObjectTree]; Match, Arrange and AllowRepeats are ignored.
func FindNamed(ctx context.Context, names []string, opts Options) ([]Name, error) {
	rules, err := rewriteRules(opts.Rewrite, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	first := make(map[string]int, len(names)) // name → its first index
	found := make([]Name, len(names))
	missing := make([]error, len(names))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(lookups)
	for i, name := range names {
		if _, again := first[name]; again {
			continue
		}
		first[name] = i
		g.Go(func() (err error) {
			if within.Err() == nil {
				found[i], missing[i], err = findNamed(within, name, rules, opts)
			}
			return err
		})
	}
	err = g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	var missed misses
	for i, name := range names {
		if at := first[name]; at != i {
			found[i] = found[at]
		} else if missing[i] != nil {
			at := miss{name: Shown(name)}
			if missing[i] != errNoFile {
				at.remote = missing[i]
			}
			missed.add(at)
		}
	}
	if missed.n > 0 {
		return nil, missed.err(opts)
	}
	return found, nil
}

var errNoFile = errors.New("no such local file")

// findNamed finds one name. missing is set if nothing has that name, err for any other failure.
func findNamed(ctx context.Context, name string, rules []*text.Rule, opts Options) (found Name, missing, err error) {
	shown := Shown(name)
	if err := checkName(name); err != nil {
		return found, nil, err
	}
	if name == "-" {
		return found, nil, place.Refuse(name, ErrNotRegular, "write it to a file first", "standard input, which can be read once")
	}
	rewritten := rewrite(name, rules)
	found, missing, err = findAt(ctx, locate(rewritten), shown, opts)
	if missing != nil && rewritten != name {
		if found, missing, err := findAt(ctx, locate(name), shown, opts); missing == nil && err == nil {
			return found, nil, nil
		}
	}
	return found, missing, err
}

// findAt looks up a location. It returns errors as findNamed does.
func findAt(ctx context.Context, where location, shown string, opts Options) (found Name, missing, err error) {
	if err := where.supported(shown, opts); err != nil {
		return found, nil, err
	}
	switch {
	case where.remote() && opts.Directories:
		return findTreeAt(ctx, where, shown, opts)
	case where.remote():
		found, err := opts.stat(ctx, where.name, shown)
		if errors.Is(err, store.ErrNotFound) { // retried once: one reply may be wrong
			found, err = opts.stat(ctx, where.name, shown)
		}
		if errors.Is(err, store.ErrNotFound) {
			return Name{}, RemoteError(shown, err), nil
		}
		if err != nil {
			return Name{}, nil, RemoteError(shown, err)
		}
		return found, nil, nil
	case where.scheme == "pipe":
		command, err := pipeCommand(where.name, shown)
		if err != nil {
			return found, nil, err
		}
		return FromCommand(*command), nil, nil
	}
	for _, path := range where.localPaths() {
		fi, err := os.Stat(path)
		if err == nil {
			found, err = localName(shown, path, fi, opts.Directories)
			return found, nil, err
		}
		if !isMissing(err) {
			return found, nil, place.IOError(path, err)
		}
	}
	return found, errNoFile, nil
}

// findTreeAt lists the objects of a tree.
func findTreeAt(ctx context.Context, where location, shown string, opts Options) (found Name, missing, err error) {
	f := &finder{lists: lists{opts: opts}, limit: opts.maxNames()}
	f.room.Store(f.limit)
	l := &lookup{name: shown, where: where}
	switch err := f.findTree(ctx, l); {
	case err != nil:
		return found, nil, err
	case len(l.missed) > 0:
		return found, l.missed[0].remote, nil
	}
	return l.found[0], nil, nil
}
