package browse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Every page loads without an error in light and dark, on a wide window and a narrow one, can be used by people who see
// it otherwise, and is not wider than the window.
func TestPages(t *testing.T) {
	t.Parallel()
	need.Time(t, "all pages in all views")
	sets := []*set{landscapes, captions, media, lines, table, foreign}
	var dirs []string
	for _, s := range sets {
		dirs = append(dirs, s.of(t))
	}
	tab := show(t, dirs...)
	paths := []string{"/", "/compare?a=1&b=5",
		"/d/0/", "/d/0/grid", "/d/0/grid?where=class%3Dfog", "/d/0/classes", "/d/0/sizes", "/d/0/parts", "/d/0/sample/0",
		"/d/1/", "/d/1/classes", "/d/1/sample/16", "/d/1/sample/99?where=label%3D3", "/d/2/grid", "/d/3/sample/7", "/d/4/sample/7", "/d/5/", "/d/5/sample/3"}
	kinds := make(map[string]bool)
	for _, l := range list(t, media.of(t)) { // a page for each kind of field
		if kind := strings.SplitN(l.Key, "-", 2)[0]; !kinds[kind] {
			kinds[kind] = true
			paths = append(paths, fmt.Sprintf("/d/2/sample/%d", l.Number))
		}
	}
	for i, path := range paths {
		views := viewsOf(i)
		tab.Look(views[0])
		tab.Go(path)
		settled(tab)
		look(t, tab, path+" "+views[0].Name)
		tab.Look(views[1])
		tab.Go(path)
		settled(tab)
		fits(t, tab, path+" "+views[1].Name)
		if i < 12 { // the others have the same parts
			tab.Accessible()
		}
	}
}

// viewsOf returns two views of the four, in turns all: each page is seen wide and narrow, light and dark.
func viewsOf(i int) []chromium.View {
	if i%2 == 0 {
		return []chromium.View{chromium.Wide, chromium.NarrowDark}
	}
	return []chromium.View{chromium.WideDark, chromium.Narrow}
}

// look reports what is wrong with the page that the tab shows.
func look(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	fits(t, tab, what)
	tab.Accessible()
}

// fits reports errors of the page, and whether it is wider than the window.
func fits(t *testing.T, tab *chromium.Tab, what string) {
	t.Helper()
	for _, problem := range tab.Problems() {
		t.Errorf("%s: %s", what, problem)
	}
	if over := chromium.Eval[int](tab, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
		t.Errorf("%s is %d pixels wider than the window", what, over)
	}
}
