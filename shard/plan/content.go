package plan

import (
	"context"
	"io"
	"math"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/checksum"
)

// Contents caches digests of local files, by path, so that each file is read once. It is for parts whose
// content the plan identifies by digest: output of a command that the user has saved in a file.
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
	sums, err := checksum.Of(ctx, io.NewSectionReader(f, 0, math.MaxInt64))
	if err != nil {
		return "", &converters.Error{Where: p.Name, Off: -1, Err: err}
	}
	if c.known == nil {
		c.known = make(map[string]string)
	}
	c.known[p.Path] = sums.Digest()
	return sums.Digest(), nil
}

// sameContent returns an error if the digest of a local part differs from the planned one.
func (p *Part) sameContent(ctx context.Context, found *converters.Part, known *Contents) error {
	if p.Content == "" || found.Path == "" {
		return nil
	}
	if p.Size != found.Size {
		return ErrorOtherInput(found.Name)
	}
	content, err := known.of(ctx, found)
	if err == nil && content != p.Content {
		err = ErrorOtherInput(found.Name)
	}
	return err
}

// ErrorOtherInput returns the error for a part whose digest differs from the planned one.
func ErrorOtherInput(name string) error {
	return ErrorChanged(name, "another input than the one that was planned")
}

// Opened returns an error if the bytes of a part differ from the planned ones. It checks the part with which a
// dataset is opened, since that decides the columns and types of all. number counts from the first part of the
// slice; -1 means Lead.
func (s *Slice) Opened(ctx context.Context, number int, part converters.Part) error {
	planned := &s.Lead
	if number >= 0 {
		planned = &s.Plan.Parts[number]
	}
	return ForTask(planned.sameContent(ctx, &part, &Contents{}))
}
