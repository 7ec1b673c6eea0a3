package browse_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

const focused = `document.activeElement`

// All that a person wants of the samples is done by keyboard.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	tab := show(t, captions.of(t))
	tab.Go("/d/0/grid")
	number := func() string { return chromium.Eval[string](tab, focused+`.dataset.number ?? ""`) }
	columns := chromium.Eval[int](tab, `getComputedStyle(document.querySelector(".chunk ul")).gridTemplateColumns.split(" ").length`)
	at := 0
	for _, step := range []struct {
		key string
		by  int
	}{{kb.ArrowRight, 0}, {kb.ArrowRight, 1}, {kb.ArrowRight, 1}, {kb.ArrowDown, columns}, {kb.ArrowDown, columns}, {kb.ArrowLeft, -1}, {kb.ArrowUp, -columns}, {kb.ArrowRight, 1}} {
		tab.Press(step.key)
		at += step.by
		if got := number(); got != string(mustJSON(at)) {
			t.Fatalf("%q: sample %q, want %d", step.key, got, at)
		}
	}
	if !chromium.Eval[bool](tab, `getComputedStyle(`+focused+`).outlineStyle != "none" && `+focused+`.matches(":focus-visible")`) {
		t.Error("the focus is not seen")
	}
	tab.Press(kb.Enter)
	on := func(n int) {
		t.Helper()
		tab.Wait(`location.pathname == "/d/0/sample/` + string(mustJSON(n)) + `" && document.readyState == "complete"`)
	}
	on(at)
	tab.Press(kb.ArrowRight)
	on(at + 1)
	tab.Press(kb.ArrowLeft)
	on(at)
	tab.Press(kb.Escape)
	tab.Wait(`location.pathname == "/d/0/grid"`)
	settled(tab)
	tab.Press("/")
	if !chromium.Eval[bool](tab, focused+`.matches("form.filter input")`) {
		t.Error("/ does not lead to the filter")
	}
	tab.Press("3", kb.ArrowLeft, "/", kb.Enter) // keys in a field are for the field
	tab.Wait(`location.search.includes("where=%2F3")`)
	tab.Problems() // it is no expression, which is refused

	// The filter of a list goes from sample to sample, past others.
	tab.Go("/d/0/grid?where=label%3D1")
	tab.Press(kb.ArrowRight, kb.Enter)
	on(1)
	tab.Press(kb.ArrowRight)
	on(5)
	tab.Press(kb.ArrowLeft)
	on(1)

	// From the address bar on: the first Tab skips to the content.
	tab.Go("/d/0/")
	tab.Press(kb.Tab)
	if !chromium.Eval[bool](tab, focused+`.matches(".skip") && `+focused+`.getBoundingClientRect().left >= 0`) {
		t.Error("the first Tab does not lead to the link past the navigation")
	}
	// A key or a number is looked up.
	for text, want := range map[string]int{captionKey(77): 77, "#31": 31} {
		tab.Type(".find input", text)
		tab.Press(kb.Enter)
		on(want)
	}
}
