package dataset

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Tasks that index a dataset together leave a file each in .ffconvert/indexed, named by the task:
// 3-of-40. The process that plans the dataset takes the parts that are unchanged, and removes the files.
const IndexedDir = WorkDir + "/indexed"

var indexedName = text.Pattern(`^[0-9]+-of-[0-9]+$`)

// requestDigest is a digest of the options that decide an index, and of the names of all parts. It needs no part to be
// read.
func requestDigest(opts plan.Options, found []converters.Part) (string, error) {
	names := make([]string, len(found))
	for i := range found {
		names[i] = found[i].Name
	}
	return digestOf(struct {
		Plan   int
		Source plan.SourceSpec
		Encode encode.Options
		Names  []string
		Choice *choose.Options `json:",omitempty"`
	}{plan.FormatVersion, opts.Source, opts.Encode, names, opts.Choice})
}

// contentDigest is a digest of what decides how all parts are read and encoded and is known once the first parts were
// read: the description of the dataset and the encodings.
func contentDigest(desc converters.Description, enc plan.Encodings) (string, error) {
	return digestOf(struct {
		Dataset converters.Description
		Encode  encode.Options
		Encodes []encode.Options
		Of      []int
	}{desc, enc.Specs[0].Options(), enc.Options(), enc.Of})
}

func digestOf(v any) (string, error) {
	sum := sha256.New()
	err := json.NewEncoder(sum).Encode(v)
	return hex.EncodeToString(sum.Sum(nil)), err
}

func indexedNameOf(t plan.Task) string { return fmt.Sprintf("%d-of-%d", t.K, max(1, t.N)) }

// An Indexed holds the indexes of parts that tasks have saved. A nil Indexed is empty.
type Indexed struct {
	of      *Task
	request string // see requestDigest
	found   []converters.Part
	parts   map[int]indexedBy

	// Unused tells why files, or the ends of files, were ignored: damaged, or made from other sources or options. Their
	// parts must be indexed again.
	Unused []error
}

type indexedBy struct {
	content string
	index   plan.PartIndex
}

// Indexed returns what all tasks have saved of the parts that were found, without those that have changed since. The parts
// have their sizes as stored, -1 if unknown, and Copy.Mark. opts are the caller's, with the encoding that was named or
// none; those of what was saved must be equal. An error comes from the device.
func (t *Task) Indexed(opts plan.Options, found []converters.Part) (*Indexed, error) {
	names, err := readNames(t.Root, IndexedDir)
	if err != nil {
		return nil, err
	}
	return t.readIndexed(names, opts, found)
}

// IndexedBy is Indexed of what one task has saved.
func (t *Task) IndexedBy(task plan.Task, opts plan.Options, found []converters.Part) (*Indexed, error) {
	return t.readIndexed([]string{indexedNameOf(task)}, opts, found)
}

func (t *Task) readIndexed(names []string, opts plan.Options, found []converters.Part) (*Indexed, error) {
	wanted, err := requestDigest(opts, found)
	if err != nil {
		return nil, err
	}
	x := &Indexed{of: t, request: wanted, found: found, parts: make(map[int]indexedBy)}
	for _, name := range names {
		if !indexedName().MatchString(name) {
			continue // earlier versions left unfinished files here
		}
		switch err := x.readFile(path.Join(IndexedDir, name)); {
		case errors.Is(err, fs.ErrNotExist):
		case errors.Is(err, plan.ErrUnreadable):
			return nil, err
		case err != nil:
			x.Unused = append(x.Unused, fmt.Errorf("%s: %w", t.At(path.Join(IndexedDir, name)), err))
		}
	}
	return x, nil
}

func (x *Indexed) readFile(name string) error {
	f, err := openKept(x.of.Root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return newIndexedReader(f, x.request, x.found).read(func(number int, content string, idx plan.PartIndex) { x.parts[number] = indexedBy{content, idx} })
}

// Save writes the indexes of some of the parts, by part number, as the file of a task. It replaces an earlier file of
// the same task. desc and enc are the source's description and encodings. Tasks may save concurrently.
func (x *Indexed) Save(task plan.Task, desc converters.Description, enc plan.Encodings, index map[int]plan.PartIndex) error {
	head := indexedHead{Asked: x.request}
	var err error
	if head.Shown, err = contentDigest(desc, enc); err != nil {
		return err
	}
	t := x.of
	if err := t.Mkdir(IndexedDir); err != nil {
		return err
	}
	name := path.Join(IndexedDir, indexedNameOf(task))
	err = t.writeBeside(name, func(w io.Writer) error {
		return writeIndexed(w, head, x.found, index)
	})
	if err == nil {
		err = t.SyncNames(IndexedDir)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", t.Path(name), err)
	}
	return t.save(name)
}

// Len returns how many parts there are.
func (x *Indexed) Len() int {
	if x == nil {
		return 0
	}
	return len(x.parts)
}

// Get returns the index of a part, if it is there. It is a Known of [plan.IndexOptions].
func (x *Indexed) Get(part int) (plan.PartIndex, bool) {
	if x == nil || x.parts[part].content == "" {
		return plan.PartIndex{}, false
	}
	return x.parts[part].index, true
}

// Has reports whether a part is there.
func (x *Indexed) Has(part int) bool {
	_, ok := x.Get(part)
	return ok
}

// Keep drops parts that were indexed when the dataset had another description: other columns, or
// another encoding. It returns how many parts that were.
func (x *Indexed) Keep(desc converters.Description, enc plan.Encodings) (dropped int, err error) {
	if x.Len() == 0 {
		return 0, nil
	}
	now, err := contentDigest(desc, enc)
	if err != nil {
		return 0, err
	}
	for i, p := range x.parts {
		if p.content != now || p.index.Encode != enc.Number(i) {
			delete(x.parts, i)
			dropped++
		}
	}
	return dropped, nil
}

// DropIndexed removes what tasks have indexed: the plan has it.
func (t *Task) DropIndexed() error {
	if t.bucket != nil {
		names, err := readNames(t.Root, IndexedDir)
		if err != nil {
			return err
		}
		for i := range names {
			names[i] = path.Join(IndexedDir, names[i])
		}
		if err := t.bucket.Remove(names...); err != nil {
			return err
		}
	}
	return t.Root.RemoveAll(IndexedDir)
}
