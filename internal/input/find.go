package input

import (
	"context"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Find expands the arguments and returns the inputs that they name, in order. It examines each file but reads
// none. An argument that is the name of an existing file is that file, even if it has braces or asterisks; an
// expanded name is also looked up before it is read as a shell glob. A directory stands for the regular files
// directly in it that opts.Match accepts, sorted by code point or by opts.Arrange, without hidden files and
// subdirectories. With opts.Directories it stands for the directory, without the slash at its end, and the name of
// a file is [ErrNotDirectory]. The URL of a service that lists objects then stands for the [ObjectTree] below it,
// and each object counts as a name.
//
// With opts.Remote the URLs of objects are names. Where the service lists objects (s3:, gs:, ais:), globs match
// keys as they match paths, and a bucket, or a URL that ends in /, stands for the objects directly below it. A
// glob does not match a slash.
//
// @FILE stands for the names and patterns in FILE, one per line; see [Lists].
//
// All names are looked up before [ErrNotFound] (or [ErrNoMatch], if all missing names are patterns) reports the
// first missing one; any other error is reported at once.
func Find(ctx context.Context, args []string, opts Options) ([]Name, error) {
	rules, err := rewriteRules(opts.Rewrite, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	f := &finder{lists: lists{rules: rules, opts: opts}, limit: opts.maxNames(), seen: map[string]string{}, dirs: map[string]string{}}
	defer f.looking.Wait() // all lookups end soon after ctx
	defer cancel()
	f.looking.SetLimit(lookups)
	f.room.Store(f.limit)
	for a, err := range f.arguments(ctx, args) {
		if err == nil {
			f.line = a.line
			err = at(a.line, f.argument(ctx, a.text))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := f.settle(0); err != nil {
		return nil, err
	}
	if f.missed.n > 0 {
		return nil, f.missed.err(opts)
	}
	if len(f.found) == 0 {
		hint := "name files, directories, patterns, or - for standard input"
		if opts.Directories {
			hint = "name directories, or patterns of their names"
		}
		return nil, place.Refuse("", errPattern, hint, "no input is named")
	}
	return f.found, nil
}

type finder struct {
	lists
	limit int64  // of names
	line  string // file and line of the list with the current name; "": the command line

	found  []Name
	seen   map[string]string // resolved path or identity of an input → the name that the user gave
	dirs   map[string]string // directory → its path with links resolved
	missed misses

	looking errgroup.Group
	pending []*lookup    // remote names that are being looked up, in order
	room    atomic.Int64 // how many more names listings may add
}

// argument finds the inputs of one argument.
func (f *finder) argument(ctx context.Context, arg string) error {
	if there, err := Exists(arg); err != nil {
		return err
	} else if there {
		return f.add(ctx, arg)
	}
	for name, err := range Expand(arg, f.opts) {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = f.add(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add finds one expanded name.
func (f *finder) add(ctx context.Context, name string) error {
	where, shown := locate(rewrite(name, f.rules)), Shown(name)
	if !where.remote() {
		if err := f.settle(0); err != nil { // results keep the order of the names
			return err
		}
	}
	if err := checkName(name); err != nil {
		return err
	}
	switch {
	case name == "-" && f.opts.Directories:
		return place.Refuse(name, ErrNotDirectory, "name directories; ./- is one of that name", "standard input")
	case name == "-":
		if err := f.useStdin(); err != nil {
			return err
		}
		return f.append(Name{Name: name, Size: -1})
	}
	if err := where.supported(shown, f.opts); err != nil {
		return err
	}
	switch {
	case where.remote():
		return f.look(ctx, shown, where)
	case where.scheme == "pipe":
		return f.pipe(shown, where)
	}
	return f.local(shown, where.localPaths())
}

// checkName refuses text that cannot be a name.
func checkName(name string) error {
	switch {
	case name == "":
		return place.Refuse(name, errPattern, "", "an empty name")
	case strings.IndexByte(name, 0) >= 0:
		return place.Refuse(Shown(name), errPattern, "", "a name cannot hold a zero byte")
	}
	return nil
}

// pipe adds the output of a command as an input.
func (f *finder) pipe(shown string, where location) error {
	command, err := pipeCommand(where.name, shown)
	if err != nil {
		return err
	}
	if !f.opts.AllowRepeats {
		if err := f.once(where.name, shown); err != nil {
			return err
		}
	}
	return f.append(FromCommand(*command))
}

// once refuses an input that was found before. where identifies the input.
func (f *finder) once(where, name string) error {
	first, ok := f.seen[where]
	if !ok {
		f.seen[where] = name
		return nil
	}
	hint := "leave one of them out"
	if first != name {
		hint = "the first time as " + text.Name(first)
	}
	return place.Refuse(name, errRepeated, hint, "")
}

func (f *finder) append(n Name) error {
	if int64(len(f.found)) >= f.limit {
		return tooMany(n.Name, f.limit)
	}
	f.found = append(f.found, n)
	return nil
}

func tooMany(name string, limit int64) error {
	return place.Refuse(name, errPattern, "use a narrower one, or raise option max-names", "more than %d names", limit)
}

// miss records a local name that does not exist, or a pattern without a match.
func (f *finder) miss(name string, pattern bool) {
	f.missed.add(miss{name: name, line: f.line, pattern: pattern})
}
