package plan

import (
	"context"
	"io"
	"math"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// Contents has the digests of local files that a user names for a part that the plan knows by its
// content: the output of a command, kept in a file. Each file is read once.
type Contents struct {
	mu    sync.Mutex
	known map[string]string // digest by path
}

// of returns the digest of a part's bytes.
func (c *Contents) of(ctx context.Context, p *converters.Part) (string, error) {
	if p.Copy != nil && p.Copy.Content != "" {
		return p.Copy.Content, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if digest, ok := c.known[p.Path]; ok {
		return digest, nil
	}
	f, err := new(converters.Files).Open(*p, converters.Whole)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sums, err := blocksum.Of(ctx, io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return "", &converters.Error{Where: p.Name, Off: -1, Err: err}
	}
	if c.known == nil {
		c.known = make(map[string]string)
	}
	c.known[p.Path] = sums.Digest()
	return sums.Digest(), nil
}

// sameContent refuses a local part with another digest than the plan has.
func (p *Part) sameContent(ctx context.Context, is *converters.Part, known *Contents) error {
	if p.Content == "" || is.Path == "" {
		return nil
	}
	if p.Size != is.Size {
		return ErrorOtherInput(is.Name)
	}
	content, err := known.of(ctx, is)
	if err == nil && content != p.Content {
		err = ErrorOtherInput(is.Name)
	}
	return err
}

// ErrorOtherInput returns the error of a part with another digest than the plan has.
func ErrorOtherInput(name string) error {
	return ErrorChanged(name, "another input than the one that was planned")
}

// Opened refuses a part if its bytes are not the planned ones. It is for the part that a dataset is
// opened with, which decides the columns and types of all. number counts from the first part of the
// slice; -1 is Lead.
func (s *Slice) Opened(ctx context.Context, number int, part converters.Part) error {
	was := &s.Lead
	if number >= 0 {
		was = &s.Plan.Parts[number]
	}
	return ForTask(was.sameContent(ctx, &part, &Contents{}))
}
