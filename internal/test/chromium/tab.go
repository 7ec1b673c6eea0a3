package chromium

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a step of a test may take. Under the race detector, with all packages at once, a page takes seconds.
const patience = 30 * time.Second

// A Tab is a page with a person before it. Its methods fail the test where they cannot do what they are for.
type Tab struct {
	t    testing.TB
	ctx  context.Context
	home string // the first origin
	seen watch
}

// A View is what a page is looked at with.
type View struct {
	Name          string
	Width, Height int64 // CSS pixels
	Dark          bool  // prefers-color-scheme
}

var (
	Wide       = View{"wide", 1280, 800, false}
	WideDark   = View{"wide-dark", 1280, 800, true}
	Narrow     = View{"narrow", 400, 800, false}
	NarrowDark = View{"narrow-dark", 400, 800, true}

	Views = []View{Wide, WideDark, Narrow, NarrowDark}
)

// Open opens an empty tab, with cookies of its own, until the test ends. Its pages may use the origins, as
// "http://127.0.0.1:8000", and nothing else.
func Open(t testing.TB, origin string, more ...string) *Tab {
	t.Helper()
	parent := run(t)
	tab := &Tab{t: t, home: origin, seen: watch{origins: append([]string{origin}, more...), loading: make(map[string]string)}}
	var cancel context.CancelFunc
	tab.ctx, cancel = chromedp.NewContext(parent, chromedp.WithNewBrowserContext(), chromedp.WithListener(tab.notice))
	t.Cleanup(func() {
		defer cancel()
		for _, problem := range tab.Problems() {
			t.Errorf("%s", problem)
		}
	})
	tab.Do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return nil }))
	tab.Look(Wide)
	return tab
}

// Do runs actions of chromedp.
func (tab *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	if err := tab.try(actions...); err != nil {
		tab.fatal(err)
	}
}

func (tab *Tab) try(actions ...chromedp.Action[chromedp.Void]) error {
	if chromedp.FromContext(tab.ctx).Target == nil {
		return chromedp.Do(tab.ctx, actions...) // opens the tab, which lives as long as this context
	}
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	return chromedp.Do(ctx, actions...)
}

// fatal ends the test with what the tab shows.
func (tab *Tab) fatal(why ...any) {
	tab.t.Helper()
	for _, problem := range tab.Problems() {
		tab.t.Errorf("%s", problem)
	}
	ctx, cancel := context.WithTimeout(tab.ctx, 5*time.Second)
	defer cancel()
	at, _ := chromedp.Run(ctx, chromedp.Location())
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body ? document.body.innerText.slice(0, 1500) : ""`))
	tab.t.Fatal(append(why, "\nat "+at+"\n"+text)...)
}

// Look sets the size of the window and the colours that the person prefers.
func (tab *Tab) Look(v View) {
	tab.t.Helper()
	scheme := "light"
	if v.Dark {
		scheme = "dark"
	}
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}
	tab.Do(chromedp.EmulateViewport(v.Width, v.Height), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features})
		return err
	}))
}

// Go opens a page: a URL, or a path of the first origin.
func (tab *Tab) Go(url string) {
	tab.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = tab.home + url
	}
	tab.Do(chromedp.Navigate(url))
}

// Location returns the URL of the page.
func (tab *Tab) Location() string { return Eval[string](tab, "location.href") }

// Click clicks what the CSS selector finds first, scrolled into view.
func (tab *Tab) Click(selector string) {
	tab.t.Helper()
	tab.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Press presses keys, as package chromedp/kb names them, where the focus is.
func (tab *Tab) Press(keys ...string) {
	tab.t.Helper()
	for _, key := range keys {
		for _, r := range key {
			tab.Do(press(r))
		}
	}
}

// press is a key that goes down and up, as a keyboard's does. What a page prevents when it goes down is not typed, unlike with
// chromedp.KeyEvent, which sends the character whatever the page says.
func press(r rune) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		if len(events) > 2 {
			down.Text, down.UnmodifiedText = events[1].Text, events[1].UnmodifiedText
		}
		_, err := cdp.Call(ctx, t, input.DispatchKeyEvent, down)
		if err == nil {
			_, err = cdp.Call(ctx, t, input.DispatchKeyEvent, up)
		}
		return err
	})
}

// Type clears what the CSS selector finds, and types text into it.
func (tab *Tab) Type(selector, text string) {
	tab.t.Helper()
	tab.Do(chromedp.Clear(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// Eval returns the value of an expression of JavaScript. A promise is awaited.
func Eval[T any](tab *Tab, expression string) T {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		tab.fatal(expression+":", err)
	}
	return v
}

// Wait waits until an expression of JavaScript is true. The page may be left meanwhile for another.
func (tab *Tab) Wait(expression string) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	var last error
	for {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if ok && err == nil {
			return
		}
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			last = err
		}
		select {
		case <-ctx.Done():
			tab.fatal("this did not become true: "+expression, last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Picture returns what the window shows, as "png" or "webp".
func (tab *Tab) Picture(format string) []byte {
	tab.t.Helper()
	var data []byte
	params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormat(format)}
	if quality := int64(85); format != "png" {
		params.Quality = &quality
	}
	tab.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
		data = r.Data
		return err
	}))
	return data
}

// ScreenshotsVariable names a directory for screenshots.
const ScreenshotsVariable = "FFCONVERT_SCREENSHOTS"

// Screenshot keeps what the window shows as a file, whose ending is its format, in the directory that FFCONVERT_SCREENSHOTS
// names, else among the artifacts of the test. It returns the file.
func (tab *Tab) Screenshot(name string) []byte {
	tab.t.Helper()
	dir := os.Getenv(ScreenshotsVariable)
	if dir == "" {
		dir = tab.t.ArtifactDir()
	}
	picture := tab.Picture(strings.TrimPrefix(filepath.Ext(name), "."))
	if err := os.WriteFile(filepath.Join(dir, name), picture, 0o644); err != nil {
		tab.t.Fatal(err)
	}
	return picture
}
