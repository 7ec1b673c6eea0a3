package dataset

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
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
	KeysName      = WorkDir + "/keys" // of earlier versions: a run that replaces the dataset removes it
	LockName      = WorkDir + "/lock"
	JournalsDir   = WorkDir + "/journals" // of tasks
	RunningDir    = WorkDir + "/running"  // claims
	TmpDir        = WorkDir + "/tmp"      // a directory a process
	cacheName     = WorkDir + "/cache"    // of staged inputs
)

var (
	// ErrOccupied says that an output directory holds another dataset.
	ErrOccupied = errors.New("already holds another dataset")
	// ErrUnfinished says that a dataset has no manifest: its conversion, or its copy, has not ended.
	ErrUnfinished = place.New(place.Refused, "the dataset is not finished (run the command that made it again; if it was planned for tasks, ffconvert run and finish)")
)

// shardName matches the names that the planner gives to shards.
var shardName = text.Pattern(`^PART_[0-9]{5,}\.ffr$`)

// datasetFile matches the names of the files of a finished dataset: shards, indexes, meta.json, the manifest, its signature.
var datasetFile = text.Pattern(`^(PART_[0-9]{5,}\.ffr|index/PART_[0-9]{5,}\.arrow|meta\.json|manifest\.json|manifest\.json\.minisig)$`)

// IsDatasetFile reports whether name is that of a file of a finished dataset: a shard, an index, meta.json, the manifest or its signature.
func IsDatasetFile(name string) bool { return datasetFile().MatchString(name) }

// IndexName is where the index of a shard is.
func IndexName(shard string) string {
	return IndexDir + "/" + strings.TrimSuffix(shard, record.Ext) + ".arrow"
}

// A Dataset is open for reading. None of its methods change a file. The caller that opened it closes it.
type Dataset struct {
	*Dir
	name   string // see Name; "": the path of the directory
	bucket Bucket // keeps the dataset, of which the directory is the scratch; nil: the directory does
	// Objects lists the dataset's objects in its bucket and everything below [IndexDir]; nil if no bucket keeps it.
	Objects *store.Listing
	// ReadsBack: of what a bucket keeps, all bytes are read again after their upload, and compared.
	ReadsBack bool
}

// View opens a directory for reading. It is neither made nor locked: another process may write there.
func View(dir string) (*Dataset, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Dataset{Dir: &Dir{path: dir, Root: root}}, nil
}

// Name is what the dataset is called in messages: its directory, or its URL.
func (d *Dataset) Name() string {
	if d.name != "" {
		return d.name
	}
	return d.path
}

// At is what a file of the dataset is called in messages: its path, or its URL.
func (d *Dataset) At(name string) string {
	if d.bucket == nil {
		return d.Path(name)
	}
	return strings.TrimSuffix(d.name, "/") + "/" + name
}

// InBucket reports whether a bucket keeps the dataset.
func (d *Dataset) InBucket() bool { return d.bucket != nil }

// origin is what files of the dataset were read from, if not from a device: the scheme of the bucket.
func (d *Dataset) origin(from aio.Origin) aio.Origin {
	if d.bucket == nil || from == "" {
		return from
	}
	scheme, _, _ := strings.Cut(d.name, "://")
	return aio.Origin(scheme)
}

// Begun reports whether a conversion or a copy was begun there.
func (d *Dataset) Begun() (bool, error) {
	if there, err := d.has(PlanName); err != nil || there {
		return there, err
	}
	return d.has(CopyName)
}

// Shards lists the names here that readers take for shards.
func (d *Dataset) Shards() ([]string, error) {
	names, err := readNames(d.Root, ".")
	if err != nil {
		return nil, err
	}
	if d.Objects != nil {
		names = append(names, d.Objects.Names("")...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, record.Ext) || strings.Contains(name, "/") }), nil
}

// ownFiles refuses a link or a file in the place of a directory of the dataset, and a directory in the place of a file
// of the dataset.
func (d *Dataset) ownFiles() error {
	if err := d.ownDirs(append(slices.Clone(workDirs), IndexDir)...); err != nil {
		return err
	}
	for _, dir := range []string{".", IndexDir} {
		names, err := readNames(d.Root, dir)
		if err != nil {
			return err
		}
		for _, name := range names {
			if name = path.Join(dir, name); datasetFile().MatchString(name) {
				if err := d.noDirectory(name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A File is open for reading. Its ReadAt may be called concurrently.
type File interface {
	io.ReaderAt
	io.Closer
}

// Open opens a shard or an index of a dataset that a bucket keeps, and says how many bytes it has. A shard is read by ranges. An
// index is downloaded whole when it is first opened, and was compared with its checksum.
func (d *Dataset) Open(name string) (File, int64, error) { return d.bucket.Open(name) }
