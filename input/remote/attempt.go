package remote

import (
	"context"
	"errors"
	"fmt"
)

// attempt asks for what sp still lacks and writes what comes. sp.pos has grown by what came,
// in any case.
func (f *fetch) attempt(ctx context.Context, sp *span, buf []byte) error {
	off, n := sp.pos, int64(-1)
	switch {
	case f.o.whole:
		off = 0
	case off == 0 && f.single.Load(): // no range at all
	case sp.end >= 0:
		n = sp.end - off
	}
	rep, err := f.store.get(ctx, f.o, off, n)
	if err != nil {
		return err
	}
	defer rep.Body.Close()
	if err := f.sound(rep, sp, off, n); err != nil {
		return err
	}
	if !f.begun && sp.start == 0 {
		f.begun = true
		f.first <- rep
	}
	return f.copy(sp, rep, buf)
}

// sound compares a reply with what was asked for, and learns from the first one how the
// service answers.
func (f *fetch) sound(rep *reply, sp *span, off, n int64) error {
	total := f.total.Load()
	switch {
	case rep.Version != "" && f.o.Version != "" && rep.Version != f.o.Version:
		return f.fail(ErrChanged, nil, againHint)
	case rep.Size >= 0 && total >= 0 && rep.Size != total:
		err := fmt.Errorf("%d bytes have become %d", total, rep.Size)
		if rep.Version != "" && rep.Version == f.o.Version {
			return f.fail(ErrLength, fmt.Errorf("%w in the same version", err), "")
		}
		return f.fail(ErrChanged, err, againHint)
	case rep.Off != off && rep.Off != 0:
		return f.fail(ErrLength, fmt.Errorf("bytes from %d on have come for those from %d on", rep.Off, off), "")
	case rep.Off == off && off > 0 && n >= 0 && rep.N > n:
		return f.fail(ErrLength, fmt.Errorf("%d bytes have come for %d", rep.N, n), "")
	case total >= 0 && rep.N > total-rep.Off:
		return f.fail(ErrLength, fmt.Errorf("%d bytes at offset %d of %d", rep.N, rep.Off, total), "")
	case total < 0 && rep.Size < 0 && rep.N >= 0: // a part, and of what? there may be more
		return f.fail(ErrLength, errors.New("a part of an object whose size is not said"), "")
	}
	// All of it where a range was asked for: a service without ranges, if it is the first
	// reply. Later it is a fault, which may pass.
	whole := rep.Off == 0 && (off > 0 || n >= 0 && (rep.N < 0 || rep.N > n))
	if whole && !f.single.Load() {
		if sp.start != 0 || f.begun {
			return f.again(errors.New("it sends all where a range was asked for"))
		}
		f.ledger.single()
		f.single.Store(true)
		sp.end = total
	}
	if total < 0 && rep.Size >= 0 {
		f.total.Store(rep.Size)
		f.ledger.ended(rep.Size)
		sp.end = rep.Size
	}
	return nil
}
