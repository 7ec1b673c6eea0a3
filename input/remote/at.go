package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Read reads len(p) bytes of o from off on, of its version, and repeats failed requests.
func (c *Client) Read(ctx context.Context, o Object, p []byte, off int64) error {
	s, err := c.store(o.URL)
	if err != nil || len(p) == 0 {
		return err
	}
	f := &fetch{c: c, store: s, o: o, pace: &pace{patience: c.opts.patience()}}
	f.total.Store(max(o.Size, -1))
	a := &attempts{opts: c.opts, pace: f.pace}
	for at := 0; ; {
		n, err := f.readOnce(ctx, p[at:], off+int64(at))
		if at += n; at == len(p) {
			return nil
		}
		if err = a.next(ctx, err, n > 0); err != nil {
			return err
		}
		a.known = true
	}
}

// readOnce makes one attempt, with a connection. It returns how many bytes have come, which count after an
// error, too.
func (f *fetch) readOnce(ctx context.Context, p []byte, off int64) (n int, err error) {
	var token *connToken
	select {
	case token = <-f.c.conns:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { f.c.conns <- token }()
	f.pace.enter()
	defer f.pace.leave()
	rep, err := f.store.get(ctx, f.o, off, int64(len(p)))
	if err != nil {
		return 0, err
	}
	defer rep.Body.Close()
	total := f.total.Load()
	switch {
	case rep.Version != "" && f.o.Version != "" && rep.Version != f.o.Version:
		return 0, f.fail(ErrChanged, nil, againHint)
	case rep.Size >= 0 && total >= 0 && rep.Size != total:
		return 0, f.fail(ErrChanged, fmt.Errorf("%d bytes have become %d", total, rep.Size), againHint)
	case rep.Off > off:
		return 0, f.fail(ErrLength, fmt.Errorf("bytes from %d on have come for those from %d on", rep.Off, off), "")
	}
	if _, err := io.CopyN(io.Discard, rep.Body, off-rep.Off); err != nil { // all of it, of a service without ranges
		return 0, f.cut(ctx, off, err)
	}
	n, err = io.ReadFull(rep.Body, p)
	f.pace.brought(int64(n))
	if err != nil {
		return n, f.cut(ctx, off+int64(n), err)
	}
	return n, nil
}

// cut makes the error of a body that ends at offset at, before its time.
func (f *fetch) cut(ctx context.Context, at int64, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if total := f.total.Load(); errors.Is(err, io.EOF) && total >= 0 && at >= total {
		return f.fail(ErrLength, fmt.Errorf("it ends at offset %d", total), "")
	}
	return f.broken(&span{end: max(f.total.Load(), at)}, at, unexpected(err))
}
