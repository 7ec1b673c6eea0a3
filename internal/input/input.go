// Package input finds the inputs that the names on a command line stand for, in the order in which
// they were named. It reads no file; package stage does that next, so that a missing file is reported
// before anything is created.
//
//	names, err := input.Find(ctx, []string{"shards-{000..009}.tar.gz", "more/"}, opts)
//
// [Find] expands patterns (see [Expand]), applies the rewrite rules of the environment, reads shell
// globs and directories, and looks at every file once. [FromCommand] makes an input of the output of
// a program.
//
// A name is a path, file:, the URL of an object where [Options] have a Remote, or with AllowPipe
// pipe:COMMAND, which makes the output of a command an input. Other schemes are [ErrScheme].
// @FILE stands for the names in a file, a line each.
//
// Where directories are inputs, the name of a service that lists objects stands for the [ObjectTree]
// below it: stage makes it a directory with a file for each object. Keys that cannot be paths below
// a directory are [ErrKey].
//
// [KindOf] and [KindOfDirectory] guess the format of what was found, from its first bytes and its name.
package input

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Options control how names are found. The zero value is usable.
type Options struct {
	// Match chooses which files of a directory are inputs, by their base names.
	// Hidden files never are. nil: all.
	Match func(name string) bool
	// Arrange selects and orders the names that Match takes. nil: all, by code point.
	Arrange func(names []string) ([]string, error)
	// Contents, if not nil, returns the files that a directory must hold, according to an index file in it. read
	// returns the bytes of a file of the directory and its name for errors. nil: the directory states nothing.
	// Remote objects are looked up by these names, since a listing may lack some. A name without a slash at its
	// end that is no object may be such a directory.
	Contents func(read func(name string) (text []byte, where string, err error)) (*Contents, error)
	// Sound, if not nil, reports whether the content of a fetched file is valid. It is called for objects without
	// a checksum; an invalid file is fetched again, since the transfer may have damaged it. It may be called
	// concurrently. nil: all are valid.
	Sound func(name string, file io.ReaderAt, size int64) bool
	// Note, if not nil, receives messages about the listing of a service. name is redacted.
	Note func(name, text string)
	// Directories makes directories the inputs, not the files in them. With Remote a URL of
	// s3:, gs: or ais: stands for the tree of all objects below it.
	Directories bool
	// AllowRepeats lets one file or directory be named more than once.
	AllowRepeats bool
	// MaxNames caps the expansion of patterns. 0: [MaxNames].
	MaxNames int64
	// LookupEnv reads the environment. nil: [os.LookupEnv].
	LookupEnv func(key string) (string, bool)
	// Rewrite holds rules regex=replacement, tried before the rules of the environment.
	Rewrite []string
	// AllowPipe lets names begin with pipe:, which runs a program.
	AllowPipe bool
	// Remote reads names with the schemes of package store. nil: they are [ErrScheme].
	Remote store.Store
	// Laid has files to use for objects whose services do not answer. nil: none.
	Laid *laid

	// Stdin is the input of the name "-". nil: [os.Stdin]. When the context ends, a blocked Read is abandoned.
	Stdin io.Reader
}

// Contents are the files that a directory must hold.
type Contents struct {
	Names   []string
	Missing error  // kind of the error for a missing file
	Hint    string // hint of that error; the directory's name follows it
}

// lacks returns the error for a file that a directory does not have.
func (c *Contents) lacks(name, dir string) error {
	return place.Refuse(name, c.Missing, c.Hint+" "+trimSlashes(dir), "")
}

// A Name is one input that was found: a regular file, a directory where directories are inputs, an object of a
// remote store or a tree of objects, standard input, or the output of a command.
type Name struct {
	Name    string    // as given, after expansion; "-" is standard input
	Path    string    // of a local file or directory, else ""
	Size    int64     // bytes, 0 of a local directory; -1: not known
	ModTime time.Time // of a file or an object; zero: unknown
	Command *Command  // the input is its output; nil: none. See [FromCommand]

	Directory bool // Path is a local directory

	// Object is the object of a remote name; nil: none. Name is redacted then: it holds no
	// password, token or signature.
	Object *store.Object

	// Tree lists the objects below a remote name where directories are inputs; nil: none. Name is
	// redacted, Size the sum of the objects' sizes.
	Tree *ObjectTree

	// Laid is the reason for using a file of [Options].Laid, at Path, in place of an object; "": not used.
	Laid string
}

// OpenStdin returns a reader of standard input that ends with ctx; stop must be called.
func (o Options) OpenStdin(ctx context.Context) (r io.Reader, stop func()) {
	if o.Stdin != nil {
		return CancelableReader(ctx, o.Stdin)
	}
	return CancelableReader(ctx, os.Stdin)
}

func (o Options) maxNames() int64 {
	if o.MaxNames > 0 {
		return o.MaxNames
	}
	return MaxNames
}

func (o Options) lookupEnv(key string) (string, bool) {
	if o.LookupEnv != nil {
		return o.LookupEnv(key)
	}
	return os.LookupEnv(key)
}

// Mark returns the pin of the input, which differs if the input has changed. "": the input has no version.
func (n Name) Mark() files.Pin {
	if n.Object != nil {
		return n.Object.Pin()
	}
	return files.PinOfTime(n.ModTime)
}

// Once reports whether n cannot be read twice or has no known size. It is then staged once per run.
func (n Name) Once() bool {
	return n.Command != nil || n.IsStdin() || n.Object != nil && n.Object.Size < 0
}

// Part returns the part for an input that is not local yet: its size is the stored size, and its Copy has only the
// mark.
func (n Name) Part() converters.Part {
	return converters.Part{Name: n.Name, Size: n.Size, Copy: &converters.Copy{Mark: n.Mark()}}
}

// Repeats reports whether n can be read from the start again.
func (n Name) Repeats() bool { return n.Command == nil && !n.IsStdin() }

// IsStdin reports whether n is standard input.
func (n Name) IsStdin() bool { return n.Command == nil && n.Object == nil && n.Name == "-" }

// CancelableReader returns a reader of r's content that fails with the cause of ctx when ctx is cancelled, even
// while a Read of r is blocked, as on a terminal or the pipe of a hung process. stop must be called. A goroutine
// reads r up to 256 KiB ahead; it ends when r's Read returns.
func CancelableReader(ctx context.Context, r io.Reader) (cancelable io.Reader, stop func()) {
	out, in := io.Pipe()
	unwatch := context.AfterFunc(ctx, func() { in.CloseWithError(context.Cause(ctx)) })
	go func() {
		_, err := io.CopyBuffer(in, struct{ io.Reader }{r}, make([]byte, 256<<10))
		in.CloseWithError(err)
	}()
	return out, func() {
		unwatch()
		out.Close()
	}
}
