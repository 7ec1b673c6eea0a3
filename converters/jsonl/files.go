package jsonl

import (
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// MetadataName is the name of a file whose lines name other files of its directory. The extension of a compression may
// follow.
const MetadataName = "metadata.jsonl"

// paths is a source of files that the lines of a metadata.jsonl name, as in Hugging Face's imagefolder and audiofolder.
// A line is a sample: its members, and after each member that names a file the bytes of that file.
//
//	┌──────────────────────────────────────────────────┬─────────────────────┬────────────────────────┐
//	│ member                                           │ fields              │ key                    │
//	├──────────────────────────────────────────────────┼─────────────────────┼────────────────────────┤
//	│ "file_name": "n01/a.JPG"                         │ file_name, jpg      │ n01/a.JPG              │
//	│ "mask_file_name": "a.png", or null for none      │ …, mask.png         │                        │
//	│ "file_names": ["0.png", "1.png"]                 │ file_names,         │                        │
//	│                                                  │ 0.png, 1.png        │                        │
//	│ "frame_file_names": ["x"]: a name without a dot  │ …, frame.0.data     │                        │
//	└──────────────────────────────────────────────────┴─────────────────────┴────────────────────────┘
//
// Options.KeyField, or a member "__key__", replaces file_name as the key. A part is a metadata.jsonl. Its files are
// examined once, by the first Index or Read, which takes 32 bytes per line; Read refuses a file that has changed since.
type paths struct {
	parts []converters.Part
	opts  Options
	each  []*folder // parallel to parts
}

// A folder is a metadata.jsonl and the files of its directory.
type folder struct {
	opts Options
	meta converters.Part
	open func(converters.Part, converters.Access) (converters.File, error)
	dir  string

	mu   sync.Mutex
	rows []row // nil until listed
}

// A row is a line with a sample.
type row struct {
	off   int64  // offset in the metadata.jsonl in bytes
	size  int32  // of the line in bytes
	files int32  // number of files that it names
	bytes int64  // total size of these files
	trace uint64 // hash of the sizes and times of the files
}

var (
	_ converters.Source    = (*paths)(nil)
	_ converters.Divisible = (*paths)(nil)
)

// OpenFiles returns a source of metadata.jsonl files with the files that they name. dirs has, for each part, the
// directory that the names are relative to. It opens no file.
func OpenFiles(parts []converters.Part, dirs []string, opts Options) *paths {
	s := &paths{parts: parts, opts: opts.filled()}
	for i, p := range parts {
		s.each = append(s.each, &folder{opts: s.opts, meta: p, dir: dirs[i], open: new(converters.Files).Open})
	}
	return s
}

func (s *paths) Parts() []converters.Part { return s.parts }

// WithParts returns a source with these parts, which must be the parts of s from number first on.
func (s *paths) WithParts(first int, parts []converters.Part) converters.Source {
	some := &paths{parts: parts, opts: s.opts}
	for i, p := range parts {
		d := s.each[first+i]
		if d.meta != p { // the part was not local before
			d = &folder{opts: s.opts, meta: p, dir: d.dir, open: d.open}
		}
		some.each = append(some.each, d)
	}
	return some
}

// A named is a file that a line names.
type named struct {
	after int    // index of the member that names it
	field string // its field
	path  string // relative to the directory, in the system's form
}
