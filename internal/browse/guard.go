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

// A guard lets one person's browser, and nothing else, talk to a server on this machine. The link with the token sets a cookie; a
// request without the cookie gets one sentence. A request is refused before the handler sees it if it names another host (a
// rebound DNS name), if a page of another origin makes it, if its path is not plain, or if it would change something without the
// token of a form. Every answer forbids scripts of others, framing, guessing of types, and storing. A guard may be used by
// several goroutines.
type guard struct {
	log io.Writer // gets a line for each handler that panics; nil: none does

	loopback bool   // the server listens for this machine alone
	name     string // of this machine
	url      string // with the token: whoever has it has what the server shows
	token    string
	cookie   http.Cookie
	form     string // in each form

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

// formField is the field of a form that holds guard.form. Pages contain it, and only requests with the cookie get pages.
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
func (g *guard) known(r *http.Request) bool {
	found := false
	for _, c := range r.CookiesNamed(g.cookie.Name) {
		found = same(c.Value, g.cookie.Value) || found
	}
	return found
}

// allow reports whether the header Host names this server. Any port will do: `ssh -L` changes it. A page of the name
// evil.example can make that name mean 127.0.0.1 (DNS rebinding), and is then of the server's origin: names that others
// control are refused. An address cannot be rebound.
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
