package guard

import (
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Times and sizes of a connection. A browser on this machine needs milliseconds; one behind ssh some seconds.
const (
	headerTime = 5 * time.Second  // from the first byte of a request to the last of its headers
	readTime   = 15 * time.Second // to the last byte of its body
	writeTime  = 30 * time.Second // for each chunk of an answer
	idleTime   = 90 * time.Second // between requests
	maxHeader  = 32 << 10         // of a request; cookies of all ports are in it
	chunk      = 64 << 10
)

// Server returns a server without a handler. It speaks HTTP/1.
func (g *Guard) Server() *http.Server {
	s := &http.Server{
		ReadHeaderTimeout:            headerTime,
		ReadTimeout:                  readTime,
		WriteTimeout:                 writeTime, // moved on by the handler of Wrap
		IdleTimeout:                  idleTime,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0), // what clients do wrong; recovered logs panics
		Protocols:                    new(http.Protocols),
	}
	s.Protocols.SetHTTP1(true)
	new(pending).watch(s)
	return s
}

// Limit returns a listener that has at most n connections open. Others wait until one is closed.
func Limit(l net.Listener, n int) net.Listener { return netutil.LimitListener(l, n) }

// A writer moves the deadline on before each chunk of an answer.
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

// extend gives the client that time from now on. A writer without deadlines, as tests have, is left alone.
func (w *writer) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.patience)) }

// Unwrap is for http.ResponseController.
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

// Flush sends what has been written.
func (w *writer) Flush() { _ = w.FlushError() } // the next Write has the error

// FlushError is Flush for http.ResponseController.
func (w *writer) FlushError() error {
	w.begun = true
	w.extend()
	return w.control.Flush()
}
