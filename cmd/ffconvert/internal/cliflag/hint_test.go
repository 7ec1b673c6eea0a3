package cliflag

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/record"
)

// Each of the errors that were joined has its hint, inside the brackets that it has.
func TestHinted(t *testing.T) {
	t.Parallel()
	staged := &converters.Error{Where: "a.tar", Off: 512, Err: fmt.Errorf("%w (run it again)", stage.ErrCopy)}
	err := Hint(errors.Join(fmt.Errorf("b.ffr: %w", record.ErrLegacy), staged), "convert", "out")
	want := fmt.Sprintf("b.ffr: %v; --allow-legacy accepts it\na.tar: offset 512: %v (run it again; --cache-dir names their directory)", record.ErrLegacy, stage.ErrCopy)
	if err.Error() != want || !errors.Is(err, record.ErrLegacy) || !errors.Is(err, stage.ErrCopy) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A scratch that is full is told with its flag, a directory that is full is not.
func TestFullScratch(t *testing.T) {
	t.Parallel()
	full := &fs.PathError{Op: "write", Path: "/scratch/PART_00000.ffr", Err: syscall.ENOSPC}
	want := full.Error() + " (free space there, or name another directory: --bucket scratch-dir)"
	if err := Hint(full, "tar", "s3://bucket/data/"); err.Error() != want || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := Hint(full, "tar", "out"); err != error(full) {
		t.Errorf("got %v", err)
	}
}
