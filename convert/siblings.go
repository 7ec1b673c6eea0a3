package convert

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// A siblings fetches files that are in the directories of remote parts: see [format.Files]. Copies stay until Release.
// Its methods must not be called concurrently.
type siblings struct {
	in   stage.Options
	sets []*stage.Set
	dirs map[string]string // URL of a directory without the user and the password that it needs → with them
}

// NewSiblings returns a siblings of some parts, which finds and stages files with the options in.
func NewSiblings(in stage.Options, parts []input.Name) *siblings {
	in.Directories, in.Match, in.Arrange, in.Contents, in.Sound, in.Progress = false, nil, nil, nil, nil, nil
	b := &siblings{in: in, dirs: make(map[string]string)}
	for _, n := range parts {
		if n.Object != nil && n.Object.URL != n.Name {
			dir, _ := path.Split(n.Name)
			b.dirs[dir], _ = path.Split(n.Object.URL)
		}
	}
	return b
}

// Fetch makes files local and returns their paths. sound is [input.Options.Sound]; it may be nil.
func (b *siblings) Fetch(ctx context.Context, names []string, sound func(name string, file io.ReaderAt, size int64) bool) ([]string, error) {
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
func (b *siblings) Look(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	_, err := b.find(ctx, names)
	return err
}

// find looks for files. It looks twice before it reports one as missing, because one reply of a server may be wrong.
func (b *siblings) find(ctx context.Context, names []string) ([]input.Name, error) {
	names = slices.Clone(names)
	for i, name := range names {
		for dir, at := range b.dirs {
			if below, ok := strings.CutPrefix(name, dir); ok {
				names[i] = at + below
			}
		}
	}
	found, err := input.FindNamed(ctx, names, b.in.Options)
	if errors.Is(err, input.ErrNotFound) {
		found, err = input.FindNamed(ctx, names, b.in.Options)
	}
	return found, err
}

func (b *siblings) Release() error {
	var all []error
	for _, s := range b.sets {
		all = append(all, s.Release())
	}
	b.sets = nil
	return errors.Join(all...)
}
