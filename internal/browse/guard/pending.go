package guard

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// mostPending is how many connections may wait for the end of a request's headers at once. Others have their turn at
// once: the one that has waited longest is closed. A browser sends headers whole.
const mostPending = 48

// pending are the connections whose request has not come to a handler yet.
type pending struct {
	mu    sync.Mutex
	order list.List // of net.Conn, the oldest first
	at    map[net.Conn]*list.Element
}

// pendingKey is the key of a context for what a handler calls first.
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

// arrived notes that the headers of a request are whole.
func arrived(r *http.Request) {
	if done, ok := r.Context().Value(pendingKey{}).(func()); ok {
		done()
	}
}
