package dataset

import (
	"bytes"
	"cmp"
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
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Each task appends to a journal of its own, .ffconvert/journals/FIRST-LAST.TOKEN, named for the shards of its slice
// (places in the plan, first and last): a task reads only the journals that overlap its slice. A process that is alone
// folds them into the journal of all shards, .ffconvert/journal, and appends to that.

// maxShards is more than any plan has.
const maxShards = 1 << 40

// filesAtOnce is how many small files are read at once: on a file system across a network each waits for a few answers.
const filesAtOnce = 32

// overlaps reports whether a journal of that name may have lines of the shards from … to-1.
func overlaps(name string, from, to int) bool {
	slice, token, _ := strings.Cut(name, ".")
	a, b, _ := strings.Cut(slice, "-")
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && tokenForm().MatchString(token) && first < to && last >= from
}

// readJournal reads the journal of all shards, and adds the shards from … to-1 from those of tasks. digest is that of
// the plan, and parts the number of its parts; a journal of another plan counts as empty. "": of any plan.
//
// Another process may fold the journals of tasks at the same time: it writes the journal of all shards, then removes
// theirs. The journal of all shards is therefore read last.
func readJournal(d *Dir, digest string, parts, from, to int) (*Journal, error) {
	tasks, err := readTasks(d.Root, from, to)
	if err != nil {
		return nil, err
	}
	j := newJournal(d)
	if err := j.readMain(); err != nil {
		return nil, err
	}
	if digest != "" && (j.head.Plan != digest || len(j.head.Pins) != parts) {
		bad := j.Bad
		j = newJournal(d)
		j.Bad = bad
	}
	j.add(tasks, cmp.Or(digest, j.head.Plan))
	return j, nil
}

// add adds what tasks have entered of the plan with a digest.
func (j *Journal) add(tasks []*Journal, digest string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, task := range tasks {
		if task.head.Plan != digest {
			continue
		}
		for name, done := range task.Done {
			if there, ok := j.Done[name]; !ok || done.Verified || !there.Verified {
				j.Done[name] = done // of several lines one that was verified, whatever their files are called
			}
		}
		maps.Copy(j.Was, task.Was)
	}
}

// ReadTasks adds the lines that tasks have appended so far for the shards from … to-1.
func (j *Journal) ReadTasks(from, to int) error {
	tasks, err := readTasks(j.dir.Root, from, to)
	j.add(tasks, j.head.Plan)
	return err
}

// readTasks reads the journals of tasks that may have lines of the shards from … to-1. After an error some are empty.
func readTasks(root *os.Root, from, to int) ([]*Journal, error) {
	names, err := readNames(root, JournalsDir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !overlaps(name, from, to) })
	tasks := make([]*Journal, len(names))
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for i, name := range names {
		tasks[i] = newJournal(nil)
		g.Go(func() error {
			data, err := readKept(root, path.Join(JournalsDir, name))
			if errors.Is(err, fs.ErrNotExist) {
				return nil // folded meanwhile
			}
			tasks[i].read(data)
			return err
		})
	}
	return tasks, g.Wait()
}

// readMain reads the journal of all shards; without one it is empty.
func (j *Journal) readMain() error {
	data, err := readKept(j.dir.Root, JournalName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	j.whole = j.read(data)
	if bytes.IndexByte(data[j.whole:], '\n') >= 0 { // not an interrupted write
		j.Bad = lineAt(data, j.whole)
	}
	return nil
}

// openJournal opens the journal of all shards to append to it, or begins it where there is none of the plan of head. The
// caller must be the only writer, and syncs its directory.
func openJournal(d *Dir, head journalHead) (*Journal, error) {
	j, err := readJournal(d, head.Plan, len(head.Pins), 0, maxShards)
	if err != nil {
		return nil, err
	}
	if j.head.Plan == "" {
		j.head = head
	}
	sums := head.Sums && !j.summed() // wanted since the journal was begun
	j.head.Sums = j.head.Sums || sums
	if j.file, err = d.OpenFile(JournalName); err != nil {
		return nil, err
	}
	st, err := j.file.Stat()
	if err == nil {
		j.Mended, j.unsynced = j.whole < st.Size() || j.whole == 0, true
		err = checksum.ResumeLines(j.file, j.whole, j.head)
	}
	if err == nil {
		err = j.Fold(sums)
	}
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// Fold rewrites the journal of all shards from memory if tasks have left journals, or if always is set, and then removes
// the journals of tasks. The caller must be the only writer.
func (j *Journal) Fold(always bool) error {
	tasks, err := j.dir.has(JournalsDir)
	if err == nil && (tasks || always) {
		err = j.rewrite()
	}
	if err != nil || !tasks {
		return err
	}
	if err := j.dir.Root.RemoveAll(JournalsDir); err != nil {
		return err
	}
	return j.dir.SyncNames(WorkDir)
}

func (j *Journal) rewrite() error {
	lines := []any{j.head}
	for _, name := range slices.Sorted(maps.Keys(j.Was)) {
		if done, sound := j.Done[name]; sound {
			lines = append(lines, done)
		} else {
			lines = append(lines, j.Was[name], journalVoid{name})
		}
	}
	var all []byte
	for _, v := range lines {
		line, err := checksum.Line(v)
		if err != nil {
			return err
		}
		all = append(all, line...)
	}
	if err := j.dir.WriteFile(JournalName, all); err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	var err error
	if j.file, err = j.dir.OpenFile(JournalName); err == nil {
		_, err = j.file.Seek(0, 2)
	}
	return err
}

// ResumeJournal begins the journal of a task, with what has been finished of its slice by
// any process. src are the parts of the slice.
func (t *Task) ResumeJournal(s *plan.Slice, src []converters.Part) (*Journal, error) {
	to := s.From + len(s.Plan.Shards)
	j, err := readJournal(t.Dir, s.Digest, s.Parts, s.From, to)
	if err != nil {
		return nil, err
	}
	if j.head.Plan == "" {
		return nil, t.damagedJournal(j.Bad)
	}
	t.SHA256 = t.SHA256 || j.summed()
	j.Compare(s.Plan, s.First, src)
	j.open = func() (*os.File, error) { // when its first shard is finished
		if err := t.Mkdir(JournalsDir); err != nil {
			return nil, err
		}
		name := path.Join(JournalsDir, fmt.Sprintf("%05d-%05d.%s", s.From, to-1, t.token))
		f, err := files.Blocking(t.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
		if err != nil {
			return nil, err
		}
		if err = checksum.ResumeLines(f, 0, journalHead{Plan: s.Digest}); err == nil {
			err = t.SyncNames(JournalsDir)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	return j, nil
}

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

func (e *notItsJournal) Unwrap() error { return plan.ErrDamaged }

// damagedJournal is the error of a journal that cannot be read from a line on; 0: it is not of the plan.
func (d *Dataset) damagedJournal(line int) error { return &notItsJournal{d.Name(), line} }
