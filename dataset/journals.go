package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/crcline"
	"github.com/ffconvert/ffconvert/internal/pin"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Each task appends to a journal of its own, .ffconvert/journals/FIRST-LAST.TOKEN, named for
// the shards of its slice (places in the plan, first and last): a task reads only the
// journals that overlap its slice.

func taskJournalName(from, to int, token string) string {
	return path.Join(JournalsDir, fmt.Sprintf("%05d-%05d.%s", from, to-1, token))
}

// tells reports whether a journal of that name can tell of the shards from … to-1.
func tells(name string, from, to int) bool {
	slice, token, _ := strings.Cut(name, ".")
	a, b, _ := strings.Cut(slice, "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && tokenForm.MatchString(token) && first < to && last >= from
}

// ResumeJournal begins the journal of a task, with what has been finished of its slice by
// any process. src are the parts of the slice, and pins their states now.
func (o *Output) ResumeJournal(s *plan.Slice, src []converters.Part, pins []pin.Pin) (*Journal, error) {
	to := s.From + len(s.Plan.Shards)
	j, err := o.readJournal(s.Digest, s.Parts, s.From, to)
	if err != nil {
		return nil, err
	}
	j.Compare(pins, s.First, src)
	j.open = func() (*os.File, error) { return o.beginTaskJournal(s, taskJournalName(s.From, to, o.token)) }
	return j, nil
}

// beginTaskJournal makes the journal of a task, when its first shard is finished.
func (o *Output) beginTaskJournal(s *plan.Slice, name string) (*os.File, error) {
	if err := o.Mkdir(JournalsDir); err != nil {
		return nil, err
	}
	f, err := blocking.File(o.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
	if err != nil {
		return nil, err
	}
	text, err := crcline.Marshal(journalHead{Plan: s.Digest})
	if err == nil {
		_, err = f.Write(crcline.Append(nil, text))
	}
	if err == nil {
		err = atomicfile.SyncDir(o.Root, JournalsDir)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// journals returns what all journals tell. Those of tasks may become one meanwhile, so that one
// is read last, too.
func (o *Output) journals() (*Journal, error) {
	j := newJournal()
	if _, err := j.readMain(o.Root); err != nil {
		return nil, err
	}
	if err := j.ReadTasks(o.Root, 0, maxShards); err != nil {
		return nil, err
	}
	_, err := j.readMain(o.Root)
	return j, err
}

// ReadTasks adds what the journals of tasks tell of the shards from … to-1.
func (j *Journal) ReadTasks(root *os.Root, from, to int) error {
	names, err := readNames(root, JournalsDir)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for _, name := range names {
		if tells(name, from, to) {
			g.Go(func() error { return j.readTask(root, name) })
		}
	}
	return g.Wait()
}

// filesAtOnce is how many small files are read at once: on a file system across a network each
// waits for a few answers.
const filesAtOnce = 32

// readTask adds what one journal of a task tells.
func (j *Journal) readTask(root *os.Root, name string) error {
	data, err := readKept(root, path.Join(JournalsDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // folded meanwhile
	}
	if err != nil {
		return err
	}
	task := newJournal()
	if task.read(data); task.head.Plan != j.head.Plan {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, done := range task.Done {
		if there, ok := j.Done[name]; !ok || done.Verified || !there.Verified {
			j.Done[name] = done // of several lines one that was verified, whatever their files are called
		}
	}
	maps.Copy(j.Was, task.Was)
	return nil
}

// FoldTasks merges the journals of tasks into this one. The caller must be the only writer.
func (j *Journal) FoldTasks(o *Output) error {
	root := o.Root
	if there, err := o.has(JournalsDir); err != nil || !there {
		return err
	}
	if err := j.ReadTasks(root, 0, maxShards); err != nil {
		return err
	}
	if err := j.Rewrite(o); err != nil {
		return err
	}
	if err := root.RemoveAll(JournalsDir); err != nil {
		return err
	}
	return atomicfile.SyncDir(root, WorkDir)
}

// Rewrite writes the journal anew, as it is in memory. The caller must be the only writer.
func (j *Journal) Rewrite(o *Output) error {
	lines := []any{j.head}
	for _, name := range slices.Sorted(maps.Keys(j.Was)) {
		if done, sound := j.Done[name]; sound {
			lines = append(lines, done)
		} else {
			lines = append(lines, j.Was[name], journalVoid{name})
		}
	}
	var all []byte
	for _, line := range lines {
		text, err := crcline.Marshal(line)
		if err != nil {
			return err
		}
		all = crcline.Append(all, text)
	}
	if err := o.WriteFile(JournalName, all); err != nil {
		return err
	}
	return j.reopen(o.Root)
}

// reopen appends to the journal that has taken the place of this one.
func (j *Journal) reopen(root *os.Root) error {
	f, err := openOwn(root, JournalName)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, 2); err != nil {
		f.Close()
		return err
	}
	if j.file != nil {
		j.file.Close() // every line of it was synced
	}
	j.file = f
	return nil
}

// maxShards is more than any plan has.
const maxShards = 1 << 40

// notItsJournal says that a directory with a plan has no sound journal of that plan. It is [plan.ErrDamaged].
type notItsJournal struct {
	dir string
	bad int // the line from which on it cannot be read; 0: it is not of the plan
}

func (e *notItsJournal) Error() string {
	what := "missing, damaged or that of another plan"
	if e.bad > 0 {
		what = fmt.Sprintf("damaged: line %d differs from its CRC", e.bad)
	}
	return fmt.Sprintf("%s: its journal is %s (ffconvert repair %s writes it anew, with the shards that are missing)", e.dir, what, e.dir)
}

// DamagedJournal is the error of a journal that cannot be read from a line on; 0: it is not of the plan.
func (o *Output) DamagedJournal(line int) error { return &notItsJournal{o.Name(), line} }

func (e *notItsJournal) Unwrap() error { return plan.ErrDamaged }
