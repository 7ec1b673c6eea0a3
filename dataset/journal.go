package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Journal records the progress of a plan: a line for each finished shard, appended and synced once the shard has its
// final name, and a line for each shard that was found damaged later. Each line begins with the CRC-32 of its JSON in
// hexadecimal, which shows a torn last line. The first line names the plan and the state of the sources.
type Journal struct {
	mu       sync.Mutex
	dir      *Dir
	open     func() (*os.File, error) // opens it for the first line
	file     *os.File                 // nil: not opened yet
	whole    int64                    // length of the sound prefix of JournalName
	head     journalHead
	unsynced bool                // its last line may be: append or Close syncs it
	Done     map[string]Finished // by shard name: shards with their final name that are not known to be damaged
	Was      map[string]Finished // by shard name: shards that were ever finished; written anew, they must have the same bytes
	Mended   bool                // it was begun by this run, or cut after its last sound line
	Bad      int                 // number of the first damaged line of JournalName; 0: none
	Changed  error               // a source that was modified since the journal was begun; nil: none
}

type journalHead struct {
	Plan  string      `json:"plan"`             // digest
	Pins  []files.Pin `json:"pins"`             // version of each source: time, ETag or checksum; "": its changes cannot be detected
	Named []string    `json:"named,omitempty"`  // the sources, as the user named them
	Sums  bool        `json:"sha256,omitempty"` // the SHA-256 of all files are wanted
}

// Finished describes a shard that has its final name.
type Finished struct {
	ManifestShard
	Verified bool        `json:"verified"`                // re-read and checked
	From     aio.Origin  `json:"verified_from,omitempty"` // where the bytes were read from
	At       int64       `json:"at,omitempty"`            // when it was finished, Unix seconds
	Parts    []plan.Part `json:"parts,omitempty"`         // of a part-aligned plan: the shard's parts with their accounts
	Stored   *Stored     `json:"stored,omitempty"`        // of a dataset that a bucket keeps
}

// partsOf looks up the parts of a finished shard.
func partsOf(shards map[string]Finished) func(shard string) []plan.Part {
	return func(shard string) []plan.Part { return shards[shard].Parts }
}

// A journalLine is any but the first: a finished shard, or the name of one that was found damaged.
type journalLine struct {
	Finished
	Void string `json:"void,omitempty"`
}

type journalVoid struct {
	Void string `json:"void"`
}

// pins returns the state of sources as a journal keeps it: of a file its time, of many files a
// hash of their times, of an object its ETag, version or checksum.
func pins(plan *plan.Plan, src []converters.Part) []files.Pin {
	pins := make([]files.Pin, len(src))
	for i, p := range src {
		switch {
		case p.Copy != nil:
			pins[i] = p.Copy.Mark
		case p.Path == "" && plan.Parts[i].Modified != 0:
			pins[i] = files.PinOf("times", strconv.FormatInt(plan.Parts[i].Modified, 10))
		case p.Path != "":
			pins[i] = files.PinOfTime(p.ModTime)
		}
	}
	return pins
}

// Compare looks for sources that have changed since the journal was begun: src, of which the first
// is the dataset's part first, and part 0 of p.
func (j *Journal) Compare(p *plan.Plan, first int, src []converters.Part) {
	for i, now := range pins(p, src) {
		was := j.head.Pins[first+i]
		how, other := was.Differs(now)
		if was != "" && now == "" && src[i].Copy != nil {
			how, other = "its service no longer tells one state from another", true
		}
		if other {
			j.Changed = plan.ErrorChanged(src[i].Name, "it was modified since its conversion was begun: "+how)
			return
		}
	}
}

func newJournal(d *Dir) *Journal {
	return &Journal{dir: d, Done: make(map[string]Finished), Was: make(map[string]Finished)}
}

// lineAt is the number of the line that begins at off, counted from 1.
func lineAt(data []byte, off int64) int { return 1 + bytes.Count(data[:off], []byte{'\n'}) }

// read takes the lines of a journal and returns the length of its sound prefix in bytes.
func (j *Journal) read(data []byte) (whole int64) {
	first := true
	return checksum.WholeLines(data, func(text []byte) bool {
		if first {
			first = false
			return checksum.Decode(text, &j.head) == nil
		}
		var l journalLine
		if checksum.Decode(text, &l) != nil || l.Void == "" && !shardName().MatchString(l.Name) {
			return false
		}
		if l.Void != "" {
			delete(j.Done, l.Void)
		} else {
			j.Done[l.Name], j.Was[l.Name] = l.Finished, l.Finished
		}
		return true
	})
}

// append adds a line and brings it to the device.
func (j *Journal) append(v any) (err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		if j.file, err = j.open(); err != nil {
			return err
		}
	}
	j.unsynced = false
	return checksum.PutLine(j.file, v)
}

// Line returns the line of a finished shard, as the journal has it.
func (f *Finished) Line() ([]byte, error) { return checksum.Line(f) }

// ElsewhereJournal returns the text of a journal for a copy of the dataset. It drops the versions and checksums of
// objects, which hold only in the object store that the dataset is copied from. It keeps damaged lines unchanged.
func ElsewhereJournal(text []byte) ([]byte, error) {
	var b []byte
	for line := range bytes.Lines(text) {
		body, ok := checksum.CheckLine(bytes.TrimSuffix(line, []byte{'\n'}))
		var f Finished
		if ok && checksum.Decode(body, &f) == nil && f.Stored != nil {
			f.Stored = nil
			var err error
			if line, err = f.Line(); err != nil {
				return nil, err
			}
		}
		b = append(b, line...)
	}
	return b, nil
}

// Add enters a finished shard.
func (j *Journal) Add(f Finished) error {
	if err := j.append(f); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.Done[f.Name], j.Was[f.Name] = f, f
	return nil
}

// Void records that a shard is damaged, so that the next run writes it again if this one is stopped before it does.
func (j *Journal) Void(name string) error {
	if _, ok := j.Done[name]; !ok {
		return nil
	}
	if err := j.append(journalVoid{name}); err != nil {
		return err
	}
	delete(j.Done, name)
	return nil
}

// MustBe returns an error if a shard that was written again differs from what the journal says of it. A SHA-256 is
// compared if both have one.
func (j *Journal) MustBe(done *Finished) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	was, ok := j.Was[done.Name]
	if was.NotWhole == 0 { // an earlier version did not look
		was.NotWhole, was.FirstNot = done.NotWhole, done.FirstNot
	}
	if !ok || was.ManifestShard.is(done.ManifestShard) {
		return nil
	}
	if was.Bytes == done.Bytes && was.HeaderCRC == done.HeaderCRC {
		return plan.ErrorChanged(done.Name, "its sources give other bytes with the same checksums")
	}
	return plan.ErrorChanged(done.Name, fmt.Sprintf("its sources give %d bytes with the header checksum %08x, it had %d with %08x", done.Bytes, done.HeaderCRC, was.Bytes, was.HeaderCRC))
}

// Plan returns the digest of the plan.
func (j *Journal) Plan() string { return j.head.Plan }

// Lookup returns the entry of a finished shard.
func (j *Journal) Lookup(name string) (Finished, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, ok := j.Done[name]
	return f, ok
}

// Knew reports whether a shard of that name was ever finished.
func (j *Journal) Knew(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.Was[name]
	return ok
}

// verified reports whether every shard of a plan was re-read and checked, and where from.
func (j *Journal) verified(p *plan.Plan) (yes bool, from aio.Origin) {
	for i := range p.Shards {
		done := j.Done[p.Shards[i].Name]
		if !done.Verified {
			return false, ""
		}
		from = from.And(done.From)
	}
	return true, from
}

func (j *Journal) Close() error {
	if j.file == nil {
		return nil
	}
	var err error
	if j.unsynced {
		err = j.file.Sync()
	}
	return errors.Join(err, j.file.Close())
}
