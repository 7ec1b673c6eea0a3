package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Each kind of field is shown as what it is: sound and film play from any place on, arrays are numbers, JSON is a tree, and
// what a browser would take for a document is a file to save.
func TestFieldsShown(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	dir := media.of(t)
	tab := show(t, dir)
	plays := func(element string, seconds float64) string {
		return fmt.Sprintf(`new Promise((done, fail) => {
			const m = document.querySelector(%q)
			setTimeout(() => fail(new Error("state " + m.readyState + ", " + m.error?.message)), 20000)
			const ready = () => { m.onseeked = () => done(m.duration); m.currentTime = %g }
			m.readyState > 0 ? ready() : m.onloadedmetadata = ready
		})`, element, seconds/2)
	}
	for key, look := range map[string]func(){
		"tone.wav": func() {
			if d := chromium.Eval[float64](tab, plays("audio", 1)); d < 0.9 || d > 1.1 {
				t.Errorf("the tone has %g s", d)
			}
		},
		"film-mp4.mp4": func() {
			if d := chromium.Eval[float64](tab, plays("video", 2)); d < 1.9 || d > 2.2 {
				t.Errorf("the film has %g s", d)
			}
			if w := chromium.Eval[int](tab, `document.querySelector("video").videoWidth`); w != 96 {
				t.Errorf("the film is %d pixels wide", w)
			}
		},
		"film-webm.webm": func() {
			if d := chromium.Eval[float64](tab, plays("video", 1)); d < 0.9 || d > 1.2 {
				t.Errorf("the film has %g s", d)
			}
		},
		"array-ints.npy": func() {
			text := chromium.Eval[string](tab, `document.querySelector(".field").innerText.replace(/\s+/g, " ")`)
			for _, want := range []string{"6 × 8", "-100 -99 -96 -91"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %s", want, text)
				}
			}
		},
		"boxes.json": func() { shows(t, tab, `"boxes"`, `"a \"b\""`, "1.5e9") },
		"poem.txt":   func() { shows(t, tab, "Über allen Gipfeln", "Spürest du") },
		"blob.bin":   func() { shows(t, tab, "00 01 02 fa fb fc") },
		"paper.pdf": func() {
			if n := chromium.Eval[int](tab, `document.querySelectorAll("iframe, embed, object").length`); n > 0 {
				t.Error("a document is shown")
			}
			if name, data := tab.Download(func() { tab.Click(".field a[download]") }); !strings.HasPrefix(string(data), "%PDF-") || strings.Contains(name, "/") {
				t.Errorf("%s: %.20q", name, data)
			}
		},
	} {
		tab.Go("/d/0/find?key=" + key)
		settled(tab)
		if at := chromium.Eval[string](tab, `document.querySelector("h1").innerText`); !strings.HasPrefix(at, key) {
			t.Errorf("%s is found as %s", key, at)
		}
		look()
	}
}

func shows(t *testing.T, tab *chromium.Tab, texts ...string) {
	t.Helper()
	page := chromium.Eval[string](tab, `document.querySelector("main").innerText`)
	for _, want := range texts {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
}
