package remote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

const mostRedirects = 5

// carried are the headers that follow a redirect to another host. All others may be a
// credential under a name of their own, as X-Amz-Security-Token is.
var carried = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "User-Agent": true, "Range": true,
	"If-Match": true, "If-None-Match": true, "If-Range": true, "If-Modified-Since": true, "If-Unmodified-Since": true,
}

// redirect is the CheckRedirect of our clients: at most five, from a scheme to the same one or
// from http to https, and no credentials to another host or port. Once one other host was
// asked they stay behind, even where it leads back: it would choose what they are used for.
func redirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > mostRedirects:
		return fmt.Errorf("%w: more than %d times", ErrRedirect, mostRedirects)
	case req.URL.Scheme != from.Scheme && (from.Scheme != "http" || req.URL.Scheme != "https"):
		return fmt.Errorf("%w: from %s to %s", ErrRedirect, from.Scheme, clean(req.URL.Scheme))
	}
	req.Header.Del("Referer") // its query may be a signature
	home := hostPort(via[0].URL)
	left := hostPort(req.URL) != home
	for _, r := range via {
		left = left || hostPort(r.URL) != home
	}
	if left {
		for name := range req.Header {
			if !carried[name] {
				req.Header.Del(name)
			}
		}
		req.URL.User = nil // nor such that a server makes up
	}
	return nil
}

// hostPort is the host and port that u leads to.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
