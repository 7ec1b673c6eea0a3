package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxListed is how many missing names one error lists; it also says how many there are.
const maxListed = 10

// Find expands the arguments and returns the inputs that they name, in order. It
// looks at each file but reads none. An argument that is the name of an existing
// file is that file, whatever braces or asterisks it holds; so is an expanded name
// before it is read as a shell glob. A directory stands for the regular files
// directly in it that opts.Match takes, sorted by code point or as opts.Arrange has
// them; hidden ones and subdirectories are left out. With opts.Directories it stands for
// itself, without the slash at its end; a name of anything else is [ErrNotDirectory].
//
// Every missing name is looked for before [ErrNotFound] (or [ErrNoMatch], when all
// of them are patterns) reports the first of them; any other error is reported at once.
func Find(ctx context.Context, args []string, opts Options) ([]Name, error) {
	rules, err := rewriteRules(opts.Rewrite, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	f := &finder{opts: opts, rules: rules, limit: opts.MaxNames, seen: map[string]string{}, dirs: map[string]string{}}
	if f.limit <= 0 {
		f.limit = MaxNames
	}
	for _, arg := range args {
		if _, err := os.Lstat(arg); err == nil {
			if err := f.add(arg); err != nil {
				return nil, err
			}
			continue
		}
		for name, err := range Expand(arg, ExpandOptions{Max: opts.MaxNames, LookupEnv: opts.LookupEnv}) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err == nil {
				err = f.add(name)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if f.missed > 0 {
		return nil, f.missing()
	}
	if len(f.found) == 0 {
		hint := "name files, directories, patterns, or - for standard input"
		if opts.Directories {
			hint = "name directories, or patterns of their names"
		}
		return nil, refuse("", ErrPattern, hint, "no input is named")
	}
	return f.found, nil
}

type finder struct {
	opts  Options
	rules []rewriteRule
	limit int64 // names

	found   []Name
	seen    map[string]string // where a file really is, to the name that it was given by
	dirs    map[string]string // a directory to where it really is
	stdin   bool
	missed  int64
	misses  []string // the first few of them
	globbed int64    // how many of them are patterns
}

// add finds one expanded name.
func (f *finder) add(name string) error {
	switch {
	case name == "":
		return refuse(name, ErrPattern, "", "an empty name")
	case strings.IndexByte(name, 0) >= 0:
		return refuse(name, ErrPattern, "", "a name cannot hold a zero byte")
	case name == "-" && f.opts.Directories:
		return refuse(name, ErrNotDirectory, "name directories; ./- is one of that name", "standard input")
	case name == "-":
		if f.stdin {
			return refuse(name, ErrRepeated, "standard input can be read once", "")
		}
		f.stdin = true
		return f.append(Name{Name: name, Size: -1})
	}
	location := rewrite(name, f.rules)
	paths, err := localPaths(location)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok && f.opts.Directories {
			e.Hint = "copy it to a local directory"
		}
		return err
	}
	for _, path := range paths {
		fi, err := os.Stat(path)
		if err == nil {
			return f.take(name, path, fi)
		}
		if !isMissing(err) {
			return ioError(path, err)
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
			// It was there a moment ago, or it is a link that leads nowhere.
			if isMissing(err) {
				f.miss(path, false)
				continue
			}
			return ioError(path, err)
		}
		if err := f.take(path, path, fi); err != nil {
			return err
		}
	}
	return nil
}

// take accepts what lies at path: a file, a directory's files, or the directory.
func (f *finder) take(name, path string, fi fs.FileInfo) error {
	found := Name{Name: name, Path: path, Size: fi.Size(), ModTime: fi.ModTime()}
	switch {
	case f.opts.Directories && !fi.IsDir():
		return refuse(name, ErrNotDirectory, "name the directory that holds it", "a %s", kindOf(fi.Mode()))
	case f.opts.Directories:
		name = trimSlashes(name)
		found = Name{Name: name, Path: trimSlashes(path)}
	case fi.IsDir():
		return f.directory(path)
	case !fi.Mode().IsRegular():
		return notRegular(name, fi.Mode())
	}
	if !f.opts.AllowRepeats {
		real, err := f.real(path)
		if err != nil {
			return ioError(path, err)
		}
		if first, ok := f.seen[real]; ok {
			hint := "leave one of them out"
			if first != name {
				hint = "the first time as " + quote(first)
			}
			return refuse(name, ErrRepeated, hint, "")
		}
		f.seen[real] = name
	}
	return f.append(found)
}

// trimSlashes takes the slashes off the end of a directory's name, unless the name of
// the root is what they are.
func trimSlashes(name string) string {
	trimmed := strings.TrimRight(name, "/")
	if trimmed == "" || strings.HasSuffix(trimmed, ":") { // file:///, C:/
		return name[:min(len(trimmed)+1, len(name))]
	}
	return trimmed
}

func (f *finder) append(n Name) error {
	if int64(len(f.found)) >= f.limit {
		return refuse(n.Name, ErrPattern, "use a narrower one, or raise --max-names", "more than %d names", f.limit)
	}
	f.found = append(f.found, n)
	return nil
}

func notRegular(name string, mode fs.FileMode) *Error {
	hint := ""
	if mode&(fs.ModeNamedPipe|fs.ModeDevice) != 0 {
		hint = "use - and redirect standard input from it"
	}
	return refuse(name, ErrNotRegular, hint, "a %s", kindOf(mode))
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

// directory takes the files directly in dir. An entry that is wanted and cannot be
// read is an error, not a gap.
func (f *finder) directory(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ioError(dir, err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() && (f.opts.Match == nil || f.opts.Match(e.Name())) {
			names = append(names, e.Name())
		}
	}
	if f.opts.Arrange != nil {
		if names, err = f.opts.Arrange(names); err != nil {
			return &Error{Name: dir, Off: -1, Err: err}
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
			return ioError(path, err)
		case fi.IsDir(): // through a link
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

// join keeps dir as the user wrote it, ./ and all.
func join(dir, base string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + base
	}
	return dir + "/" + base
}

// real names the place of a file, links resolved, so that two names of one file
// meet. Hard links stay apart: equal files of a dataset are often linked.
func (f *finder) real(path string) (string, error) {
	if !filepath.IsAbs(path) { // not made clean: where .. leads is for links to say
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

// miss notes a name that leads nowhere; the list it keeps is short, the count whole.
func (f *finder) miss(name string, pattern bool) {
	f.missed++
	if pattern {
		f.globbed++
	}
	if len(f.misses) < maxListed {
		f.misses = append(f.misses, name)
	}
}

func (f *finder) missing() error {
	kind, hint := ErrNotFound, "check the spelling and the directory"
	if f.globbed == f.missed {
		kind, hint = ErrNoMatch, "check the pattern; hidden files and subdirectories are left out"
		if f.opts.Directories {
			hint = "check the pattern; hidden directories are left out"
		}
	}
	if f.missed == 1 {
		return refuse(f.misses[0], kind, hint, "")
	}
	var b strings.Builder
	for _, name := range f.misses[1:] {
		fmt.Fprintf(&b, ", %s", quote(name))
	}
	if f.missed > int64(len(f.misses)) {
		b.WriteString(", …")
	}
	return refuse(f.misses[0], kind, hint, "%d names in all, also%s", f.missed, strings.TrimPrefix(b.String(), ","))
}
