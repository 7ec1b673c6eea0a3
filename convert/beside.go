package convert

import (
	"context"
	"errors"
	"io"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// A beside fetches files that lie beside remote parts: see [format.Files]. Copies stay until Release. Its methods must
// not be called concurrently.
type beside struct {
	in   stage.Options
	sets []*stage.Set
}

// NewBeside returns a Beside for inputs that are found and staged by in.
func NewBeside(in stage.Options) *beside {
	in.Directories, in.Match, in.Arrange, in.Contents, in.Sound, in.Progress = false, nil, nil, nil, nil, nil
	return &beside{in: in}
}

// Fetch makes files local and returns their paths. sound is [input.Options.Sound]; it may be nil.
func (b *beside) Fetch(ctx context.Context, names []string, sound func(name string, file io.ReaderAt, size int64) bool) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	found, err := b.find(ctx, names)
	if err != nil {
		return nil, err
	}
	in := b.in
	in.Sound = sound
	set, err := stage.Open(ctx, found, in)
	if err != nil {
		return nil, err
	}
	b.sets = append(b.sets, set)
	paths := make([]string, len(names))
	for i, p := range set.Parts {
		paths[i] = p.Path
	}
	return paths, nil
}

// Look returns an error unless all files exist.
func (b *beside) Look(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := b.find(ctx, names)
	return err
}

// find looks for files. It asks again before one is said not to exist: one reply may be wrong.
func (b *beside) find(ctx context.Context, names []string) ([]input.Name, error) {
	found, err := input.FindNamed(ctx, names, b.in.Options)
	if errors.Is(err, input.ErrNotFound) {
		found, err = input.FindNamed(ctx, names, b.in.Options)
	}
	return found, err
}

// Release ends the use of the copies.
func (b *beside) Release() error {
	var all []error
	for _, s := range b.sets {
		all = append(all, s.Release())
	}
	b.sets = nil
	return errors.Join(all...)
}
