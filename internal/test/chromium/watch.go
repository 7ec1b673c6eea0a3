package chromium

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// watch is what happened in a tab.
type watch struct {
	mu       sync.Mutex
	origins  []string
	problems []string
	requests []string
	loading  map[string]string // method and URL by the number of the request
}

func (w *watch) problem(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, fmt.Sprintf(format, args...))
}

// Problems returns what went wrong since it was last asked; the test that expects it asks before it ends.
func (tab *Tab) Problems() []string {
	w := &tab.seen
	w.mu.Lock()
	defer w.mu.Unlock()
	problems := w.problems
	w.problems = nil
	for _, asked := range shared.trap.take() {
		problems = append(problems, "a request leaves: "+asked)
	}
	return problems
}

// Requests returns method and URL of all requests since it was last asked, in the order of their begin.
func (tab *Tab) Requests() []string {
	w := &tab.seen
	w.mu.Lock()
	defer w.mu.Unlock()
	requests := w.requests
	w.requests = nil
	return requests
}

// IgnoreRequests ends the report of single requests, for a page that makes thousands. What leaves the machine is still told.
func (tab *Tab) IgnoreRequests() {
	tab.t.Helper()
	tab.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, network.Disable, cdp.Empty{})
		return err
	}))
}

// notice is called for all events, by the goroutine that reads them: it does not wait.
func (tab *Tab) notice(event any) {
	w := &tab.seen
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// The answers of a server that are errors come as responses too, with more.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			w.problem("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var words []string
			for _, arg := range e.Args {
				words = append(words, string(arg.Value)+arg.Description)
			}
			w.problem("console.%s: %s", e.Type, strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		w.problem("a script ends: %s (%s:%d)", text, e.ExceptionDetails.URL, e.ExceptionDetails.LineNumber+1)
	case *network.EventRequestWillBeSent:
		w.request(string(e.RequestID), e.Request.Method, e.Request.URL)
	case *network.EventWebSocketCreated:
		w.request(string(e.RequestID), "WebSocket", e.URL)
	case *network.EventResponseReceived:
		if e.Response.Status >= 400 {
			w.problem("the answer to %s is %d", w.name(e.RequestID), e.Response.Status)
		}
	case *network.EventLoadingFailed:
		// A picture that was scrolled away, or a page that is left, is canceled.
		if !e.Canceled {
			w.problem("%s fails: %s %s", w.name(e.RequestID), e.ErrorText, e.BlockedReason)
		}
	case *page.EventWindowOpen:
		w.problem("another window opens: %s", e.URL)
	case *page.EventJavascriptDialogOpening:
		w.problem("a dialog opens: %s: %s", e.Type, e.Message)
		go chromedp.Do(tab.ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{})
			return err
		}))
	}
}

func (w *watch) name(id network.RequestID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name := w.loading[string(id)]; name != "" {
		return name
	}
	return "a request"
}

func (w *watch) request(id, method, to string) {
	w.mu.Lock()
	w.loading[id] = method + " " + to
	w.requests = append(w.requests, method+" "+to)
	w.mu.Unlock()
	u, err := url.Parse(to)
	if err != nil {
		w.problem("a request to what is not a URL: %s", to)
		return
	}
	if slices.Contains([]string{"data", "blob", "about"}, u.Scheme) || slices.Contains(w.origins, u.Scheme+"://"+u.Host) {
		return
	}
	w.problem("a request leaves: %s %s", method, to)
}
