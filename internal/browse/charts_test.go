package browse_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// drawn counts the colours in the drawing of a chart: an empty one has a few greys of its axes at most.
const drawn = `new Set(new Uint32Array(document.querySelectorAll(".chart canvas")[N].getContext("2d").getImageData(0, 0, 800, 200).data.buffer)).size`

// press clicks into a chart, at parts of its width and height.
func press(tab *chromium.Tab, chart string, x, y float64) {
	box := chromium.Eval[[]float64](tab, `(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height] })(document.querySelectorAll(".u-over")[`+chart+`])`)
	x, y = box[0]+x*box[2], box[1]+y*box[3]
	tab.Do(chromedp.MouseEvent(chromedp.MouseMoved, x, y), chromedp.MouseClickXY(x, y))
}

// The histograms are drawn and lead to what they show; rare and empty classes are marked.
func TestCharts(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	tab := show(t, landscapes.of(t))
	tab.Go("/d/0/classes")
	settled(tab)
	if n := chromium.Eval[int](tab, strings.Replace(drawn, "N", "0", 1)); n < 4 {
		t.Errorf("the chart has %d colours", n)
	}
	text := chromium.Eval[string](tab, `[...document.querySelectorAll("tbody tr")].map(r => [...r.cells].map(c => c.textContent).join(" ").replace(/\s+/g, " ")).join("\n")`)
	for _, want := range []string{"0 fog 0 empty", "4 night 1 rare", "1 desert 40"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	press(tab, "0", 1.5/6, 0.9) // the second class of six
	tab.Wait(`location.pathname == "/d/0/grid" && new URL(location).searchParams.get("where") == "class=desert"`)
	if n := len(cards(tab)); n != 40 {
		t.Errorf("%d cards of the class", n)
	}
	tab.Go("/d/0/classes")
	settled(tab)
	tab.Click(`tbody tr:last-child a`)
	tab.Wait(`location.pathname == "/d/0/grid" && location.search.includes("where=class")`)

	tab.Go("/d/0/sizes")
	settled(tab)
	for _, chart := range []string{"0", "1"} {
		if n := chromium.Eval[int](tab, strings.Replace(drawn, "N", chart, 1)); n < 4 {
			t.Errorf("chart %s has %d colours", chart, n)
		}
	}
	press(tab, "1", 0.5, 0.9) // the second shard of three
	tab.Wait(`new URL(location).searchParams.get("shard") == "PART_00001.ffr"`)
	tab.Go("/d/0/sizes")
	settled(tab)
	tab.Click(".two li a") // the largest record
	tab.Wait(`location.pathname.startsWith("/d/0/sample/")`)
	tab.Go("/d/0/sizes")
	settled(tab)
	press(tab, "0", 0.5, 0.9)
	tab.Wait(`location.pathname == "/d/0/grid" && /^size>=[0-9]+ and size<=[0-9]+$/.test(new URL(location).searchParams.get("where"))`)
}
