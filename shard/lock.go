package shard

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

// A holder is the process that writes to a directory, as its lock tells the others. It is
// there for people: the lock itself is the kernel's, which drops it with the process.
type holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// hostName is that of a host, if it is no longer than longestHost bytes.
var hostName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const longestHost = 253

// sign writes who holds the lock into it. A lock that cannot be signed is one all the
// same.
func sign(lock *os.File) {
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{host, os.Getpid(), time.Now().UTC().Truncate(time.Second)})
	if err == nil && lock.Truncate(0) == nil {
		_, _ = lock.WriteAt(text, 0)
	}
}

// locked is the error of a lock that another process holds.
func (o *Output) locked(lock io.ReaderAt) error {
	const longest = 1024
	var h holder
	err := json.NewDecoder(io.NewSectionReader(lock, 0, longest)).Decode(&h)
	if err != nil || h.PID <= 0 || len(h.Host) > longestHost || !hostName.MatchString(h.Host) {
		return fmt.Errorf("%s: %w", o.dir, ErrLocked)
	}
	return fmt.Errorf("%s: %w: process %d on %s, since %s", o.dir, ErrLocked, h.PID, h.Host, h.Since.Format(time.RFC3339))
}
