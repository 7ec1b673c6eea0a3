package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/verify"
)

// A verification is begun by a button, shows how far it is, and ends with what it found; damaged samples are linked, and
// shown as damaged wherever they are shown.
func TestVerify(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	gate := &gate{}
	url, origin := serveBy(t, verify.Options{Workers: 1, Progress: gate.pass}, damaged.of(t), captions.of(t))
	tab := chromium.Open(t, origin)
	enter(tab, url)
	body := func() string { return chromium.Eval[string](tab, "document.body.innerText") }
	tab.Go("/d/1/")
	gate.shut()
	tab.Click(".verdict button.main")
	tab.Wait(`document.querySelector(".job progress").value > 0 && document.querySelector(".job progress").value < 1 && document.querySelector(".job [role=status]").innerText.includes("/s")`)
	look(t, tab, "a verification under way")
	gate.lift()
	tab.Wait(`document.querySelector(".verdict .good[role=status]")`)
	settled(tab)
	if text := body(); !strings.Contains(text, "Sound") || !strings.Contains(text, "120 samples in 4 shards") {
		t.Error(text)
	}

	gate.shut()
	tab.Click(".verdict button.main")
	tab.Wait(`document.querySelector(".job")`)
	chromium.Eval[bool](tab, `window.before = true`)
	tab.Click(".job button")   // stops it
	tab.Wait(`!window.before`) // an answer: it is stopped before it may end
	gate.lift()
	tab.Wait(`document.querySelector(".verdict")?.innerText.includes("It was stopped")`)

	tab.Go("/d/0/")
	tab.Click(".verdict button.main")
	link := fmt.Sprintf("/d/0/sample/%d", damagedSample)
	tab.Wait(`document.querySelector(".problems a[href='` + link + `']")`)
	settled(tab)
	look(t, tab, "a verdict with damage")
	tab.Click(`.problems a`)
	tab.Wait(`location.pathname == "` + link + `" && document.querySelector(".bad[role=alert]")`)
	settled(tab)
	if text := body(); !strings.Contains(text, "Damaged") || strings.Contains(text, "equal.") {
		t.Error(text)
	}
	look(t, tab, "a damaged sample")
	tab.Go("/d/0/grid")
	if n := chromium.Eval[[]string](tab, `[...document.querySelectorAll(".card.damaged")].map(e => e.dataset.number)`); len(n) != 1 || n[0] != fmt.Sprint(damagedSample) {
		t.Errorf("damaged cards: %q", n)
	}
	look(t, tab, "a grid with damage")
}

// What differs between two datasets is counted and listed.
func TestCompare(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	tab := show(t, captions.of(t), changed.of(t))
	tab.Go("/compare?a=0&b=1")
	settled(tab)
	text := chromium.Eval[string](tab, "document.querySelector('main').innerText")
	for _, want := range []string{captionKey(3), captionKey(50), captionKey(51), captionKey(7), "val/new-120", "val/new-121", "116 samples alike", "3 in the first alone", "2 in the second alone", "1 changed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	look(t, tab, "a comparison")
	tab.Go("/compare?a=0&b=0")
	settled(tab)
	if text := chromium.Eval[string](tab, "document.querySelector('main').innerText"); !strings.Contains(text, "All 120 samples are alike") {
		t.Error(text)
	}
}
