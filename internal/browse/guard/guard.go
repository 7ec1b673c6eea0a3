// Package guard lets one person's browser, and nothing else, talk to a server on this machine.
//
//	g, err := guard.New(listener.Addr())
//	fmt.Println(g.URL())                  // http://127.0.0.1:40123/?token=…
//	server := g.Server()
//	server.Handler = g.Wrap(mux)
//	server.Serve(guard.Limit(listener, guard.Connections))
//
// The link with the token sets a cookie; a request without the cookie gets one sentence. A request is refused before the handler sees it
// if it names another host (a rebound DNS name), if a page of another origin makes it, if its path is not plain, or if it would change
// something without the token of a form. Every answer forbids scripts of others, framing, guessing of types, and storing.
package guard

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Connections is how many connections are open at once: a browser opens six, and the others time out.
const Connections = 128

// A Guard is the secrets of one server. It may be used by several goroutines.
type Guard struct {
	// Log gets a line for each handler that panics. nil means nowhere. It is set before Wrap and Server.
	Log io.Writer

	hosts  hosts
	url    string
	token  string // in the link
	cookie http.Cookie
	form   string // in each form

	patience time.Duration // writeTime
}

// New returns the guard of a server that listens at addr.
func New(addr net.Addr) (*Guard, error) {
	at, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("listen at %s: not a TCP address", addr)
	}
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	g := &Guard{hosts: hosts{loopback: at.IP.IsLoopback(), name: name}, token: secret(), form: secret(), patience: writeTime}
	// Browsers send a cookie to all ports of a host: each server has a name of its own.
	g.cookie = http.Cookie{Name: "ffconvert-" + secret()[:8], Value: secret(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}
	shown := at.IP.String()
	if at.IP.IsUnspecified() {
		if shown = name; shown == "" {
			shown = "127.0.0.1"
		}
	}
	root := url.URL{Scheme: "http", Host: net.JoinHostPort(shown, fmt.Sprint(at.Port)), Path: "/", RawQuery: "token=" + g.token}
	g.url = root.String()
	return g, nil
}

// secret returns 256 random bits as text for URLs.
func secret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// URL returns the link that opens the server. All that have it have what the server shows.
func (g *Guard) URL() string { return g.url }

// Loopback reports whether only this machine reaches the server.
func (g *Guard) Loopback() bool { return g.hosts.loopback }

// Launcher returns a page that leads to the server. To start a browser, write it to a file that only the user can read: all users of a
// machine see the arguments of each program.
func (g *Guard) Launcher() []byte { return lead(g.url) }

// FormToken returns the value that a POST has in its field [formField]. Pages contain it, and only requests with the cookie get pages.
func (g *Guard) FormToken() string { return g.form }

// formField is the name of the field of a form that holds the FormToken.
const formField = "form"

// lead returns a page that leads to another. A redirect would not do: a cookie that is SameSite=Strict is not sent when another site's
// link began the navigation, and a new page begins a new one.
func lead(to string) []byte {
	var b bytes.Buffer
	to = html.EscapeString(to)
	fmt.Fprintf(&b, `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=%s"><title>ffconvert browse</title><p><a href="%s">Show the dataset</a></p></html>`+"\n", to, to)
	return b.Bytes()
}

// same compares secrets in a time that does not depend on what they are.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// known reports whether a request has the cookie. A server at another port may have set one of the same name, so that all are looked at.
func (g *Guard) known(r *http.Request) bool {
	found := false
	for _, c := range r.CookiesNamed(g.cookie.Name) {
		found = same(c.Value, g.cookie.Value) || found
	}
	return found
}
