package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

func TestExitCode(t *testing.T) {
	t.Parallel()
	missing := fmt.Errorf("out: %w: 3 of 9: PART_00002.ffr and 2 more", dataset.ErrMissing)
	for _, row := range []struct {
		name string
		err  error
		want int
	}{
		{"usage", errors.New("unknown flag"), 1},
		{"a task that is none", plan.ErrTask, 1},
		{"corrupt", verify.ErrCorrupt, 2},
		{"refused", &converters.Error{Err: converters.ErrChanged}, 3},
		{"a wrong setting", &store.Error{Kind: store.ErrSetting, Err: &fs.PathError{Err: syscall.ENOENT}}, 1},
		{"a service that denies access", fmt.Errorf("x: %w", &store.Error{Kind: store.ErrDenied}), 3},
		{"a server that does not prove what it is", &store.Error{Kind: store.ErrTLS}, 3},
		{"a redirect that is refused", &store.Error{Kind: store.ErrRedirect}, 3},
		{"a service that does not answer", &store.Error{Kind: store.ErrUnavailable, Err: syscall.ECONNREFUSED}, 4},
		{"no space", &fs.PathError{Err: syscall.ENOSPC}, 4},
		{"a staged copy that was changed", &converters.Error{Err: fmt.Errorf("%w, between offsets", stage.ErrCopy)}, 4},
		{"unfinished", missing, 5},
		{"unfinished, a file that is not there", fmt.Errorf("%w: %w", missing, &fs.PathError{Err: syscall.ENOENT}), 5},
		{"unfinished and corrupt", errors.Join(missing, verify.ErrCorrupt), 2},
		{"interrupted", terminal.Interrupted{Signal: syscall.SIGINT}, 130},
		{"terminated", terminal.Interrupted{Signal: syscall.SIGTERM}, 143},
		{"warned", terminal.Interrupted{Signal: syscall.SIGUSR1}, 138},
	} {
		if got := exitCode(row.err); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
		if !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, row.want)).MatchString(exitStatus) {
			t.Errorf("%s: the help does not say what %d means", row.name, row.want)
		}
	}
}
