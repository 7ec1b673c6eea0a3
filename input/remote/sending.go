package remote

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// watchSent makes a request cancel itself with errStuck where its body is not taken.
func watchSent(req *http.Request, stall time.Duration, cancel context.CancelCauseFunc) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	watched := func(body io.ReadCloser) io.ReadCloser {
		return &sentBody{body: body, cancel: cancel, stall: stall}
	}
	req.Body = watched(req.Body)
	if again := req.GetBody; again != nil { // for a connection that was closed before it was used
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return watched(body), nil
		}
	}
	return req
}

// A sentBody cancels its request when the time between its reads, in which the connection takes what was
// read, is longer than stall and too few bytes have gone by then, as watchedBody has it.
type sentBody struct {
	body   io.ReadCloser
	cancel context.CancelCauseFunc
	stall  time.Duration

	mu    sync.Mutex // net/http may close a body while it reads it
	timer *time.Timer
	ended bool
	since time.Time     // when the last read ended
	spent time.Duration // between reads, since sent was last enough
	sent  int64         // bytes, in that time
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	if b.timer != nil {
		b.timer.Stop()
		b.spent += time.Since(b.since)
	}
	if b.sent >= 1+int64(b.stall.Seconds()*trickle) {
		b.spent, b.sent = 0, 0
	}
	b.mu.Unlock()

	n, err := b.body.Read(p)

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || err != nil {
		return n, err
	}
	b.sent += int64(n)
	b.since = time.Now()
	left := max(b.stall-b.spent, time.Millisecond)
	if b.timer == nil {
		b.timer = time.AfterFunc(left, func() { b.cancel(errStuck) })
	} else {
		b.timer.Reset(left)
	}
	return n, nil
}

func (b *sentBody) Close() error {
	b.mu.Lock()
	b.ended = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.mu.Unlock()
	return b.body.Close()
}
