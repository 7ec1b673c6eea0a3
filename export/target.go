package export

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/place"
)

const manifestVersion = 1

// errOccupied reports a target with files that are not of this export.
var errOccupied = place.New(place.Usage, "the target is not empty")

// errMissing reports a missing file of a finished export.
var errMissing = place.New(place.Refused, "it is missing, though its export is finished")

// A Manifest describes a finished export. Tars write it last; of a folder only the Report has it.
type Manifest struct {
	Version      int             `json:"ffconvert_export"`
	Tool         string          `json:"tool"`
	Created      time.Time       `json:"created"`
	Format       string          `json:"format"`
	Request      string          `json:"request_sha256"`                   // digest of the samples and of the options
	Source       string          `json:"source_manifest_sha256,omitempty"` // of the dataset that was exported
	Options      json.RawMessage `json:"options"`
	Verified     bool            `json:"verified"` // each file was read again and compared
	VerifiedFrom aio.Origin      `json:"verified_from,omitempty"`
	Totals       totals          `json:"totals"`
	Again        string          `json:"again,omitempty"`     // command that rebuilds the shards of the dataset, byte for byte
	NotAgain     string          `json:"not_again,omitempty"` // reason why no command does
	Files        []File          `json:"files"`
}

// totals are the sums over the files of an export.
type totals struct {
	Files   int64 `json:"files"`
	Samples int64 `json:"samples"`
	Fields  int64 `json:"fields"`
	Bytes   int64 `json:"bytes"` // of all files

	LeftOut int64 `json:"samples_left_out,omitempty"` // samples of the source that were not chosen or lack a field
}

// A File is a file of an export: a tar, or all files of one piece of a folder.
type File struct {
	Name    string `json:"name"`
	Samples int64  `json:"samples"`
	Fields  int64  `json:"fields"`
	Bytes   int64  `json:"bytes"`
	CRC     uint32 `json:"crc32"` // CRC-32 (as in zlib) of all its bytes
}

// A finished file has its final name.
type finished struct {
	File
	Verified bool       `json:"verified"`
	From     aio.Origin `json:"verified_from,omitempty"`
}

type journalHead struct {
	Request string `json:"request_sha256"`
}

// A target is the directory of an export, with the journal of finished files.
type target struct {
	*dataset.Dir
	manifest string // name of the manifest
	journal  string // name of the journal
	request  string

	mu   sync.Mutex
	file *os.File            // nil: not begun
	done map[string]finished // by name

	whole   int64 // bytes of the journal of earlier runs
	resumed bool  // an earlier run began this export
	kept    bool  // keep the journal even without a finished file
}

// openTarget opens and locks a directory, which it creates if necessary. name is the name of the manifest. earlier is
// the manifest of the same export, if it is finished.
func openTarget(dir, name, request string) (t *target, earlier *Manifest, err error) {
	out, err := dataset.OpenDir(dir)
	if err != nil {
		return nil, nil, err
	}
	t = &target{Dir: out, manifest: name, journal: path.Join(dataset.WorkDir, path.Base(name)+".journal"), request: request, done: make(map[string]finished)}
	if earlier, err = t.look(); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return t, earlier, nil
}

// look reads the state that earlier runs left. earlier is the manifest of the same export, if it is finished.
func (t *target) look() (earlier *Manifest, err error) {
	if err := t.RemoveStale(); err != nil {
		return nil, err
	}
	text, err := t.ReadFile(t.manifest)
	if err == nil {
		earlier = &Manifest{}
		if err = json.Unmarshal(text, earlier); err != nil || earlier.Request != t.request {
			return nil, t.occupied(t.manifest, "another export is there; name another directory, or remove it")
		}
		return earlier, t.Remove(t.journal) // of a run that was killed just before it ended
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := t.readJournal(); err != nil || t.resumed {
		return nil, err
	}
	for _, name := range []string{dataset.ManifestName, dataset.PlanName} {
		if name == dataset.ManifestName && t.manifest == folderManifest {
			continue // a folder may have such a file
		}
		if st, err := t.Lookup(name); err != nil {
			return nil, err
		} else if st != nil {
			return nil, t.occupied(name, datasetThere)
		}
	}
	return nil, nil
}

const datasetThere = "a dataset of FFRecord shards is there; name another directory"

// occupied returns the error for a file that is in the way.
func (t *target) occupied(name, what string) error {
	return &place.Error{Where: t.Path(name), Off: -1, Err: errOccupied, Hint: what, Kind: place.Usage}
}

// readJournal reads the journal of an earlier run, if it exists.
func (t *target) readJournal() error {
	text, err := t.ReadFile(t.journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	t.whole = checksum.WholeLines(text, func(line []byte) bool {
		if !t.resumed {
			var head journalHead
			if checksum.Decode(line, &head) != nil || head.Request != t.request {
				err = t.occupied(t.journal, "another export was begun there; run its command, or remove what it has left")
				return false
			}
			t.resumed = true
			return true
		}
		var f finished
		if checksum.Decode(line, &f) != nil {
			return false
		}
		t.done[f.Name] = f
		return true
	})
	return err
}

// begin opens the journal at the end of its last whole line, or creates it. It never removes entries of earlier runs,
// so that a killed run loses none.
func (t *target) begin() (err error) {
	if err := t.Mkdir(t.Temp("")); err != nil {
		return err
	}
	if t.file, err = t.OpenFile(t.journal); err != nil {
		return err
	}
	if err := checksum.ResumeLines(t.file, t.whole, journalHead{t.request}); err != nil || t.whole > 0 {
		return err
	}
	// Before a tar has its name: without the journal it would be a file of others.
	return cmp.Or(t.file.Sync(), t.SyncNames(dataset.WorkDir))
}

// add adds a finished file, which has its final name, to the journal.
func (t *target) add(f finished) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done[f.Name] = f
	return checksum.PutLine(t.file, f)
}

// commit writes the manifest, which completes the export, and removes the journal.
func (t *target) commit(m *Manifest) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(m); err != nil {
		return err
	}
	if err := t.WriteFile(t.manifest, text.Bytes()); err != nil {
		return err
	}
	return t.closeJournal()
}

// clear removes the journal, and the manifest of an earlier version, so that only exported files remain after Close.
func (t *target) clear() error {
	return errors.Join(t.Remove(t.manifest), t.closeJournal())
}

// closeJournal removes the journal, which was begun.
func (t *target) closeJournal() error {
	err := t.file.Close()
	t.file = nil
	return errors.Join(err, t.Remove(t.journal))
}

// Close closes the target. Finished files and their journal stay.
func (t *target) Close() error {
	var err error
	if t.file != nil {
		if err = t.file.Close(); len(t.done) == 0 && !t.kept {
			err = errors.Join(err, t.Remove(t.journal))
		}
	}
	return errors.Join(err, t.Dir.Close())
}

// list returns the names in the directory, except hidden ones.
func (t *target) list() (names []string, err error) {
	d, err := t.Root.Open(".")
	if err != nil {
		return nil, err
	}
	names, err = d.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, ".") })
	slices.Sort(names)
	return names, errors.Join(err, d.Close())
}

// has reports whether a finished file exists with its size.
func (t *target) has(f File) (bool, error) {
	st, err := t.Lookup(f.Name)
	if err != nil || st == nil {
		return false, err
	}
	if !st.Mode().IsRegular() || st.Size() != f.Bytes {
		return false, t.occupied(f.Name, fmt.Sprintf("it is not the file of %d bytes that was exported there; remove it", f.Bytes))
	}
	return true, nil
}
