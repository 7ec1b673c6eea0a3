package chromium

import (
	"net"
	"net/http"
	"regexp"
	"sync"
)

// A trap is the proxy that the browser has for every host that is not this machine's loopback. It refuses all, and notes
// what it was asked: a request that a page made in any way, a worker's and a prefetch too.
type trap struct {
	*http.Server
	mu    sync.Mutex
	asked []string
}

func newTrap() (*trap, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &trap{}
	t.Server = &http.Server{Addr: l.Addr().String(), Handler: t}
	go t.Serve(l)
	return t, nil
}

// own matches hosts that Chromium asks by itself, for the time and for updates of its parts, whatever flags it has. What a
// page asks of them is among the events of its tab.
var own = regexp.MustCompile(`(^|\.)(google|googleapis|gvt1)\.com(:\d+)?$`)

func (t *trap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer http.Error(w, "nothing leaves", http.StatusForbidden)
	if own.MatchString(r.Host) {
		return
	}
	t.mu.Lock()
	t.asked = append(t.asked, r.Method+" "+r.URL.String()+" of "+r.Host)
	t.mu.Unlock()
}

// take returns what was asked since the last time.
func (t *trap) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	asked := t.asked
	t.asked = nil
	return asked
}
