package chromium

import (
	"context"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/memory"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Held is what a page holds once garbage is collected.
type Held struct {
	Heap  int64 // bytes of JavaScript
	Nodes int64 // of the DOM, in documents and detached
}

// Held collects garbage and counts what is left.
func (tab *Tab) Held() (h Held) {
	tab.t.Helper()
	tab.Do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
		heap, err := cdp.Call(ctx, t, runtime.GetHeapUsage, cdp.Empty{})
		if err != nil {
			return err
		}
		dom, err := cdp.Call(ctx, t, memory.GetDOMCounters, cdp.Empty{})
		h = Held{int64(heap.UsedSize), dom.Nodes}
		return err
	}))
	return h
}
