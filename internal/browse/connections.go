package browse

import (
	"container/list"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections limits the open connections: a browser opens six, and others may hang until they time out.
const connections = 128

// Limits of a connection. A browser on this machine needs milliseconds; one behind ssh some seconds.
const (
	headerTime = 5 * time.Second  // from the first byte of a request to the last of its headers
	readTime   = 15 * time.Second // to the last byte of its body
	writeTime  = 30 * time.Second // for each chunk of a response
	idleTime   = 90 * time.Second // between requests
	maxHeader  = 32 << 10         // of a request; cookies of all ports are in it
	chunk      = 64 << 10
)

// server returns a server without a handler. It supports only HTTP/1.
func (g *guard) server() *http.Server {
	s := &http.Server{
		ReadHeaderTimeout:            headerTime,
		ReadTimeout:                  readTime,
		WriteTimeout:                 writeTime, // extended by the handler of wrap
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0), // errors of clients; recovered logs panics
		Protocols:                    new(http.Protocols),
	}
	s.Protocols.SetHTTP1(true)
	new(pending).watch(s)
	return s
}

// A writer extends the write deadline before each chunk of a response.
type writer struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	begun    bool // the status has been written
}

func newWriter(w http.ResponseWriter, patience time.Duration) *writer {
	n := &writer{ResponseWriter: w, control: http.NewResponseController(w), patience: patience}
	n.extend()
	return n
}

// extend sets the write deadline to patience from now. A writer without deadlines, as in tests, is unchanged.
func (w *writer) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.patience)) }

// Unwrap lets http.ResponseController find the writer's methods.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) WriteHeader(status int) {
	w.begun = true
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (n int, err error) {
	w.begun = true
	for first := true; first || len(b) > 0 && err == nil; first = false {
		part := b[:min(len(b), chunk)]
		w.extend()
		k, failed := w.ResponseWriter.Write(part)
		n, b, err = n+k, b[k:], failed
	}
	return n, err
}

// Flush sends the buffered data.
func (w *writer) Flush() { _ = w.FlushError() } // the next Write returns the error

// FlushError is Flush for http.ResponseController, with an error.
func (w *writer) FlushError() error {
	w.begun = true
	w.extend()
	return w.control.Flush()
}

// mostPending limits the connections that wait for the end of a request's headers. To admit another one, the server
// closes the oldest. A browser sends its headers at once.
const mostPending = 48

// pending is the connections that have no complete request yet.
type pending struct {
	mu    sync.Mutex
	order list.List // of net.Conn, the oldest first
	at    map[net.Conn]*list.Element
}

// pendingKey is the context key of the function that removes the connection from pending.
type pendingKey struct{}

func (p *pending) watch(s *http.Server) {
	p.at = map[net.Conn]*list.Element{}
	s.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew || state == http.StateActive {
			p.add(c)
		} else {
			p.remove(c)
		}
	}
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, pendingKey{}, func() { p.remove(c) })
	}
}

func (p *pending) add(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at[c] != nil {
		return
	}
	p.at[c] = p.order.PushBack(c)
	if p.order.Len() > mostPending {
		oldest := p.order.Remove(p.order.Front()).(net.Conn)
		delete(p.at, oldest)
		oldest.Close()
	}
}

func (p *pending) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.at[c]; e != nil {
		p.order.Remove(e)
		delete(p.at, c)
	}
}
