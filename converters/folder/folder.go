// Package folder finds and reads the samples of folders of files.
//
// An image folder has a directory for each class; a plain one (Options.Flat) is files:
//
//	src, err := folder.Open(ctx, []converters.Part{{Name: "imagenet", Path: "/data/imagenet"}}, folder.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                   // n01/0001 jpg=7,312 bytes, cls=0
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// What makes a sample:
//
//	┌───────────────┬──────────────────────┬─────────────┬──────────────────────┬─────┐
//	│ options       │ files                │ key         │ field                │ cls │
//	├───────────────┼──────────────────────┼─────────────┼──────────────────────┼─────┤
//	│               │ n01/a.JPG            │ n01/a       │ jpg                  │ yes │
//	│ Group         │ n01/a.jpg n01/a.json │ n01/a       │ jpg json             │ yes │
//	│ Flat          │ n01/a.seg.PNG        │ its path    │ png                  │ no  │
//	│ Flat, Group   │ n01/a.jpg n01/a.json │ n01/a       │ jpg json             │ no  │
//	│ Splits: train │ train/n01/a.jpg      │ train/n01/a │ jpg                  │ yes │
//	│ any           │ n01/README           │ its path    │ data: has no suffix  │     │
//	└───────────────┴──────────────────────┴─────────────┴──────────────────────┴─────┘
//
// Key and suffix are WebDataset's, the suffix in lower case. Files come in code-point order
// of their paths, a sample of several files where the first of them does.
//
// A first-level directory is a part, and so are the files between two of them. Offsets in
// a part count the bytes of its selected files, in order.
//
// A part is listed once, sizes and times included, and Read opens only what is still as it
// was listed. Read is the one place below shard that has goroutines: a disk that is asked
// for one small file after another is idle between them.
package folder

import (
	"context"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// DefaultMaxSample is what Options.MaxSample is when it is 0.
const DefaultMaxSample = 1 << 30

// maxSample keeps the arithmetic on sizes far from overflow.
const maxSample = 1 << 40

// Options say what of a folder is converted, and to what. The zero value is an image
// folder: a class for each first-level directory, a sample for each file.
type Options struct {
	// Flat means no classes: a sample for each file, its key the path relative to the root.
	Flat bool

	// Group makes one sample of the files of one directory that share a key, as
	// WebDataset groups them. A file without suffix stays alone.
	Group bool

	// Splits says that the first directory level is splits, and which of them to convert,
	// in this order. nil: it is not.
	Splits []string

	// Classes numbers the classes: the index is the place. A class directory that is not
	// listed is refused. nil: they are numbered in code-point order, over all roots and
	// splits. Of no meaning where Flat is set.
	Classes []string

	// Ext selects files whose name ends in a dot and one of these, in any case. The
	// others are skipped and counted. nil: all files.
	Ext []string

	// Hidden keeps files and directories whose name begins with a dot. They are skipped
	// and counted otherwise, a directory as one entry.
	Hidden bool

	// FollowOutside follows symbolic links that lead out of the root. They are refused
	// otherwise.
	FollowOutside bool

	// KeepDuplicates accepts a key that comes back later in the same part, as another
	// sample. Each is reported as waived.
	KeepDuplicates bool

	// MaxSample limits one sample, in bytes: the payload of its files and 512 for each
	// of them. Read holds a sample in memory, hence the limit. 0: DefaultMaxSample.
	MaxSample int64

	// Load names the fields whose bytes Index reads too, because their size in a record
	// depends on them. nil: none.
	Load func(field string) bool
}

// A Source is an opened list of folders. It holds no file open between calls; it holds
// the listing of each part that was indexed or read, some 50 bytes a file.
type Source struct {
	parts   []converters.Part
	dirs    []part // what the parts are made of
	classes []string
	opts    Options
	opened  func(*os.File) file
	readers sync.Pool // of *reader
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
)

// Open lists the first level of each root and returns the source that they make. The
// Name of a root is what the user called it, its Path the directory.
func Open(ctx context.Context, roots []converters.Part, opts Options) (*Source, error) {
	if opts.MaxSample <= 0 {
		opts.MaxSample = DefaultMaxSample
	}
	opts.MaxSample = min(opts.MaxSample, maxSample)
	s := &Source{opts: opts, opened: func(f *os.File) file { return f }}
	for _, root := range roots {
		if err := s.addRoot(ctx, root); err != nil {
			return nil, err
		}
	}
	if err := s.numberClasses(); err != nil {
		return nil, err
	}
	return s, nil
}

// WithParts returns a source of some of the parts, classes numbered as in the whole: the parts
// must be those that s has from part first on.
func (s *Source) WithParts(first int, parts []converters.Part) converters.Source {
	return &Source{parts: parts, dirs: s.dirs[first : first+len(parts)], classes: s.classes, opts: s.opts, opened: s.opened}
}

// Parts lists the directories of the first level, and the runs of files between them.
func (s *Source) Parts() []converters.Part { return s.parts }

// Describe tells the classes by index. An empty class directory is one too.
func (s *Source) Describe() converters.Description {
	return converters.Description{Classes: s.classes}
}
