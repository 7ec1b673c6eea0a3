package browse

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// maxForm limits the body of a POST in bytes: a token and a few words.
const maxForm = 64 << 10

// headers are set on every response. The handler may replace Cache-Control for files that a browser should cache.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "same-origin", // no-referrer would make the Origin of forms null
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cache-Control":                "no-store",
}

// Texts of refusals. A refused request gets nothing else.
const (
	noToken  = "Open the link that ffconvert browse printed: it has a token in it."
	noHost   = "This server answers to localhost and to its address."
	noOrigin = "A page of another origin has made this request."
	noMethod = "GET and HEAD show, POST verifies; there is nothing else."
	noPath   = "There is nothing here."
	noForm   = "The page is too old, or of another server: load it again."
)

// wrap returns a handler that passes requests with the cookie to next. It extends the deadline before each write of at
// most 64 KiB: a response may take any time, but a client whose socket accepts nothing within writeTime is
// disconnected.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if arrived, ok := r.Context().Value(pendingKey{}).(func()); ok {
			arrived() // the headers are complete
		}
		w := newWriter(rw, g.patience)
		defer w.extend() // for data in net/http's buffers
		defer g.recovered(w)
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if status, why := g.refuse(r); status != 0 {
			refuse(w, status, why)
			return
		}
		if r.URL.Path == "/" && r.URL.Query().Has("token") {
			g.enter(w, r)
			return
		}
		if status, why := g.foreign(r); status != 0 {
			refuse(w, status, why)
			return
		}
		if r.Method == http.MethodPost {
			if status, why := g.posted(w, r); status != 0 {
				refuse(w, status, why)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// refuse responds with one sentence and closes the connection, so that clients without the token hold none.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, why)
}

// refuse checks what every request must have, even one with the token. It returns 0 if the request may proceed.
func (g *guard) refuse(r *http.Request) (status int, why string) {
	switch {
	case !g.allow(r.Host):
		return http.StatusMisdirectedRequest, noHost
	case r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, noMethod
	case r.Method != http.MethodPost && (r.ContentLength != 0 || len(r.TransferEncoding) > 0):
		return http.StatusBadRequest, noMethod
	case !plain(r.RequestURI):
		return http.StatusNotFound, noPath
	}
	return 0, ""
}

// plain reports whether the path of a request has only letters, digits, dashes, underscores and points, no empty
// element, and none that begins with a point. Paths of this server need no escapes, so escapes are refused.
func plain(uri string) bool {
	path, _, _ := strings.Cut(uri, "?")
	if !strings.HasPrefix(path, "/") || strings.Contains(path, "//") || strings.Contains(path, "/.") {
		return false
	}
	return strings.IndexFunc(path, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("/._-", r))
	}) < 0
}

// enter sets the cookie for a request with the token.
func (g *guard) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost || !same(r.URL.Query().Get("token"), g.token) {
		refuse(w, http.StatusForbidden, noToken)
		return
	}
	http.SetCookie(w, &g.cookie)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(lead("/"))
}

// foreign refuses requests without the cookie, and requests from pages of other origins: browsers also send the cookie
// with requests from another port of this host. The rule is that of http.CrossOriginProtection, applied to GET too.
// Browsers before 2023, and all browsers if the server's host is neither localhost nor a loopback address, send no
// Sec-Fetch-Site; they send Origin with a POST and with fetches of scripts.
func (g *guard) foreign(r *http.Request) (status int, why string) {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "same-origin", "none":
	case "":
		if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
			return http.StatusForbidden, noOrigin
		}
	default:
		return http.StatusForbidden, noOrigin
	}
	if !g.known(r) {
		return http.StatusForbidden, noToken
	}
	return 0, ""
}

// posted refuses a POST without the token of this server's forms. The body is limited, and never written to disk.
func (g *guard) posted(w http.ResponseWriter, r *http.Request) (status int, why string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return http.StatusUnsupportedMediaType, noForm
	}
	if r.ParseForm() != nil || !same(r.PostForm.Get(formField), g.form) {
		return http.StatusForbidden, noForm
	}
	return 0, ""
}

// recovered responds for a handler that panicked. It aborts a response that has begun, so that it does not look
// complete.
func (g *guard) recovered(w *writer) {
	err := recover()
	if err == nil {
		return
	}
	if err == http.ErrAbortHandler {
		panic(err)
	}
	if g.log != nil {
		fmt.Fprintln(g.log, text.Line(fmt.Sprintf("a page could not be made, because of a mistake in ffconvert: %v", err)))
	}
	if w.begun {
		panic(http.ErrAbortHandler)
	}
	refuse(w, http.StatusInternalServerError, "This page could not be made: ffconvert has a mistake.")
}
