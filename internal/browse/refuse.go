package browse

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// maxForm is the limit of the body of a POST in bytes: a token and a few words.
const maxForm = 64 << 10

// headers are on every answer. The handler may replace Cache-Control for what a browser should keep.
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

// Refusals. Each is all that a request gets.
const (
	noToken  = "Open the link that ffconvert browse printed: it has a token in it."
	noHost   = "This server answers to localhost and to its address."
	noOrigin = "A page of another origin has made this request."
	noMethod = "GET and HEAD show, POST verifies; there is nothing else."
	noPath   = "There is nothing here."
	noForm   = "The page is too old, or of another server: load it again."
)

// Wrap returns a handler that passes to next what the browser with the cookie asks for. It moves the deadline on before each write of at most 64 KiB: an
// answer may take any time, while a client whose socket takes none of a write within writeTime is dropped.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		arrived(r)
		w := newWriter(rw, g.patience)
		defer w.extend() // for what net/http still has in its buffers
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

// refuse answers with one sentence, and closes the connection: those that have no token hold none.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintln(w, why)
}

// refuse looks at what even a request for the link of the token must have. It returns 0 for a request to go on with.
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

// plain reports whether a request is for a path of letters, digits, dashes, underscores and points, with no empty name and none that begins with a
// point. Paths of this server need no escapes, so no rule for escapes is needed.
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

// foreign refuses requests without the cookie, and requests that pages of other origins make: browsers send the cookie with those of another port of this
// host. The rule is that of http.CrossOriginProtection, for GET too. A browser of before 2023, and any where the server has neither localhost nor a
// loopback address for a name, sends no Sec-Fetch-Site; it sends Origin with a POST and with what scripts fetch.
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

// posted refuses a POST that no form of this server made. The body is of a limited length, and nothing of it reaches the disk.
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

// recovered answers for a handler that has panicked. An answer that has begun is cut off, so that it is not taken for whole.
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
