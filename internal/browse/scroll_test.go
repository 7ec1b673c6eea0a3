package browse_test

import (
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What a page may hold however far it was scrolled.
const (
	mostNodes = 25_000
	mostHeap  = 24 << 20
	mostPeak  = 256 << 20 // of the program
)

// The grid scrolls through thousands of thumbnails and back, and holds no more at the end than after a few screens: 10,000 of
// them at the full size, which takes most of a minute of two processors.
func TestScroll(t *testing.T) {
	t.Parallel()
	need.Time(t, "a grid of thousands of thumbnails")
	tab, program := showProgram(t, "", crowd.of(t))
	tab.Go("/d/0/grid")
	tab.IgnoreRequests()
	last, steps := 1600, 4
	if full() {
		last = scrolled
	}
	for i := range steps {
		next := last * (i + 1) / steps
		chromium.Eval[bool](tab, fmt.Sprintf(`new Promise(done => {
			const step = () => {
				if ([...document.querySelectorAll(".card")].some(c => +c.dataset.number >= %d)) return done(true)
				scrollTo(0, document.body.scrollHeight)
				setTimeout(step, 40)
			}
			step()
		})`, next-1))
		tab.Wait(`[...document.querySelectorAll(".face img")].filter(i => { const r = i.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight }).every(i => i.complete && i.naturalWidth > 0)`)
		held := tab.Held()
		t.Logf("at %d: %+v", next, held)
		if held.Nodes > mostNodes || held.Heap > mostHeap {
			t.Errorf("at %d: %+v", next, held)
		}
	}
	if peak := program.peak(t); peak > mostPeak {
		t.Errorf("the program had %d bytes", peak)
	} else {
		t.Logf("the program had %d bytes", peak)
	}
	if n := chromium.Eval[int](tab, `document.querySelectorAll(".card").length`); n >= last {
		t.Errorf("%d cards are there at once", n)
	}
	tab.Wait(`scrollTo(0, 0), document.querySelector(".card[data-number='0'] img")?.naturalWidth > 0`)
	tab.Wait(`scrollTo(0, document.body.scrollHeight / 2), document.querySelector(".chunk[data-empty]") && [...document.querySelectorAll(".card")].some(c => { const r = c.getBoundingClientRect(); return r.top > 0 && r.bottom < innerHeight && c.querySelector("img").naturalWidth > 0 })`)
	tab.Go(fmt.Sprintf("/d/0/grid?from=%d", scrolled-10))
	if n := len(cards(tab)); n != 10 {
		t.Errorf("the end has %d cards", n)
	}
}
