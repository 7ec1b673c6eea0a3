package browse

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
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// A guard lets only one person's browser use a server on this machine. The link with the token sets a cookie; a request
// without the cookie gets one sentence. A request is refused before the handler sees it if it names another host (a
// rebound DNS name), if a page of another origin makes it, if its path is not plain, or if it would change state
// without the form token. Every response forbids foreign scripts, framing, type guessing, and storing. A guard may be
// used concurrently.
type guard struct {
	log io.Writer // gets a line for each handler that panics; nil: no log

	loopback bool   // the server listens only on a loopback address
	name     string // of this machine
	url      string // includes the token, which gives access to all pages
	token    string
	cookie   http.Cookie
	form     string // the form token, in each form

	patience time.Duration // writeTime
}

// newGuard returns the guard of a server that listens at addr.
func newGuard(addr net.Addr) (*guard, error) {
	at, ok := addr.(*net.TCPAddr)
	if !ok {
		return nil, fmt.Errorf("listen at %s: not a TCP address", addr)
	}
	name, err := os.Hostname()
	if err != nil {
		name = ""
	}
	g := &guard{loopback: at.IP.IsLoopback(), name: name, token: secret(), form: secret(), patience: writeTime}
	// Browsers send a cookie to all ports of a host: each server needs another name.
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

// secret returns 256 random bits as text that is valid in URLs.
func secret() string {
	var b [32]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// formField is the form field with guard.form. Only requests with the cookie get pages, which contain it.
const formField = "form"

// lead returns a page that navigates to another one. A redirect would not do: browsers do not send a cookie with
// SameSite=Strict if another site's link began the navigation, and a new page begins a new navigation.
func lead(to string) []byte {
	var b bytes.Buffer
	to = html.EscapeString(to)
	fmt.Fprintf(&b, `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=%s"><title>ffconvert browse</title><p><a href="%s">Show the dataset</a></p></html>`+"\n", to, to)
	return b.Bytes()
}

// same compares secrets in constant time.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// known reports whether a request has the cookie. It compares all cookies of the name, since a server at another port
// may have set one.
func (g *guard) known(r *http.Request) bool {
	found := false
	for _, c := range r.CookiesNamed(g.cookie.Name) {
		found = same(c.Value, g.cookie.Value) || found
	}
	return found
}

// allow reports whether the header Host names this server. Any port is allowed: `ssh -L` changes it. A page of
// evil.example can make that name resolve to 127.0.0.1 (DNS rebinding) and then has the server's origin: so names that
// others control are refused. An address cannot be rebound.
func (g *guard) allow(host string) bool {
	name := host
	if strings.HasPrefix(host, "[") || strings.Contains(host, ":") {
		var port string
		var err error
		if strings.HasSuffix(host, "]") {
			host += ":80"
		}
		if name, port, err = net.SplitHostPort(host); err != nil {
			return false
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			return false
		}
	}
	bracketed := strings.HasPrefix(host, "[")
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Is6() == bracketed && addr.Zone() == "" && (addr.IsLoopback() || !g.loopback)
	}
	if bracketed || strings.EqualFold(name, "localhost") {
		return !bracketed
	}
	short, _, _ := strings.Cut(g.name, ".")
	return !g.loopback && name != "" && (strings.EqualFold(name, g.name) || strings.EqualFold(name, short))
}
