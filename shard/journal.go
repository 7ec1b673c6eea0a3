package shard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
)

// A journal is the list of finished shards of a conversion, a line each, appended and
// synced when the shard has its final name. Each line begins with the CRC-32 of its
// JSON, in hexadecimal, so that a torn last line is told from a whole one. The first
// line names the plan and the state of the sources.
type journal struct {
	mu   sync.Mutex
	file *os.File
	done map[string]finished // by shard name
}

type journalHead struct {
	Plan     string  `json:"plan"`     // digest
	Modified []int64 `json:"modified"` // of each source, Unix nanoseconds, or a number drawn from the times of many files; 0: not known
}

// finished is what is known of a shard that has its final name.
type finished struct {
	Name      string `json:"name"`
	Samples   int64  `json:"samples"`
	Fields    int64  `json:"fields"` // of the source, in its records
	Bytes     int64  `json:"bytes"`
	HeaderCRC uint32 `json:"header_crc32"`
	Verified  bool   `json:"verified"` // re-read from the device and checked
}

// openJournal reads the journal of a run before, or begins one. A source that was
// modified since that run is [converters.ErrChanged].
func openJournal(root *os.Root, plan *Plan, digest string, src []converters.Part) (*journal, error) {
	head := journalHead{Plan: digest, Modified: make([]int64, len(src))}
	for i, p := range src {
		switch {
		case p.Path == "":
			head.Modified[i] = plan.Parts[i].modified
		case !p.Staged && !p.ModTime.IsZero():
			head.Modified[i] = p.ModTime.UnixNano()
		}
	}
	data, err := root.ReadFile(journalName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	j := &journal{done: make(map[string]finished)}
	whole, err := j.read(data, head, src)
	if err != nil {
		return nil, err
	}
	j.file, err = root.OpenFile(journalName, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := j.begin(whole, head, root); err != nil {
		j.file.Close()
		return nil, err
	}
	return j, nil
}

// begin cuts what is not whole and, in an empty journal, writes the head.
func (j *journal) begin(whole int64, head journalHead, root *os.Root) error {
	if err := j.file.Truncate(whole); err != nil {
		return err
	}
	if _, err := j.file.Seek(whole, 0); err != nil {
		return err
	}
	if whole > 0 {
		return nil
	}
	if err := j.append(head); err != nil {
		return err
	}
	return atomicfile.SyncDir(root, WorkDir)
}

// read takes the lines of a journal and returns how many bytes of it are whole: none
// where it is of another plan.
func (j *journal) read(data []byte, want journalHead, src []converters.Part) (int64, error) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxLine)
	whole := int64(0)
	for lines.Scan() {
		text, ok := checkLine(lines.Bytes())
		if !ok || whole+int64(len(lines.Bytes())) == int64(len(data)) {
			break // torn: damaged, or without its newline
		}
		if whole == 0 {
			var head journalHead
			if json.Unmarshal(text, &head) != nil || head.Plan != want.Plan || len(head.Modified) != len(src) {
				return 0, nil
			}
			for i, at := range head.Modified {
				if at != 0 && want.Modified[i] != 0 && at != want.Modified[i] {
					return 0, &converters.Error{Part: src[i].Name, Off: -1, Err: fmt.Errorf("%w: it was modified since the interrupted run", converters.ErrChanged), Hint: "--overwrite starts anew"}
				}
			}
		} else {
			var f finished
			if json.Unmarshal(text, &f) != nil {
				break
			}
			j.done[f.Name] = f
		}
		whole += int64(len(lines.Bytes())) + 1
	}
	return whole, nil
}

// checkLine returns the JSON of a line whose CRC is right.
func checkLine(line []byte) (text []byte, ok bool) {
	sum, text, ok := bytes.Cut(line, []byte{' '})
	return text, ok && string(sum) == fmt.Sprintf("%08x", crc32.ChecksumIEEE(text))
}

// append adds a line and brings it to the device.
func (j *journal) append(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := fmt.Fprintf(j.file, "%08x %s\n", crc32.ChecksumIEEE(text), text); err != nil {
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
	j.done[f.Name] = f
	return nil
}

// verified reports whether every finished shard was re-read and checked.
func (j *journal) verified() bool {
	for _, f := range j.done {
		if !f.Verified {
			return false
		}
	}
	return true
}

func (j *journal) close() error { return j.file.Close() }
