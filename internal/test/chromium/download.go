package chromium

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// Download does what makes the page download a file of its first origin, and returns the name that the server suggests and the file.
func (tab *Tab) Download(click func()) (name string, data []byte) {
	tab.t.Helper()
	dir, events := tab.t.TempDir(), true
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	began := chromedp.BrowserEvents(ctx, browser.DownloadWillBegin)
	progress := chromedp.BrowserEvents(ctx, browser.DownloadProgress)
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: dir, EventsEnabled: &events,
		BrowserContextID: chromedp.FromContext(tab.ctx).BrowserContextID,
	})
	if err != nil {
		tab.fatal(err)
	}
	click()
	var id string
	for e, err := range began {
		if err != nil {
			tab.fatal("no download begins:", err)
		}
		if strings.HasPrefix(e.URL, tab.home+"/") { // the browser tells of the downloads of all tabs
			name, id = e.SuggestedFilename, e.GUID
			break
		}
	}
	for e, err := range progress {
		if err == nil && e.GUID != id {
			continue
		}
		if err != nil || e.State == browser.DownloadProgressStateCanceled {
			tab.fatal("the download does not end:", e.State, err)
		}
		if e.State != browser.DownloadProgressStateCompleted {
			continue
		}
		for range 100 { // the file gets its name after the event
			if data, err = os.ReadFile(filepath.Join(dir, e.GUID)); err == nil {
				return name, data
			}
			time.Sleep(10 * time.Millisecond)
		}
		tab.fatal(err)
	}
	return name, data
}
