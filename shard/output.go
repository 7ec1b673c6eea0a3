package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// Names below an output directory.
const (
	ManifestName = "manifest.json"
	metaName     = "meta.json"
	indexDir     = "index"
	WorkDir      = ".ffconvert"
	planName     = WorkDir + "/plan"
	journalName  = WorkDir + "/journal"
	lockName     = WorkDir + "/lock"
	tmpDir       = WorkDir + "/tmp"
)

var (
	// ErrOccupied says that an output directory holds another dataset.
	ErrOccupied = errors.New("already holds another dataset")
	// ErrLocked says that another process writes to an output directory.
	ErrLocked = errors.New("another ffconvert is writing there")
)

// shardName is what a shard of ours is called.
var shardName = regexp.MustCompile(`^PART_[0-9]{5,}\.ffr$`)

// An Output is a directory that this process alone writes to. Everything in it is
// reached through an [os.Root], so that no link in it leads out.
type Output struct {
	dir     string
	root    *os.Root
	lock    *os.File
	created bool // the directory was not there before
	began   bool // it holds a plan of ours
}

// OpenOutput makes the directory where there is none and locks it. A directory that
// another process writes to is [ErrLocked].
func OpenOutput(dir string) (*Output, error) {
	_, err := os.Stat(dir)
	o := &Output{dir: dir, created: errors.Is(err, fs.ErrNotExist)}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	if o.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	if err := o.open(); err != nil {
		o.root.Close()
		return nil, err
	}
	return o, nil
}

// makeDir makes a directory and those above it, and makes their names durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	d, err := os.Open(parent)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// open makes the working directory, locks it, and looks whether a plan was begun there.
func (o *Output) open() error {
	if err := o.mkdir(WorkDir); err != nil {
		return fmt.Errorf("open output: %w", err)
	}
	if err := o.acquire(); err != nil {
		return err
	}
	o.began = o.has(planName)
	return nil
}

// Close unlocks the directory. One in which nothing was begun is left as it was found.
func (o *Output) Close() error {
	if !o.began {
		o.root.RemoveAll(tmpDir)
		o.root.Remove(lockName)
		o.root.Remove(WorkDir)
		if o.created {
			os.Remove(o.dir) // only if it is empty
		}
	}
	return errors.Join(o.lock.Close(), o.root.Close())
}

// Check says whether a dataset may be written here, from what is known of it before its
// sources are read: into a directory without one, or one where a conversion of the same
// sources with the same options was begun. Otherwise it is [ErrOccupied], unless
// overwrite is set. Where the parts (nil) or the encoding ("") are not known yet, they
// are not compared. Write checks the whole plan once more.
func (o *Output) Check(opts Options, sources []string, overwrite bool) error {
	begun, err := o.vacancy(overwrite)
	if err != nil || begun == nil {
		return err
	}
	same := sources == nil || slices.EqualFunc(begun.Parts, sources, func(p Part, name string) bool { return p.Name == name })
	if opts.Encode.Encoding == "" {
		opts.Encode.Encoding = begun.Encode.Encoding
	}
	if same && reflect.DeepEqual(begun.Source, opts.Source) && reflect.DeepEqual(begun.Encode, opts.Encode) && reflect.DeepEqual(begun.Shuffle, opts.Shuffle) {
		return nil
	}
	return o.occupied()
}

// vacancy returns the plan that was begun here, nil where the directory is free, or is
// made free by overwrite.
func (o *Output) vacancy(overwrite bool) (*Plan, error) {
	shards, err := o.shards()
	if err != nil {
		return nil, err
	}
	for _, name := range shards {
		if !shardName.MatchString(name) {
			return nil, fmt.Errorf("%s: %w: it has %s, which readers would take for a part of this one; move it away", o.dir, ErrOccupied, name)
		}
	}
	if overwrite {
		return nil, nil
	}
	f, err := o.root.Open(planName)
	if errors.Is(err, fs.ErrNotExist) {
		if len(shards) > 0 || o.has(ManifestName) {
			return nil, o.occupied()
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plan, err := ReadPlan(f)
	if err != nil {
		return nil, fmt.Errorf("%w (its %w)", o.occupied(), err)
	}
	return plan, nil
}

func (o *Output) occupied() error {
	return fmt.Errorf("%s: %w, or one made with other options; --overwrite replaces it", o.dir, ErrOccupied)
}

// begin prepares the directory for writing the plan and returns what a run before has
// finished of it.
func (o *Output) begin(plan *Plan, digest string, src []converters.Part, overwrite bool) (*journal, error) {
	begun, err := o.vacancy(overwrite)
	if err != nil {
		return nil, err
	}
	if begun != nil {
		if other, err := begun.Digest(); err != nil || other != digest {
			return nil, errors.Join(err, o.occupied())
		}
	} else if err := o.clear(); err != nil {
		return nil, err
	}
	o.began = true
	if err := o.root.RemoveAll(tmpDir); err != nil {
		return nil, err
	}
	for _, dir := range []string{tmpDir, indexDir} {
		if err := o.mkdir(dir); err != nil {
			return nil, err
		}
	}
	if !o.has(planName) {
		if err := o.write(planName, plan); err != nil {
			return nil, err
		}
	}
	return openJournal(o.root, plan, digest, src)
}

// clear removes a dataset, its manifest first, so that it is at no time half there and
// taken for whole.
func (o *Output) clear() error {
	shards, err := o.shards()
	if err != nil {
		return err
	}
	if err := o.remove(ManifestName); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(o.root, "."); err != nil {
		return err
	}
	for _, name := range append(shards, metaName, journalName, planName) {
		if err := o.remove(name); err != nil {
			return err
		}
	}
	return o.root.RemoveAll(indexDir)
}

// shards lists the names here that readers take for shards.
func (o *Output) shards() ([]string, error) {
	d, err := o.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	shards := names[:0]
	for _, name := range names {
		if strings.HasSuffix(name, record.Ext) {
			shards = append(shards, name)
		}
	}
	return shards, nil
}

func (o *Output) has(name string) bool {
	_, err := o.root.Lstat(name)
	return err == nil
}

func (o *Output) remove(name string) error {
	if err := o.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (o *Output) mkdir(name string) error { return o.root.MkdirAll(name, 0o755) }

// tmp is the temporary name of a file.
func tmp(name string) string { return path.Join(tmpDir, path.Base(name)+".tmp") }

// path is where a file is, for those that open by path.
func (o *Output) path(name string) string { return filepath.Join(o.dir, name) }
