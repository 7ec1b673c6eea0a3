package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
)

// The specification in the help of the command is sound, and a mistake is one of usage.
func TestSpecHelp(t *testing.T) {
	t.Parallel()
	_, help, _ := strings.Cut(newSpecCommand(nil).Long, "\n\n")
	help, _, _ = strings.Cut(help, "\n\n")
	s, err := spec.Parse("help", []byte(help))
	if err == nil {
		_, err = convert.Conversion{Spec: s, Out: filepath.Join(t.TempDir(), "out")}.Preview(t.Context())
	}
	if !errors.Is(err, input.ErrNotFound) { // all is sound, and its files are not here
		t.Errorf("%v\n%s", err, help)
	}
	if _, err := spec.Parse("x.yaml", []byte("dataset:\n- shard: a\n")); exitCode(err) != exitUsage {
		t.Errorf("status %d: %v", exitCode(err), err)
	}
	if _, err := spec.Parse("x.yaml", make([]byte, spec.MaxSize+1)); exitCode(err) != exitRefused {
		t.Errorf("status %d: %v", exitCode(err), err)
	}
}
