package chromium

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// serve answers with pages of one body each; what is not in pages is not found.
func serve(t *testing.T, pages map[string]string) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".txt") {
			w.Header().Set("Content-Disposition", `attachment; filename="keys.txt"`)
			fmt.Fprint(w, body)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "script-src 'nonce-x'")
		fmt.Fprintf(w, `<!doctype html><html lang="en"><title>T</title><link rel="icon" href="data:,"><main><h1>T</h1>%s</main></html>`, body)
	}))
	t.Cleanup(server.Close)
	return server
}

// A page is driven and looked at as a person would, and nothing is found wrong with it.
func TestTab(t *testing.T) {
	server := serve(t, map[string]string{
		"/": `<style>body { background: white; color: black } @media (prefers-color-scheme: dark) { body { background: black; color: white } }</style>
			<label>Name <input id="name"></label> <button id="b">Say</button> <p id="said"></p> <a href="/keys.txt" id="keys" style="color: inherit">keys</a>
			<script nonce="x">document.querySelector("#b").onclick = () => { said.textContent = document.querySelector("#name").value }
			document.onkeydown = e => { document.title = e.key; if (e.key == "x") e.preventDefault() }</script>`,
		"/keys.txt": "a\nb\n",
	})
	tab := Open(t, server.URL)
	tab.Go("/")
	tab.Type("#name", "Ada")
	tab.Click("#b")
	tab.Wait(`said.textContent == "Ada"`)
	tab.Press(kb.ArrowRight)
	tab.Wait(`document.title == "ArrowRight"`)
	tab.Click("#name")
	tab.Press("x?y", kb.Backspace, "z") // x is prevented
	tab.Wait(`document.querySelector("#name").value == "Ada?z"`)
	if name, data := tab.Download(func() { tab.Click("#keys") }); name != "keys.txt" || string(data) != "a\nb\n" {
		t.Errorf("%s: %q", name, data)
	}
	for _, v := range Views {
		tab.Look(v)
		tab.Accessible()
		picture, err := png.Decode(bytes.NewReader(tab.Picture("png")))
		if err != nil {
			t.Fatal(err)
		}
		r, _, _, _ := picture.At(2, 2).RGBA()
		if b := picture.Bounds(); int64(b.Dx()) != v.Width || int64(b.Dy()) != v.Height || (r == 0) != v.Dark {
			t.Errorf("%s: %v, red %d", v.Name, b, r)
		}
	}
	if h := tab.Held(); h.Heap < 1<<10 || h.Heap > 1<<28 || h.Nodes < 10 || h.Nodes > 1000 {
		t.Errorf("%+v", h)
	}
	if r := tab.Requests(); len(r) != 2 || r[0] != "GET "+server.URL+"/" {
		t.Errorf("%q", r)
	}
	t.Setenv(ScreenshotsVariable, t.TempDir())
	tab.Screenshot("tab.webp")
	if data, err := os.ReadFile(filepath.Join(os.Getenv(ScreenshotsVariable), "tab.webp")); err != nil || !strings.HasPrefix(string(data), "RIFF") {
		t.Errorf("%.20q, %v", data, err)
	}
}

// A tab gets its own download while another tab, of another test, downloads something else.
func TestDownloads(t *testing.T) {
	open := func(text string) *Tab {
		tab := Open(t, serve(t, map[string]string{"/": `<a href="/keys.txt" id="keys">keys</a>`, "/keys.txt": text}).URL)
		tab.Go("/")
		return tab
	}
	first, second := open("first"), open("second")
	_, data := first.Download(func() {
		if _, data := second.Download(func() { second.Click("#keys") }); string(data) != "second" {
			t.Errorf("the second tab has %q", data)
		}
		first.Click("#keys")
	})
	if string(data) != "first" {
		t.Errorf("the first tab has %q", data)
	}
}

// Each thing that can go wrong on a page is told.
func TestProblems(t *testing.T) {
	other := serve(t, map[string]string{"/": "another origin"})
	for _, row := range []struct{ name, body, want string }{
		{"console", `<script nonce="x">console.error("it", 7)</script>`, `console.error: "it" 7`},
		{"script", `<script nonce="x">none.such()</script>`, "a script ends: Uncaught ReferenceError: none is not defined"},
		{"promise", `<script nonce="x">Promise.reject(new Error("late"))</script>`, "a script ends: Uncaught (in promise) Error: late"},
		{"policy", `<script>console.log("inline")</script>`, "security: Executing inline script violates"},
		{"missing", `<img src="/none.png" alt="none">`, "/none.png is 404"},
		{"dialog", `<script nonce="x">alert("hello")</script>`, "a dialog opens: alert: hello"},
		{"window", `<script nonce="x">open("about:blank")</script>`, "another window opens: about:blank"},
		{"origin", `<img src="` + other.URL + `/" alt="other">`, "a request leaves: GET " + other.URL},
		{"host", `<img src="http://leaves.example/x.png" alt="leaves">`, "a request leaves: GET http://leaves.example/x.png of leaves.example"},
		{"socket", `<script nonce="x">new WebSocket("ws://leaves.example/x")</script>`, "a request leaves: WebSocket ws://leaves.example/x; of leaves.example:80"}, // both, so that no later test is told
	} {
		t.Run(row.name, func(t *testing.T) {
			tab := Open(t, serve(t, map[string]string{"/": row.body}).URL)
			tab.Go("/")
			problems, end := "", time.Now().Add(patience)
			for _, want := range strings.Split(row.want, "; ") {
				for !strings.Contains(problems, want) { // some come after the page
					if time.Now().After(end) {
						t.Fatalf("%s\nwant %s", problems, want)
					}
					time.Sleep(10 * time.Millisecond)
					problems += strings.Join(tab.Problems(), "\n") + "\n"
				}
			}
		})
	}
}

// What axe-core finds fails a test, with the element; and so does a tab whose problems the test has not asked for.
func TestFails(t *testing.T) {
	server := serve(t, map[string]string{"/": `<img src="data:,"><p style="color: #999; background: #aaa">pale</p><script nonce="x">console.error("left")</script>`})
	tab := Open(t, server.URL)
	tab.Go("/")
	tab.Problems()
	said := fmt.Sprint(tab.violations())
	for _, want := range []string{"image-alt", "color-contrast"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s\nwant %s", said, want)
		}
	}
	a := need.Try(t, func(t testing.TB) { Open(t, server.URL).Go("/") })
	if a.Ended != "" || !strings.Contains(a.Said.String(), `console.error: "left"`) {
		t.Errorf("%q: %s", a.Ended, &a.Said)
	}
}

// No process and no file stay behind a test process. This one runs itself.
func TestLeavesNothing(t *testing.T) {
	const inner = "FFCONVERT_CHROMIUM_INNER"
	if os.Getenv(inner) != "" {
		tab := Open(t, "http://127.0.0.1:1")
		fmt.Println("PID", chromedp.FromContext(tab.ctx).Browser.Process().Pid)
		return
	}
	need.Tool(t, "chromium")
	need.Time(t, "a browser")
	tmp := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLeavesNothing$")
	cmd.Env = append(os.Environ(), inner+"=1", "TMPDIR="+tmp)
	out, err := cmd.CombinedOutput()
	_, rest, _ := strings.Cut(string(out), "PID ")
	var pid int
	if _, scan := fmt.Sscan(rest, &pid); err != nil || scan != nil {
		t.Fatalf("%v, %v: %s", err, scan, out)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	left := func() (left []string) {
		all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range all {
			if line, _ := os.ReadFile(name); strings.Contains(string(line), tmp) || strings.HasPrefix(name, fmt.Sprintf("/proc/%d/", pid)) {
				left = append(left, fmt.Sprintf("%s: %.200q", name, line))
			}
		}
		return left
	}
	for wait := time.Now().Add(patience); len(left()) > 0 && time.Now().Before(wait); { // the last of them are ending
		time.Sleep(20 * time.Millisecond)
	}
	if l := left(); len(l) > 0 {
		t.Errorf("%q", l)
	}
}
