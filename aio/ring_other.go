//go:build !linux

package aio

import "errors"

// noRing stands in for Linux AIO where there is none.
type noRing struct{}

func newRing() kernel       { return noRing{} }
func ringMem(depth int) int { return 0 }

func (noRing) setup(int, []byte) error             { return errors.ErrUnsupported }
func (noRing) submit([]request) (int, error)       { return 0, errors.ErrUnsupported }
func (noRing) getevents(int, []event) (int, error) { return 0, errors.ErrUnsupported }
func (noRing) destroy() error                      { return nil }
