//go:build unix

package ffr_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/ffr"
)

// A FIFO in the place of a shard or its index is an error that names it, not a wait for a writer.
func TestFIFO(t *testing.T) {
	t.Parallel()
	for _, index := range []bool{false, true} {
		dir, m := made(t, "msgpack", 12, 1)
		paths, opts := options(dir, m, false)
		parts := convertertest.Parts(t, paths...)
		path := paths[0]
		name := parts[0].Name
		if index {
			path = opts.Shards[0].Index
			name = path
		}
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := collect(t, ffr.Open(parts, opts)); err == nil || !strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error %v", err)
		}
	}
}
