package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A holder is the process that holds a lock or a claim, as it describes itself in the file. It is there
// for people: the lock itself is the kernel's, which drops it with the process.
type holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Task  string    `json:"task,omitempty"`  // of a claim: "K/N"
	Token string    `json:"token,omitempty"` // of a claim: names its temporary files
	Space string    `json:"pidns,omitempty"` // PID namespace of the process, as Linux names it; "": not known
}

// hostName returns the name of this host, if it has at most longestHost bytes.
var hostName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const longestHost = 253

func newHolder() holder {
	host, _ := os.Hostname()
	space, _ := os.Readlink("/proc/self/ns/pid")
	return holder{Host: host, PID: os.Getpid(), Since: time.Now().UTC().Truncate(time.Second), Space: space}
}

// dead reports whether the process is known to have ended: it was one of this host, and of the
// same PID namespace, which containers do not share.
func (h holder) dead() bool {
	me := newHolder()
	if me.Space == "" || h.Space != me.Space || h.Host != me.Host {
		return false
	}
	_, err := os.Stat(fmt.Sprintf("/proc/%d", h.PID))
	return errors.Is(err, fs.ErrNotExist)
}

func (h holder) String() string {
	text := fmt.Sprintf("process %d on %s, since %s", h.PID, h.Host, h.Since.Format(time.RFC3339))
	if h.Task != "" {
		text = "task " + h.Task + ", " + text
	}
	return text
}

// readHolder reads the holder of a lock or a claim. The file may be hostile.
func readHolder(r io.ReaderAt) (holder, bool) {
	const longest = 1024
	var h holder
	err := json.NewDecoder(io.NewSectionReader(r, 0, longest)).Decode(&h)
	if err == nil && h.Task != "" {
		_, err = plan.ParseTask(h.Task)
	}
	ok := err == nil && h.PID > 0 && len(h.Host) <= longestHost && hostName().MatchString(h.Host) && (h.Token == "" || tokenForm().MatchString(h.Token))
	return h, ok
}

// sign writes the holder into the lock file. A lock that cannot be signed holds all the same.
func sign(lock *os.File) {
	text, err := json.Marshal(newHolder())
	if err == nil && lock.Truncate(0) == nil {
		_, _ = lock.WriteAt(text, 0)
	}
}

// locked is the error of a lock that another process holds, alone or with others. It does not name the directory.
func (d *Dir) locked(lock io.ReaderAt) error {
	if h, ok := readHolder(lock); ok {
		return fmt.Errorf("%w: %v", ErrLocked, h)
	}
	if claims, _ := readClaims(d.Root); len(claims) > 0 {
		return fmt.Errorf("%w: %v", ErrLocked, claims[0].holder)
	}
	return ErrLocked
}
