// Package chromium shows pages to a real browser, Debian's Chromium without a window, and reports what a person or an
// attacker could see go wrong. Only tests import it.
//
//	func TestMain(m *testing.M) { os.Exit(chromium.Main(m)) }
//
//	tab := chromium.Open(t, server.URL) // a tab with cookies of its own
//	tab.Look(chromium.Narrow)
//	tab.Go("/classes")
//	tab.Wait(`document.querySelectorAll("tr").length > 9`)
//	tab.Accessible()
//
// A tab fails its test at the end, or where Problems is asked, for each of: an error on the console or of a script, what the
// Content-Security-Policy refused, an answer of 400 or more, a dialog, another window, and a request that leaves: one to
// an origin that Open was not told.
package chromium

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// shared is the browser of this process. Open starts it, Main ends it.
var shared struct {
	once sync.Once
	ctx  context.Context
	home string
	trap *trap
	err  error
}

// Main runs the tests of a package, and ends the browser that they have used: no process and no file of it stay.
func Main(m *testing.M) int {
	code := m.Run()
	if err := stop(); err != nil {
		os.Stderr.WriteString("chromium: " + err.Error() + "\n")
		code = max(code, 1)
	}
	return code
}

func start(path string) {
	b := &shared
	if b.home, b.err = os.MkdirTemp("", "ffconvert-chromium-*"); b.err != nil {
		return
	}
	if b.trap, b.err = newTrap(); b.err != nil {
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path),
		// Chromium does not start its sandbox as root, which tests in a container are. What it shows here are our own pages.
		chromedp.NoSandbox,
		chromedp.DisableGPU, // there is none, and drawing by the processor as if there were takes more of it
		// Names resolve nowhere: what is not on the loopback is asked of the trap.
		chromedp.ProxyServer("http://"+b.trap.Addr),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("no-pings", true),
		chromedp.Env("HOME="+b.home, "XDG_CONFIG_HOME="+b.home, "XDG_CACHE_HOME="+b.home),
	)
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	b.ctx, _ = chromedp.NewContext(ctx)
	b.err = chromedp.Do(b.ctx)
}

func stop() error {
	b := &shared
	if b.home == "" {
		return nil
	}
	defer removeAll(b.home)
	if b.trap != nil {
		defer b.trap.Close()
	}
	if b.err != nil || b.ctx == nil {
		return nil // the tests have told it
	}
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	return chromedp.Cancel(ctx)
}

// removeAll removes a directory in which the last processes of the browser may still write, as its handler of crashes does.
func removeAll(dir string) {
	for end := time.Now().Add(patience); os.RemoveAll(dir) != nil && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
}

// run starts the browser if there is none yet.
func run(t testing.TB) context.Context {
	t.Helper()
	path := need.Tool(t, "chromium")
	need.Time(t, "a browser")
	shared.once.Do(func() { start(path) })
	if shared.err != nil {
		t.Fatalf("%s: %v", path, shared.err)
	}
	return shared.ctx
}
