package folder

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A list is a source of the files that a list file names. Each line gives the name of the file in the dataset, as in
// tarp's recipes. Consecutive lines with one key are a sample. The list stays in memory, some 120 bytes per line plus
// its text; no files stay open.
type list struct {
	*scan.Source
	opts  Options
	parts []converters.Part // nil once the source is open
	each  []*listPart       // by part
}

// A listPart is a few thousand consecutive samples.
type listPart struct {
	name    string
	samples []listedSample

	mu     sync.Mutex
	stated bool // sizes and times of the files are known
}

// A listedSample is a group of consecutive lines with one key.
type listedSample struct {
	key   string
	off   int64 // total bytes of the preceding samples of the part; set by stat
	files []listedFile
}

// A listedFile is one line: a file, or text in the line itself.
type listedFile struct {
	field string
	path  string // "": the content is text
	text  string

	size, mtime int64 // set by stat
}

// samplesInPart is the number of samples per part of a list: parts are indexed concurrently.
const samplesInPart = 4096

// Prefixes of a source, as in tarp's recipes: text, a path, and a command, which is refused.
const (
	textWord = "text:"
	fileWord = "file:"
	pipeWord = "pipe:"
)

// OpenList reads a list of lines "NAME SOURCE", separated by a tab or blanks. NAME is the file's name as in a
// WebDataset tar: its key and the suffix that names the field. SOURCE is a path, relative to root unless it is
// absolute, with or without the prefix file:, or text:CONTENT. Empty lines and lines that begin with # are ignored.
// name is the list's name for messages. Only the options KeepDuplicates, MaxSample and Load are used.
func OpenList(r io.Reader, name, root string, opts Options) (*list, error) {
	opts.MaxSample = cmp.Or(max(0, opts.MaxSample), DefaultMaxSample)
	opts.MaxSample = min(opts.MaxSample, maxSample)
	l := &list{opts: opts}
	var names scan.FieldNames
	keys := make(map[string]bool)
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxPathLine)
	fail := func(line int64, entry string, err error, hint string) error {
		return &converters.Error{Where: name, Off: -1, Entry: entry, Err: fmt.Errorf("line %d: %w", line, err), Hint: hint}
	}
	line := int64(0)
	var last *listedSample
	for in.Scan() {
		line++
		text := strings.TrimSuffix(in.Text(), "\r")
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if strings.TrimSpace(text) == "" || text[0] == '#' {
			continue
		}
		file, source := cutLine(text)
		if source == "" {
			return nil, fail(line, file, fmt.Errorf("%w: want NAME SOURCE", converters.ErrMalformed), "")
		}
		if err := checkName([]byte(file)); err != nil {
			return nil, fail(line, file, err, "")
		}
		dir, base := path.Split(file)
		dot := splitName([]byte(dir), []byte(base))
		if dot < 0 {
			return nil, fail(line, file, fmt.Errorf("%w: the name has no suffix, which names the field", converters.ErrUnsupported), "")
		}
		field, err := names.Of([]byte(base[dot+1:]))
		if err != nil {
			return nil, fail(line, file, err, "")
		}
		key := dir + base[:dot]
		if last == nil || last.key != key {
			if keys[key] && !opts.KeepDuplicates {
				return nil, fail(line, file, fmt.Errorf("%w key: other lines come between it and the sample that has it", converters.ErrDuplicate), "option on-duplicate-key keep")
			}
			keys[key] = true
			last = l.add(name, key, line)
		}
		for i := range last.files {
			if last.files[i].field == field {
				return nil, fail(line, file, fmt.Errorf("%w field %q", converters.ErrDuplicate, field), "")
			}
		}
		f := listedFile{field: field}
		if content, ok := strings.CutPrefix(source, textWord); ok {
			f.text = content
		} else if f.path = strings.TrimPrefix(source, fileWord); strings.HasPrefix(source, pipeWord) || source == "-" || f.path == "" {
			return nil, fail(line, file, fmt.Errorf("%w: a source %.40q", converters.ErrUnsupported, source), "name a file; run a command first, and name what it wrote")
		} else if !filepath.IsAbs(f.path) {
			f.path = filepath.Join(root, f.path)
		}
		last.files = append(last.files, f)
	}
	if err := in.Err(); err != nil {
		return nil, fail(line+1, "", err, "")
	}
	return l.with(l.parts), nil
}

// maxPathLine is the longest line of a list, in bytes. A path has at most 4 KiB; a text may be longer.
const maxPathLine = 1 << 20

// cutLine splits a line at its first tab, or else at its first blanks.
func cutLine(line string) (name, source string) {
	name, source, ok := strings.Cut(line, "\t")
	if !ok {
		name, source, _ = strings.Cut(line, " ")
	}
	return name, strings.TrimLeft(source, " \t")
}

// add begins a sample, and a new part if the last one is full.
func (l *list) add(name, key string, line int64) *listedSample {
	n := len(l.each)
	if n == 0 || len(l.each[n-1].samples) == samplesInPart {
		if n > 0 {
			name = fmt.Sprintf("%s:%d", name, line)
		}
		l.parts, l.each = append(l.parts, converters.Part{Name: name}), append(l.each, &listPart{name: name})
		n++
	}
	p := l.each[n-1]
	p.samples = append(p.samples, listedSample{key: key})
	return &p.samples[len(p.samples)-1]
}

func (l list) with(parts []converters.Part) *list {
	l.parts = nil
	l.Source = scan.New(parts, scan.Format{
		Unit: "sample", Reader: func() scan.Reader { return &listReader{of: &l} },
		With: func(first int, parts []converters.Part) converters.Source {
			some := l
			some.each = l.each[first : first+len(parts)]
			return some.with(parts)
		},
	})
	return &l
}
