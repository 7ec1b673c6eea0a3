// Package input turns the names on a command line into local, seekable,
// uncompressed files, in the order in which they were named.
//
// It works in two steps, so that a missing file is reported before anything is
// created:
//
//	names, err := input.Find(ctx, []string{"shards-{000..009}.tar.gz", "more/"}, opts)
//	set, err := input.Open(ctx, names, opts)
//	defer set.Cleanup()
//	for _, f := range set.Files { … } // f.Path can be opened, seeked, read twice
//
// [Find] expands patterns (see [Expand]), applies the rewrite rules of the
// environment, reads shell globs and directories, and looks at every file once
// without reading it. [Open] tells compression by content and stages what is not
// already local, seekable and uncompressed: it is copied, decompressed, into a
// cache directory, its checksums verified to the last byte. A file that needs
// nothing is used where it lies. [FromCommand] makes an input of what a program writes:
// Open runs it and stages its output, to which the exit status is the trailer.
//
// Objects of remote stores are staged, too: fetched as they are, and decompressed from there. A
// [Stager] does all that a group of names at a time, so that less room than for all of them does.
//
// Where directories are inputs, a remote name stands for the tree of objects below it. It is listed
// by Find and becomes a directory in the cache, with a file for each object: its key is the path,
// and the time that the service gives is that of the file. Keys that cannot be paths below that
// directory are [ErrKey]. The directory serves one run.
//
// A staged copy is kept under the identity of its source: SHA-256 of its path, size and
// modification time, or of an object's name, version and size; and of how it is compressed. So
// a complete copy is used again by the next run, and that of a source that has changed since
// is not. Of standard input, of a command's output and of an object without a version the
// identity is random: nothing tells whether it would be the same again, so the copy serves one run.
// Package cache says what lies in the directory.
//
// Of every copy the checksums of its blocks are kept in memory from when it was written (package
// blocksum). A caller reads it through [converters.Part.Open], which compares them.
//
// Magic bytes that mark a compressed file, at offset 0:
//
//	1f 8b                               gzip, any number of members
//	28 b5 2f fd                         zstd, any number of frames;
//	5x 2a 4d 18 <u32 LE size>           skippable frames before them
//	"BZh" '1'..'9' 31 41 59 26 53 59    bzip2 with a block; 17 72 45 38 50 90 without
//	fd "7zXZ" 00                        xz, any number of streams
//
// A name is a path, file:, the URL of an object where [Options] have a Remote, or with
// AllowPipe pipe:COMMAND, whose output is the input. Names with other schemes are refused
// with [ErrScheme]. @FILE stands for the names in a file, a line each.
package input

import (
	"context"
	"io"
	"iter"
	"os"
	"runtime"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input/remote"
)

// Options say how names are found and files are staged. The zero value is usable:
// every field says what it means.
type Options struct {
	// Match chooses which files of a directory are inputs, by their base names.
	// Hidden files never are. nil: all.
	Match func(name string) bool
	// Arrange chooses among those, and puts them in an order of its own. nil: all, in
	// the order of their code points.
	Arrange func(names []string) ([]string, error)
	// Directories makes names stand for directories themselves, not for the files in
	// them; Find takes nothing else then. With Remote a URL of s3:, gs: or ais: stands for
	// the tree of all objects below it. Find and Open must be told alike.
	Directories bool
	// AllowRepeats lets one file or directory be named more than once.
	AllowRepeats bool
	// MaxNames caps the expansion of patterns. 0: [MaxNames].
	MaxNames int64
	// LookupEnv reads the environment. nil: [os.LookupEnv].
	LookupEnv func(key string) (string, bool)
	// Rewrite holds rules regex=replacement that come before those of the environment.
	Rewrite []string
	// AllowPipe lets names begin with pipe:, which runs a program.
	AllowPipe bool
	// Guarded runs each command below a process that ends it, with all of its process group, when
	// this process is killed. The program's main function calls [Guard] first then. Where it is not
	// set such a command runs on. Linux and macOS.
	Guarded bool
	// Remote reads names with the schemes of package remote. nil: they are [ErrScheme].
	Remote Remote

	// CacheDir is where copies are staged; it is created, mode 0700, when the
	// first one is, and removed whenever a run leaves it empty. "": the directory
	// ffconvert in [os.UserCacheDir].
	CacheDir string
	// NoCache is why there is no CacheDir: the error of whatever must be staged. nil: there is one.
	NoCache error
	// Quota caps the bytes of all staged copies in CacheDir, those of other runs
	// included: see package cache. 0: none.
	Quota int64
	// Transient removes each copy as soon as its last user has released it: for a
	// CacheDir that serves one run.
	Transient bool
	// MaxRatio caps decompressed bytes per compressed byte, once 16 MiB have
	// come out. 0: [DefaultMaxRatio]. Negative: none.
	MaxRatio int64
	// MaxWindow caps the window of zstd and the dictionary of xz, bytes; at most
	// 2 GiB. 0: [DefaultMaxWindow].
	MaxWindow int64
	// Workers is how many files are staged at once; each may hold two windows.
	// 0: GOMAXPROCS.
	Workers int
	// Fetches is how many objects are fetched at once: a fetch waits for the network, not for a
	// processor. What was fetched is decompressed by so many as Workers says. 0: as Workers.
	Fetches int
	// Stdin is what the name - reads. nil: [os.Stdin]. A Read that blocks
	// forever is abandoned, not awaited, when staging is cancelled.
	Stdin io.Reader
	// Progress is told of every n bytes read of the named input (not bytes
	// written). It may be called from several goroutines at once. nil: nobody.
	Progress func(name string, n int64)

	fault func(op string) error // fails a cache operation; tests only
	grace time.Duration         // in place of commandGrace; tests only
}

// DefaultMaxRatio is just above what deflate can reach (1032:1), so that no sound
// gzip file meets it, while a bomb made for the denser formats does.
const DefaultMaxRatio = 1200

// DefaultMaxWindow is the limit of the zstd command; xz -9 needs half of it.
const DefaultMaxWindow = 128 << 20

// The range of Options.MaxWindow: what zstd --long=31 uses, and what both formats have at
// the least.
const (
	mostWindow  = 2 << 30
	leastWindow = 4 << 10
)

// Remote is what names with a remote scheme are read by: a [remote.Client].
type Remote interface {
	Stat(ctx context.Context, url string) (remote.Object, error)
	List(ctx context.Context, prefix string) iter.Seq2[remote.Object, error]
	Fetch(ctx context.Context, o remote.Object, into remote.File, progress func(n int64)) error
}

// A Name is one input that was found: a regular file, a directory where such are
// inputs, an object of a remote store or a tree of them, standard input, or what a
// command writes.
type Name struct {
	Name    string    // as named, after expansion; "-" is standard input
	Path    string    // the local file, or directory; "" where it is neither
	Size    int64     // bytes at Path, 0 of a directory; -1 where it is not known
	ModTime time.Time // of Path; zero where it is no file
	Command *Command  // whose output it is; nil: none. See [FromCommand]

	// Object is what a remote name leads to; nil: nothing remote. Name is redacted then: it
	// holds no password, token or signature.
	Object *remote.Object

	// Tree is the objects that a remote name stands for where directories are inputs; nil: it is
	// no such name. Name is redacted, Size that of all objects together.
	Tree *ObjectTree
}

// A File is one input as a part that is local: its bytes can be opened, seeked and read again at
// Path, and Copy is set if Path is a copy in the cache directory. Of a directory it is the Name
// and the Path alone, and its Copy.
type File struct {
	converters.Part
	Compression string // of the named file: "", "gzip", "zstd", "bzip2", "xz"
	SourceSize  int64  // bytes of the named file itself, compressed
}

// Part returns the input as a part that is not local yet: its size is as stored, and its Copy has
// the mark alone.
func (n Name) Part() converters.Part {
	return converters.Part{Name: n.Name, Size: n.Size, Copy: &converters.Copy{Mark: n.Mark()}}
}

// running is how many sources are staged at once.
func (o Options) running() int { return max(o.workers(), o.Fetches) }

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) maxRatio() int64 {
	if o.MaxRatio == 0 {
		return DefaultMaxRatio
	}
	return o.MaxRatio
}

func (o Options) maxWindow() int64 {
	if o.MaxWindow <= 0 {
		return DefaultMaxWindow
	}
	return max(min(o.MaxWindow, mostWindow), leastWindow)
}

func (o Options) stdin() io.Reader {
	if o.Stdin != nil {
		return o.Stdin
	}
	return os.Stdin
}

func (o Options) lookupEnv(key string) (string, bool) {
	if o.LookupEnv != nil {
		return o.LookupEnv(key)
	}
	return os.LookupEnv(key)
}

// injected is what a test lets the operation fail with.
func (o Options) injected(op string) error {
	if o.fault != nil {
		return o.fault(op)
	}
	return nil
}

func (o Options) progress(name string, n int64) {
	if o.Progress != nil {
		o.Progress(name, n)
	}
}
