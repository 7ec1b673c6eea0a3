//go:build !linux

package aio

import "errors"

// noRing is the kernel for systems without Linux AIO. Its setup always fails.
type noRing struct{}

func newRing() kernel       { return noRing{} }
func ringMem(depth int) int { return 0 }

func (noRing) setup(int, []byte) error             { return errors.ErrUnsupported }
func (noRing) submit([]request) (int, error)       { return 0, errors.ErrUnsupported }
func (noRing) getevents(int, []event) (int, error) { return 0, errors.ErrUnsupported }
func (noRing) destroy() error                      { return nil }
