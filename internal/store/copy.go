package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
)

// copy writes the bytes of rep that belong to sp, until sp is complete or the body ends. An earlier attempt has written
// the bytes between sp.start and sp.pos: copy compares them with the file.
func (f *fetch) copy(sp *span, rep *reply, buf []byte) error {
	half := len(buf) / 2
	at := rep.Off // offset in the object of the next byte of the body
	for sp.end < 0 || at < sp.end {
		want := int64(len(buf))
		if sp.end >= 0 {
			want = min(want, sp.end-at)
		}
		if at < sp.start {
			want = min(want, sp.start-at)
		} else if at < sp.pos {
			want = min(want, int64(half), sp.pos-at)
		}
		part := buf[:want]
		if f.memory != nil && at == sp.pos {
			part = f.memory[at-sp.start:]
		}
		n, err := rep.Body.Read(part)
		if n > 0 {
			switch {
			case at < sp.start: // the service ignores ranges: skip
			case at < sp.pos:
				if err := f.compare(part[:n], buf[half:half+n], at); err != nil {
					return err
				}
			default:
				if err := f.write(sp, part[:n]); err != nil {
					return err
				}
			}
			at += int64(n)
		}
		if err == io.EOF && at == max(sp.end, sp.pos) {
			break
		}
		if err != nil {
			return f.broken(sp, at, err)
		}
		if f.pace.left() <= 0 {
			return tooSlow(f.fail(ErrUnavailable, nil, ""), f.c.opts.patience())
		}
	}
	if sp.end < 0 { // unknown size: the object ends where the body does
		sp.end = sp.pos
		f.total.Store(sp.pos)
	} else if err := f.nothingMore(sp, rep, buf); err != nil {
		return err
	}
	return f.sniff(sp, true)
}

// write writes the next bytes of a span to the file and reports progress.
func (f *fetch) write(sp *span, p []byte) error {
	if _, err := f.writeAt(p, sp.pos); err != nil {
		return f.fail(nil, fmt.Errorf("write: %w", err), "")
	}
	sp.pos += int64(len(p))
	f.pace.brought(int64(len(p)))
	f.mu.Lock()
	f.progress(int64(len(p)))
	f.mu.Unlock()
	return f.sniff(sp, false)
}

// readBack fills p with bytes that were written to the file before.
func (f *fetch) readBack(p []byte, off int64) error {
	if n, err := f.readAt(p, off); n < len(p) {
		return f.fail(nil, fmt.Errorf("read back: %w", unexpected(err)), "")
	}
	return nil
}

// compare returns [ErrChanged] unless p, received a second time, equals the bytes of the file at off. before is a
// buffer of the same length.
func (f *fetch) compare(p, before []byte, off int64) error {
	if err := f.readBack(before, off); err != nil {
		return err
	}
	if !bytes.Equal(p, before) {
		return f.fail(ErrChanged, errors.New("other bytes have come when it was asked again"), againHint)
	}
	return nil
}

// broken makes the error of a body that ended with err at offset at of the object.
func (f *fetch) broken(sp *span, at int64, err error) error {
	if err == io.EOF && sp.end < 0 && at < sp.pos {
		return f.fail(ErrChanged, fmt.Errorf("%d bytes have become %d", sp.pos, at), againHint)
	}
	if err == io.EOF { // net/http found the body complete, but it is shorter than the span
		e := f.fail(ErrLength, fmt.Errorf("the body ends at offset %d of %d", at, sp.end), "").again()
		e.Hint = ""
		return e
	}
	e := transportError(f.o.URL, unexpected(err))
	if e.Kind == ErrTLS { // the handshake has proven the identity: this is a damaged record
		e.Kind, e.Hint, e.Again = ErrUnavailable, "", true
	}
	e.Err = fmt.Errorf("at offset %d: %w", at, cmp.Or(e.Err, err))
	return e
}

// nothingMore refuses a body without an announced length that continues beyond the end of the object. It
// ignores a read error: all bytes are in the file.
func (f *fetch) nothingMore(sp *span, rep *reply, buf []byte) error {
	if rep.N >= 0 || sp.end != f.total.Load() {
		return nil
	}
	if n, _ := io.ReadFull(rep.Body, buf[:1]); n > 0 {
		return f.fail(ErrLength, fmt.Errorf("more than the %d bytes that were found", sp.end), "")
	}
	return nil
}

// sniff refuses an object of a web server that begins like an HTML page. It looks once, when sniffLen bytes are
// written or, with all, when the span is complete.
func (f *fetch) sniff(sp *span, all bool) error {
	if sp.start != 0 || f.sniffed || !all && sp.pos < sniffLen {
		return nil
	}
	f.sniffed = true
	if !isHTTP(f.o.URL) { // the caller examines objects of buckets
		return nil
	}
	head := make([]byte, min(sniffLen, sp.pos))
	if err := f.readBack(head, 0); err != nil {
		return err
	}
	if IsPage(f.o.URL, head) {
		return f.fail(ErrPage, nil, pageHint)
	}
	return nil
}

// attempt requests the bytes that sp lacks and writes them. sp.pos counts the bytes written, also after an
// error.
func (f *fetch) attempt(ctx context.Context, sp *span, buf []byte) error {
	off, n := sp.pos, int64(-1)
	switch {
	case f.o.whole:
		off = 0
	case off == 0 && f.single.Load() && sp.end == f.total.Load(): // the whole object: no Range header
	case sp.end >= 0:
		n = sp.end - off
	}
	rep, err := f.service.open(ctx, f.o, off, n)
	if err != nil {
		return err
	}
	defer rep.Body.Close()
	if err := f.checkReply(rep, sp, off, n); err != nil {
		return err
	}
	if !f.begun && sp.start == 0 {
		f.begun = true
		f.first <- rep
	}
	return f.copy(sp, rep, buf)
}

// checkReply compares a reply with the request and the object. The first reply also shows whether the
// service supports ranges, and the size of the object.
func (f *fetch) checkReply(rep *reply, sp *span, off, n int64) error {
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
	case total < 0 && rep.Size < 0 && rep.N >= 0: // a range of an object of unknown size: there may be more
		return f.fail(ErrLength, errors.New("a part of an object whose size is not said"), "")
	}
	// A reply with the whole object to a request for a range: if it is the first reply, the service has
	// no ranges. Later it is a fault, and a retry may succeed.
	whole := rep.Off == 0 && (off > 0 || n >= 0 && (rep.N < 0 || rep.N > n))
	if whole && !f.single.Load() {
		if sp.start != 0 || f.begun {
			return f.fail(ErrUnavailable, errors.New("it sends all where a range was asked for"), "").again()
		}
		f.single.Store(true)
		sp.end = total
	}
	if total < 0 && rep.Size >= 0 {
		f.total.Store(rep.Size)
		if sp.end < 0 {
			sp.end = rep.Size
		}
	}
	return nil
}
