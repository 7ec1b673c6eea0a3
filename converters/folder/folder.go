// package folder finds and reads the samples of folders of files.
//
// An image folder has a directory for each class. With Options.Flat the directories do not matter:
//
//	src, err := folder.Open(ctx, []converters.Part{{Name: "imagenet", Path: "/data/imagenet"}}, folder.Options{})
//	for span, err := range src.Index(ctx, 0) { … }                                   // n01/0001 jpg=7,312 bytes, cls=0
//	for sample, err := range src.Read(ctx, converters.Run{Off: off, Count: n}) { … } // the bytes
//
// Samples, by options:
//
//	┌───────────────┬──────────────────────┬─────────────┬──────────────────────┬─────┐
//	│ options       │ files                │ key         │ field                │ cls │
//	├───────────────┼──────────────────────┼─────────────┼──────────────────────┼─────┤
//	│               │ n01/a.JPG            │ n01/a       │ jpg                  │ yes │
//	│ Group         │ n01/a.jpg n01/a.json │ n01/a       │ jpg json             │ yes │
//	│ Flat          │ n01/a.seg.PNG        │ its path    │ png                  │ no  │
//	│ Flat, Group   │ n01/a.jpg n01/a.json │ n01/a       │ jpg json             │ no  │
//	│ Pairs         │ i/a.jpg  m/a.png     │ i/a         │ jpg png              │ no  │
//	│ Splits: train │ train/n01/a.jpg      │ train/n01/a │ jpg                  │ yes │
//	│ any           │ n01/README           │ its path    │ data: has no suffix  │     │
//	└───────────────┴──────────────────────┴─────────────┴──────────────────────┴─────┘
//
// Key and suffix are defined as in WebDataset, with the suffix in lower case. Files are in code-point
// order of their paths. A sample of several files is at the place of the first of them.
//
// A first-level directory is a part. The files between two such directories are a part too. An offset in a part is the
// total size of the selected files before it.
//
// A part is listed once, with sizes and times. Read refuses a file that has changed since. Read uses goroutines, the
// only ones below shard, because otherwise the disk would be idle between reads of small files.
package folder

import (
	"cmp"
	"context"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// DefaultMaxSample is the default of Options.MaxSample.
const DefaultMaxSample = 1 << 30

// maxSample is the upper bound of Options.MaxSample, so that sums of sizes cannot overflow.
const maxSample = 1 << 40

// Options select files and define samples. The zero value means an image folder: a class for each
// first-level directory, a sample for each file.
type Options struct {
	// Flat means samples without classes. Without Group the key is the path below the root.
	Flat bool

	// Group makes one sample of the files in a directory that have the same key, as WebDataset does. A file without a
	// suffix is a separate sample.
	Group bool

	// Pairs make one sample of files in different directories. Keys and fields are as with Flat and Group; the key is
	// that of the file that Match matches. Flat, Group, Splits and Classes are ignored.
	Pairs []pair

	// Unmatched accepts files named by Pairs without a partner, and counts them. Otherwise they are an error. Without
	// Pairs it accepts samples that Check would refuse.
	Unmatched bool

	// Splits are first-level directories that contain the classes. They are converted in this order. nil: the
	// first-level directories are the classes.
	Splits []string

	// Only is the one of Splits to convert; all of them number the classes. "": all.
	Only string

	// Classes are the names of the classes; the index is the number. A class directory with another name is refused.
	// nil: all class directories of all roots and splits, in code-point order. Ignored if Flat is set.
	Classes []string

	// Ext selects files by extension, in any case. Other files are skipped and counted. nil: all
	// files.
	Ext []string

	// Hidden includes files and directories with a name that begins with a dot. Otherwise they
	// are skipped and counted, a directory as one entry.
	Hidden bool

	// FollowOutside follows symbolic links to targets outside the root. Otherwise they are
	// refused.
	FollowOutside bool

	// KeepDuplicates accepts several samples with the same key. Each is reported in an accepted
	// Span.
	KeepDuplicates bool

	// MaxSample limits the size of a sample in bytes, because Read holds a sample in memory: the
	// sizes of its files plus 512 for each. 0: DefaultMaxSample.
	MaxSample int64

	// Load reports whether Index must read the bytes of a field, because the size of the record
	// depends on them. nil: no field.
	Load func(field string) bool
}

// A source is an opened list of folders. Between calls it has no open files. It keeps the listing of
// each part that has been indexed or read, some 50 bytes per file.
type source struct {
	*scan.Source
	parts   []converters.Part // nil once the source is open
	dirs    []part            // parallel to the parts
	classes []string
	others  map[string]bool // classes of splits that are not converted
	opts    Options
	opened  func(*os.File) file
	apart   *apart
}

// Open lists the first level of each root and returns a source of all roots. The Path of a root is its directory; the
// Name is for messages.
func Open(ctx context.Context, roots []converters.Part, opts Options) (*source, error) {
	opts.MaxSample = cmp.Or(max(0, opts.MaxSample), DefaultMaxSample)
	opts.MaxSample = min(opts.MaxSample, maxSample)
	if opts.Pairs != nil {
		opts.Flat, opts.Group, opts.Splits, opts.Classes = true, false, nil, nil
	}
	s := &source{opts: opts, opened: func(f *os.File) file { return f }, apart: new(apart)}
	for _, root := range roots {
		if err := s.addRoot(ctx, root); err != nil {
			return nil, err
		}
	}
	if err := s.numberClasses(); err != nil {
		return nil, err
	}
	return s.with(s.parts), nil
}

func (s source) with(parts []converters.Part) *source {
	s.parts = nil
	s.Source = scan.New(parts, scan.Format{
		Unit: "sample", Reader: func() scan.Reader { return &reader{hand: hand{src: &s}} },
		With: func(first int, parts []converters.Part) converters.Source { // classes keep their numbers
			some := s
			some.dirs, some.apart = s.dirs[first:first+len(parts)], new(apart)
			return some.with(parts)
		},
		Describe: func() converters.Description { return converters.Description{Classes: s.classes} }, // by number, including empty ones
		Doubts:   s.doubts,
	})
	return &s
}
