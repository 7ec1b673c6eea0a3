package browse_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A page of another origin, opened by a person who has the dataset open beside it, gets nothing: no answer of any kind
// is readable, nothing is shown in a frame, nothing is begun by a form, and its links lead to a refusal.
func TestOtherOrigin(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	url, origin := serve(t, captions.of(t))
	// The same machine under another name and another port: to a browser one site, 127.0.0.1, whose cookies are sent.
	var begun atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>other</title><h1>other</h1><iframe id="frame" src="%[1]s/d/0/"></iframe>
			<form id="form" method="post" action="%[1]s/d/0/verify" target="sink"><input name="token" value="guess"></form><iframe name="sink" id="sink"></iframe>
			<a id="link" href="%[1]s/d/0/">link</a> <a id="invitation" href="%[2]s">invitation</a>`, html.EscapeString(origin), html.EscapeString(url))
	}))
	defer other.Close()
	for _, from := range []string{other.URL, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)} {
		t.Run(from, func(t *testing.T) {
			tab := chromium.Open(t, origin, from)
			enter(tab, url)
			tab.Go(from)
			// Answers that a page may not read are errors of the console: that is what is wanted here.
			got := chromium.Eval[map[string]any](tab, fmt.Sprintf(`(async () => {
				const to = %q, got = {}
				const load = (e, name, src) => new Promise(done => { e.onload = () => { got[name] = "loads"; done() }; e.onerror = done; e[e.tagName == "LINK" ? "href" : "src"] = src; if (e.tagName != "IMG") document.head.append(e); setTimeout(done, 3000) })
				for (const mode of ["cors", "no-cors"]) for (const path of ["/d/0/", "/d/0/raw/0/0", "/d/0/keys", "/d/0/cards", "/static/grid.js"]) {
					try { const r = await fetch(to + path, {mode, credentials: "include"}); const text = await r.text(); if (r.type != "opaque" || text) got[mode + path] = r.type + r.status } catch {}
				}
				try { const r = await fetch(to + "/d/0/verify", {method: "POST", mode: "no-cors", credentials: "include", body: new URLSearchParams({token: "guess"})}); got.post = r.type == "opaque" ? undefined : r.status } catch {}
				await load(new Image(), "img", to + "/d/0/thumb/0")
				await load(new Image(), "raw", to + "/d/0/raw/0/0")
				await load(document.createElement("script"), "script", to + "/static/grid.js")
				await load(Object.assign(document.createElement("link"), {rel: "stylesheet"}), "style", to + "/static/style.css")
				form.submit()
				await new Promise(done => setTimeout(done, 300))
				for (const f of [frame, sink]) { try { if (f.contentDocument.body.innerText) got[f.id] = f.contentDocument.body.innerText } catch {} }
				const w = open(to + "/d/0/", "w")
				for (let i = 0; i < 200 && !w.closed; i++) await new Promise(done => setTimeout(done, 50)) // a page of another group of windows
				if (!w.closed) got.window = "kept"
				return got
			})()`, origin))
			tab.Problems()
			if len(got) > 0 {
				t.Errorf("the other origin gets %v", got)
			}
			tab.Click("#link")
			tab.Wait(`location.origin == "` + origin + `"`)
			if text := chromium.Eval[string](tab, "document.body.innerText"); !strings.Contains(text, "A page of another origin has made this request.") {
				t.Errorf("a link from %s leads to: %s", from, text)
			}
			tab.Problems()
			tab.Go(origin + "/d/0/")
			if state := chromium.Eval[string](tab, "document.querySelector('.verdict').innerText"); strings.Contains(state, "Sound") || strings.Contains(state, "Verifying now") {
				t.Errorf("the other origin has begun a verification: %s", state)
			}
			tab.Problems()
			tab.Go(from)
			tab.Problems()
			tab.Click("#invitation") // the link with the secret is good wherever it is followed from
			tab.Wait(`location.pathname == "/d/0/" && document.querySelector(".verdict")`)
		})
	}
	if begun.Load() == 0 {
		t.Error("the other origin was not asked")
	}
}
