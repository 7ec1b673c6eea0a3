package shard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/pin"
)

// A journal tells how far the writing of a plan is: a line a finished shard, appended and
// synced when the shard has its final name, and a line where one was found damaged later.
// Each line begins with the CRC-32 of its JSON, in hexadecimal, so that a torn last line
// is told from a whole one. The first line names the plan and the state of the sources.
type journal struct {
	mu      sync.Mutex
	open    func() (*os.File, error) // opens it for the first line
	file    *os.File                 // nil: not opened yet
	head    journalHead
	done    map[string]finished // by shard name: what has its final name and is sound, as far as is known
	was     map[string]finished // what was ever finished by this plan, and must become the same again
	mended  bool                // it was begun by this run, or cut after its last sound line
	bad     int                 // a line of the one journal that differs from its CRC, with its newline; 0: none
	changed error               // a source that was modified since the journal was begun; nil: none
}

type journalHead struct {
	Plan  string    `json:"plan"`            // digest
	Pins  []pin.Pin `json:"pins"`            // of each source; "": nothing tells when it has changed
	Named []string  `json:"named,omitempty"` // the sources, as the user named them
}

// finished is what is known of a shard that has its final name.
type finished struct {
	ManifestShard
	Verified bool       `json:"verified"`                // re-read and checked
	From     aio.Origin `json:"verified_from,omitempty"` // where that read it from
	At       int64      `json:"at,omitempty"`            // when it was finished, Unix seconds
	Parts    []Part     `json:"parts,omitempty"`         // in a plan of whole parts, those of the shard with their accounts
}

// partsOf looks up the parts of a finished shard.
func partsOf(shards map[string]finished) func(shard string) []Part {
	return func(shard string) []Part { return shards[shard].Parts }
}

// A journalLine is any but the first: a finished shard, or the name of one that no longer
// is what it was.
type journalLine struct {
	finished
	Void string `json:"void,omitempty"`
}

type journalVoid struct {
	Void string `json:"void"`
}

// pinsNow returns the state of sources as a journal keeps it: of a file its time, of many files a
// number drawn from their times, of an object what its service says.
func pinsNow(plan *Plan, src []converters.Part) []pin.Pin {
	pins := make([]pin.Pin, len(src))
	for i, p := range src {
		switch {
		case p.Copy != nil:
			pins[i] = p.Copy.Mark
		case p.Path == "" && plan.Parts[i].Modified != 0:
			pins[i] = pin.Of("times", strconv.FormatInt(plan.Parts[i].Modified, 10))
		case p.Path != "":
			pins[i] = pin.File(p.ModTime)
		}
	}
	return pins
}

// openJournal reads the journal of a run before, or begins one where there is none of
// this plan. Journals that tasks have left are folded into it.
func openJournal(o *Output, head journalHead, src []converters.Part) (*journal, error) {
	root := o.root
	j := newJournal()
	whole, err := j.readMain(root)
	if err != nil {
		return nil, err
	}
	if j.head.Plan != head.Plan || len(j.head.Pins) != len(src) {
		j, whole = newJournal(), 0
	}
	if whole == 0 {
		j.head = head
	}
	j.compare(head.Pins, 0, src)
	j.file, err = openOwn(root, journalName)
	if err != nil {
		return nil, err
	}
	if err := j.begin(whole, root); err != nil {
		j.file.Close()
		return nil, err
	}
	if err := j.foldTasks(o); err != nil {
		j.file.Close()
		return nil, err
	}
	return j, nil
}

// openKeptJournal opens the journal of a plan of so many parts, of which it must be, and reads
// what the journals of tasks have to add.
func openKeptJournal(o *Output, digest string, parts int) (*journal, error) {
	j := newJournal()
	whole, err := j.readMain(o.root)
	if err != nil {
		return nil, err
	}
	if whole == 0 || j.head.Plan != digest || len(j.head.Pins) != parts {
		return nil, &notItsJournal{o.dir, 0}
	}
	j.open = func() (*os.File, error) { return openOwn(o.root, journalName) }
	return j, j.readTasks(o.root, 0, maxShards)
}

// compare looks for sources that have changed since the journal was begun: src, of which the first
// is the dataset's part first, are pinned by now.
func (j *journal) compare(now []pin.Pin, first int, src []converters.Part) {
	for i := range src {
		was := j.head.Pins[first+i]
		how, other := was.Differs(now[i])
		if was != "" && now[i] == "" && src[i].Copy != nil {
			how, other = "its service no longer tells one state from another", true
		}
		if other {
			j.changed = changed(src[i].Name, "it was modified since its conversion was begun: "+how)
			return
		}
	}
}

func newJournal() *journal {
	return &journal{done: make(map[string]finished), was: make(map[string]finished)}
}

// readMain adds what the one journal of all shards tells, nothing where there is none, and
// returns how many bytes of it are whole.
func (j *journal) readMain(root *os.Root) (whole int64, err error) {
	data, err := readKept(root, journalName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	whole = j.read(data)
	if bytes.IndexByte(data[whole:], '\n') >= 0 { // not one whose writing was interrupted
		j.bad = lineAt(data, whole)
	}
	return whole, nil
}

// lineAt is the number of the line that begins at off, counted from 1.
func lineAt(data []byte, off int64) int { return 1 + bytes.Count(data[:off], []byte{'\n'}) }

// begin cuts what is not whole and, in an empty journal, writes the head.
func (j *journal) begin(whole int64, root *os.Root) error {
	st, err := j.file.Stat()
	if err != nil {
		return err
	}
	j.mended = whole < st.Size() || whole == 0
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, 0); err != nil {
		return err
	}
	if whole > 0 {
		return nil
	}
	if err := j.append(j.head); err != nil {
		return err
	}
	return atomicfile.SyncDir(root, WorkDir)
}

// read takes the lines of a journal and returns how many bytes of it are whole.
func (j *journal) read(data []byte) (whole int64) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		text, ok := checkLine(lines.Bytes())
		if !ok || whole+int64(len(lines.Bytes())) == int64(len(data)) {
			break // torn: damaged, or without its newline
		}
		if whole == 0 {
			if decodeStrictly(text, &j.head) != nil {
				break
			}
		} else {
			var l journalLine
			if decodeStrictly(text, &l) != nil || l.Void == "" && !shardName.MatchString(l.Name) {
				break
			}
			if l.Void != "" {
				delete(j.done, l.Void)
			} else {
				j.done[l.Name], j.was[l.Name] = l.finished, l.finished
			}
		}
		whole += int64(len(lines.Bytes())) + 1
	}
	return whole
}

// append adds a line and brings it to the device.
func (j *journal) append(v any) error {
	text, err := marshalLine(v)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		if j.file, err = j.open(); err != nil {
			return err
		}
	}
	if _, err := j.file.Write(appendLine(nil, text)); err != nil {
		return err
	}
	return j.file.Sync()
}

// add enters a finished shard.
func (j *journal) add(f finished) error {
	if err := j.append(f); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[f.Name], j.was[f.Name] = f, f
	return nil
}

// void enters that a shard no longer is what it was. The next run knows it too, if this
// one is stopped before it has written the shard anew.
func (j *journal) void(name string) error {
	if _, ok := j.done[name]; !ok {
		return nil
	}
	if err := j.append(journalVoid{name}); err != nil {
		return err
	}
	delete(j.done, name)
	return nil
}

// mustBe says how a shard that was written differs from what it was before.
func (j *journal) mustBe(done *finished) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	was, ok := j.was[done.Name]
	if !ok || was.ManifestShard == done.ManifestShard {
		return nil
	}
	return changed(done.Name, fmt.Sprintf("its sources give %d bytes with the header checksum %08x, it had %d with %08x", done.Bytes, done.HeaderCRC, was.Bytes, was.HeaderCRC))
}

// of returns what is known of a shard that is finished.
func (j *journal) of(name string) (finished, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, ok := j.done[name]
	return f, ok
}

// knows reports whether the journal says what a shard must be.
func (j *journal) knows(name string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.was[name]
	return ok
}

// verified reports whether every shard of a plan was re-read and checked, and where from.
func (j *journal) verified(p *Plan) (yes bool, from aio.Origin) {
	for i := range p.Shards {
		done := j.done[p.Shards[i].Name]
		if !done.Verified {
			return false, ""
		}
		from = from.And(done.From)
	}
	return true, from
}

func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	return j.file.Close()
}
