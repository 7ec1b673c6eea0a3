package input

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/input/remote"
	"github.com/ffconvert/ffconvert/internal/place"
)

// FindNamed returns the inputs of these very names, in order, as [Find] found them once: what
// braces, asterisks, @ or :: a name holds is part of it, and of no pattern, list or glob. A name
// may come again, and is then the same input. Without opts.Directories a directory is
// [ErrNotRegular], with them anything else [ErrNotDirectory]. So is standard input: who found it
// has read it.
//
// opts.Rewrite and the environment's rules are applied as by Find, which keeps the name before
// them; but where it read a glob or a directory it keeps what came of them. So where nothing
// lies at what a rule makes of a name, the name itself is looked for.
//
// Names are looked at several at a time. Every missing one is looked for before
// [ErrNotFound] reports the first of them; any other error is reported at once. Names of plans
// hold no secrets, so that of a URL that needs one finds nothing. opts.Match, Arrange and
// AllowRepeats decide nothing here, and opts.MaxNames how many objects a [ObjectTree] may have.
func FindNamed(ctx context.Context, names []string, opts Options) ([]Name, error) {
	rules, err := rewriteRules(opts.Rewrite, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	first := make(map[string]int, len(names)) // by name, its first place
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
			missed.add(miss{name: Shown(name), remote: serviceError(missing[i])})
		}
	}
	if missed.n > 0 {
		return nil, missed.err(opts)
	}
	return found, nil
}

// serviceError is what a service said of a name, and nil of a file that is missing.
func serviceError(missing error) error {
	if missing == errNoFile {
		return nil
	}
	return missing
}

var errNoFile = errors.New("no such local file")

// findNamed finds one name. missing is why nothing is there, err what else is wrong.
func findNamed(ctx context.Context, name string, rules []rewriteRule, opts Options) (found Name, missing, err error) {
	shown := Shown(name)
	switch {
	case name == "":
		return found, nil, place.Refuse(name, ErrPattern, "", "an empty name")
	case strings.IndexByte(name, 0) >= 0:
		return found, nil, place.Refuse(shown, ErrPattern, "", "a name cannot hold a zero byte")
	case name == "-":
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

// findAt looks at what a name leads to.
func findAt(ctx context.Context, where location, shown string, opts Options) (found Name, missing, err error) {
	if err := where.supported(shown, opts); err != nil {
		return found, nil, err
	}
	switch {
	case where.remote() && opts.Directories:
		return findTreeAt(ctx, where, shown, opts)
	case where.remote():
		o, err := opts.Remote.Stat(ctx, where.name)
		if errors.Is(err, remote.ErrNotFound) {
			return found, RemoteError(shown, err), nil
		}
		if err != nil {
			return found, nil, RemoteError(shown, err)
		}
		return objectName(shown, o), nil, nil
	case where.scheme == "pipe":
		command, err := pipeCommand(where.name, shown)
		if err != nil {
			return found, nil, err
		}
		return FromCommand(*command), nil, nil
	}
	for _, path := range where.localPaths() {
		fi, err := os.Stat(path)
		switch {
		case err != nil && isMissing(err):
			continue
		case err != nil:
			return found, nil, place.IOError(path, err)
		case opts.Directories && !fi.IsDir():
			return found, nil, place.Refuse(shown, ErrNotDirectory, "name the directory that holds it", "a %s", kindOf(fi.Mode()))
		case opts.Directories:
			return Name{Name: trimSlashes(shown), Path: trimSlashes(path)}, nil, nil
		case !fi.Mode().IsRegular():
			return found, nil, NotRegular(shown, fi.Mode())
		}
		return Name{Name: shown, Path: path, Size: fi.Size(), ModTime: fi.ModTime()}, nil, nil
	}
	return found, errNoFile, nil
}

// findTreeAt lists the objects of a tree.
func findTreeAt(ctx context.Context, where location, shown string, opts Options) (found Name, missing, err error) {
	f := &finder{lists: lists{opts: opts}, limit: max(0, opts.MaxNames)}
	f.limit = cmp.Or(f.limit, MaxNames)
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
