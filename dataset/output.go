package dataset

import (
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/place"
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
	*Dir
	name   string // see Name; "": the path of the directory
	bucket Bucket // keeps the dataset, of which the directory is the scratch; nil: the directory does
	// Sign, if not nil, returns the signature of a manifest, which is written beside it.
	Sign func(manifest []byte) ([]byte, error)
}

// Open makes the directory where there is none and locks it. A directory that
// another process writes to is [ErrLocked].
func Open(dir string) (*Output, error) {
	d, err := OpenDir(dir)
	if err != nil {
		return nil, err
	}
	o := &Output{Dir: d}
	if err := o.ownFiles(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return o, nil
}

// OpenShared opens a directory for one task of several, which other processes that did the
// same may write to at the same time. It is made where there is none, and stays.
func OpenShared(dir string) (*Output, error) {
	d, err := openDir(dir, true)
	if err != nil {
		return nil, err
	}
	if err := d.ownDirs(IndexDir); err != nil { // Slice looks at the files of the task: a dataset has 200,000 shards, a task has 20
		return nil, errors.Join(err, d.Close())
	}
	return &Output{Dir: d}, nil
}

// ownFiles refuses a link or a file in the place of a directory of the dataset, and a directory in the place of a file of the dataset.
func (o *Output) ownFiles() error {
	if err := o.ownDirs(append(slices.Clone(workDirs), IndexDir)...); err != nil {
		return err
	}
	for _, dir := range []string{".", IndexDir} {
		names, err := readNames(o.Root, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name = path.Join(dir, name); datasetFile.MatchString(name) {
				if err := o.noDirectory(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Close unlocks the directory; see [Dir.Close]. The scratch of a dataset that a bucket keeps is removed.
func (o *Output) Close() error {
	if o.bucket != nil {
		return o.closeScratch()
	}
	return o.Dir.Close()
}

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
	if o.shared {
		return o.Temp("") + "/cache"
	}
	return CacheName
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
