package dataset

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Names below an output directory.
const (
	ManifestName  = "manifest.json"
	SignatureName = ManifestName + ".minisig" // of a dataset that was signed
	MetaName      = "meta.json"
	IndexDir      = "index"
	WorkDir       = ".ffconvert"
	PlanName      = WorkDir + "/plan" // kept for a repair
	JournalName   = WorkDir + "/journal"
	CopyName      = WorkDir + "/copy" // of a copy that is not complete: which manifest it is of, see package transfer
	KeysName      = WorkDir + "/keys" // derived: where the sample of each key is, see package lookup
	LockName      = WorkDir + "/lock"
	JournalsDir   = WorkDir + "/journals" // of tasks
	RunningDir    = WorkDir + "/running"  // claims
	TmpDir        = WorkDir + "/tmp"      // a directory a process
	CacheName     = WorkDir + "/cache"    // of staged inputs
)

var (
	// ErrOccupied says that an output directory holds another dataset.
	ErrOccupied = errors.New("already holds another dataset")
	// ErrUnfinished says that a dataset has no manifest: its conversion, or its copy, has not ended.
	ErrUnfinished = place.New(place.Refused, "the dataset is not finished (run the command that made it again; if it was planned for tasks, ffconvert run and finish)")
	// ErrLocked says that another process writes to an output directory.
	ErrLocked = errors.New("another ffconvert is writing there")
)

// shardName is what a shard of ours is called.
var shardName = regexp.MustCompile(`^PART_[0-9]{5,}\.ffr$`)

// datasetFile matches the names of shards, of indexes and of the files beside them.
var datasetFile = regexp.MustCompile(`^(PART_[0-9]{5,}\.ffr|index/PART_[0-9]{5,}\.arrow|meta\.json|manifest\.json|manifest\.json\.minisig)$`)

// IsDatasetFile reports whether a name is that of a shard, of an index or of a file beside them.
func IsDatasetFile(name string) bool { return datasetFile.MatchString(name) }

// An Output is a directory that this process writes to. Everything in it is reached through
// an [os.Root], so that no link in it leads out.
//
// Who opened it closes it. Functions of package shard leave it open, and use it from many goroutines themselves; one of them at a
// time may be given it.
type Output struct {
	dir    string
	name   string // see Name; "": dir
	bucket Bucket // keeps the dataset, of which dir is the scratch; nil: dir does
	Root   *os.Root
	token  string   // of this process; no other one has it
	lock   *os.File // nil: the file system has no locks
	Shared bool     // other tasks may write here, too
	// Objects are those that a bucket has of the dataset and, below [IndexDir], all others; nil: no bucket keeps it.
	Objects *store.Listing
	// ReadsBack: of what a bucket keeps, all bytes are read again after their upload, and compared.
	ReadsBack bool
	// Sign, if not nil, returns the signature of a manifest, which is written beside it.
	Sign    func(manifest []byte) ([]byte, error)
	other   bool // it receives no dataset, see OpenOther
	created bool // the directory was not there before
	began   bool // it holds a plan of ours
}

// Open makes the directory where there is none and locks it. A directory that
// another process writes to is [ErrLocked].
func Open(dir string) (*Output, error) { return open(dir, false) }

// OpenOther is Open for files that are no dataset: of the directory only [WorkDir] is ours, and names of a dataset
// have no meaning there.
func OpenOther(dir string) (*Output, error) { return open(dir, true) }

func open(dir string, other bool) (*Output, error) {
	_, err := os.Stat(dir)
	o := &Output{dir: dir, token: NewToken(), other: other, created: errors.Is(err, fs.ErrNotExist)}
	if err != nil && !o.created {
		return nil, err
	}
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	return o.open()
}

// OpenShared opens a directory for one task of several, which other processes that did the
// same may write to at the same time. It is made where there is none, and stays.
func OpenShared(dir string) (*Output, error) {
	if err := makeDir(dir); err != nil {
		return nil, err
	}
	return (&Output{dir: dir, token: NewToken(), Shared: true}).open()
}

// NewToken names a process, on whatever machine: no other has its token.
func NewToken() string { return strings.ToLower(rand.Text()[:13]) }

// makeDir makes a directory and its missing parents, and makes their names durable.
func makeDir(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := makeDir(parent); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return atomicfile.SyncPath(parent)
}

// open makes the working directory, locks it, and looks whether a plan was begun there.
func (o *Output) open() (*Output, error) {
	var err error
	if o.Root, err = os.OpenRoot(o.dir); err != nil {
		return nil, err
	}
	if err = o.ownDirs(); err == nil {
		if err = o.Mkdir(WorkDir); err != nil {
			err = fmt.Errorf("%s: %w", o.dir, err)
		}
	}
	if err == nil {
		err = o.acquire()
	}
	if err != nil {
		o.Root.Close()
		return nil, err
	}
	if o.began, err = o.has(PlanName); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

// ownDirs refuses a link or a file in the place of a directory of the dataset, and a directory in the
// place of one of its files. Files in these directories are removed and replaced; a link would lead to
// other files, even inside the output.
func (o *Output) ownDirs() error {
	for _, name := range []string{WorkDir, TmpDir, RunningDir, JournalsDir, IndexedDir, IndexDir} {
		if name == IndexDir && o.other {
			continue
		}
		if err := o.ownDir(name); err != nil {
			return err
		}
	}
	if o.other {
		return nil
	}
	if o.Shared { // Slice looks at the files of the task: a dataset has 200,000 shards, a task has 20
		return nil
	}
	for _, dir := range []string{".", IndexDir} {
		names, err := readNames(o.Root, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name = path.Join(dir, name); !datasetFile.MatchString(name) {
				continue
			}
			if err := o.noDirectory(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// noDirectory refuses a directory in the place of a file of the dataset: no file can be given its name.
func (o *Output) noDirectory(name string) error {
	st, err := o.Lookup(name)
	if err == nil && st != nil && st.IsDir() {
		err = fmt.Errorf("%s: %w: a directory in the place of a file; move it away", o.Path(name), converters.ErrUnsupported)
	}
	return err
}

func (o *Output) ownDir(name string) error {
	st, err := o.Lookup(name)
	if err == nil && st != nil && !st.IsDir() {
		err = fmt.Errorf("%s: %w: a link or another thing that is not a directory; move it away", o.Path(name), converters.ErrUnsupported)
	}
	return err
}

// Close unlocks the directory. One in which nothing was begun is left as it was found.
func (o *Output) Close() error {
	if o.bucket != nil {
		return o.closeScratch()
	}
	o.Root.RemoveAll(o.Temp(""))
	if !o.began && !o.Shared {
		for _, name := range []string{TmpDir, RunningDir, LockName, WorkDir} {
			o.Root.Remove(name)
		}
		if o.created && o.Here(nil) == nil {
			o.removeDir()
		}
	}
	return errors.Join(o.release(), o.Root.Close())
}

// removeDir removes the directory if it is empty.
func (o *Output) removeDir() error { return os.Remove(o.dir) }

// Begin writes a plan into the directory, so that this process and others can write its shards.
// named are the sources as the user named them. The same plan may have been begun before; another one
// is [ErrOccupied] unless overwrite is set, and sources that have changed since are
// [converters.ErrChanged]. The plan is changed as by [Output.KeepForm].
func (o *Output) Begin(plan *plan.Plan, src []converters.Part, named []string, overwrite bool) error {
	if !overwrite {
		if err := o.KeepForm(plan); err != nil {
			return err
		}
	}
	digest, err := plan.Digest()
	if err != nil {
		return err
	}
	j, err := o.BeginJournal(plan, digest, src, named, overwrite)
	if err != nil {
		return err
	}
	return errors.Join(j.Changed, j.Close())
}

// BeginJournal prepares the directory for writing the plan and returns what a run before has
// finished of it.
func (o *Output) BeginJournal(plan *plan.Plan, digest string, src []converters.Part, named []string, overwrite bool) (*Journal, error) {
	c, err := o.existing(overwrite)
	if err != nil {
		return nil, err
	}
	if err := o.alone(); err != nil { // before anything of theirs is removed
		return nil, err
	}
	switch {
	case overwrite && (c.plan != nil || c.damage != nil || len(c.ours) > 0):
		if err := o.clear(c); err != nil {
			return nil, err
		}
	case !overwrite && c.plan != nil && c.digest != digest:
		return nil, o.clash(c.plan, plan)
	}
	o.began = true
	if err := o.Mkdir(o.Temp("")); err != nil {
		return nil, err
	}
	planned, err := o.has(PlanName)
	if err != nil {
		return nil, err
	}
	if c.damage != nil || !planned {
		err := o.writeBeside(o.Temp(PlanName), PlanName, func(w io.Writer) error {
			_, err := plan.Write(w)
			return err
		})
		if err != nil {
			return nil, err
		}
		// From here on the directory is known as ours, even after a loss of power.
		if err := atomicfile.SyncDir(o.Root, "."); err != nil {
			return nil, err
		}
	}
	if err := o.Mkdir(IndexDir); err != nil {
		return nil, err
	}
	j, err := openJournal(o, journalHead{Plan: digest, Pins: Pins(plan, src), Named: named}, src)
	if err != nil {
		return nil, err
	}
	if o.bucket != nil {
		if err := o.bucket.Begin(); err != nil {
			return nil, errors.Join(err, j.Close())
		}
	}
	if !overwrite && c.manifest != nil && c.manifest.PlanDigest == digest {
		j.learn(c.manifest)
		for _, s := range c.manifest.Shards {
			if _, ok := j.Was[s.Name]; !ok { // the line was lost
				j.Was[s.Name] = Finished{ManifestShard: s, Verified: c.manifest.Verified, From: c.manifest.VerifiedFrom, At: c.manifest.Created.Unix()}
			}
		}
	}
	return j, nil
}

// Cache is the path of the directory in which inputs are staged. It need not exist. One that other
// processes may write beside is of this process alone.
func (o *Output) Cache() string { return o.Path(o.cache()) }

// CheckCache refuses a cache that would not be one: another kind of file has its name, or its path
// leads to another directory.
func (o *Output) CheckCache() error {
	if err := o.Here(nil); err != nil {
		return err
	}
	st, err := o.Lookup(o.cache())
	if err == nil && st != nil && !st.IsDir() {
		err = &converters.Error{Where: o.Cache(), Off: -1, Err: fmt.Errorf("%w: not a directory", converters.ErrUnsupported), Hint: "remove it"}
	}
	return err
}

// RemoveCache removes the staged copies.
func (o *Output) RemoveCache() error { return o.Root.RemoveAll(o.cache()) }

func (o *Output) cache() string {
	if o.Shared {
		return o.Temp("") + "/cache"
	}
	return CacheName
}

// Lookup describes a file of the directory; nil: there is none of that name.
func (o *Output) Lookup(name string) (fs.FileInfo, error) {
	st, err := o.Root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return st, err
}

// Begun reports whether a conversion or a copy was begun there.
func (o *Output) Begun() (bool, error) {
	for _, name := range []string{PlanName, CopyName} {
		if there, err := o.has(name); err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// has reports whether there is a file of that name.
func (o *Output) has(name string) (bool, error) {
	st, err := o.Lookup(name)
	return st != nil, err
}

func (o *Output) Remove(name string) error {
	if err := o.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (o *Output) Mkdir(name string) error { return o.Root.MkdirAll(name, 0o755) }

// Temp is the temporary name of a file, which is this process's alone; of "", the directory of
// them all.
func (o *Output) Temp(name string) string { return tmpOf(o.token, name) }

func tmpOf(token, name string) string {
	if name == "" {
		return path.Join(TmpDir, token)
	}
	return path.Join(TmpDir, token, path.Base(name)+".tmp")
}

// Path returns the path of a file, for code that opens by path.
func (o *Output) Path(name string) string { return filepath.Join(o.dir, name) }

// At is what a file of the dataset is called in messages: its path, or its URL.
func (o *Output) At(name string) string {
	if o.bucket == nil {
		return o.Path(name)
	}
	return strings.TrimSuffix(o.name, "/") + "/" + name
}

// IndexName is where the index of a shard is.
func IndexName(shard string) string {
	return IndexDir + "/" + strings.TrimSuffix(shard, record.Ext) + ".arrow"
}
