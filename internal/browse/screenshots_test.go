package browse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// mostScreenshot is how large a picture of docs/browse.md may be in bytes.
const mostScreenshot = 150_000

// The pictures of docs/browse.md: make screenshots puts them there.
func TestScreenshots(t *testing.T) {
	t.Parallel()
	need.Time(t, "a browser")
	width, height := 80, 60
	if os.Getenv(chromium.ScreenshotsVariable) != "" {
		width, height = 400, 300
	}
	dir := t.TempDir()
	n := 0
	for i, count := range []int{32, 24, 30, 1, 25} {
		for range count {
			n++
			picture, suffix := encoded(t, scenes[i].draw(n, width+width/20*(n%5), height), 0)
			put(t, filepath.Join(dir, "photos", scenes[i].name, fmt.Sprintf("%04d%s", n, suffix)), picture)
		}
	}
	put(t, filepath.Join(dir, "classes.txt"), []byte("desert\ndusk\nfog\nforest\nnight\nocean\n"))
	convertIn(t, dir, "folder", "--shards", "4", "--shuffle", "--seed", "3", "--classes", "classes.txt", "photos", "landscapes")
	var members []member
	for i := range 24 {
		members = append(members, captionMembers(t, i, width, height)...)
	}
	writeTar(t, filepath.Join(dir, "captions-000.tar"), members)
	convertIn(t, dir, "tar", "--decode", "captions-000.tar", "captions")
	tab, _ := showProgram(t, dir, "landscapes", "captions")
	for _, shot := range []struct {
		name, path string
		view       chromium.View
		first      func()
	}{
		{"browse-grid.webp", "/d/0/grid", chromium.View{Width: 1200, Height: 800}, nil},
		{"browse-grid-dark.webp", "/d/0/grid?where=class%3Ddusk", chromium.View{Width: 1200, Height: 620, Dark: true}, nil},
		{"browse-classes.webp", "/d/0/classes", chromium.View{Width: 1200, Height: 700}, nil},
		{"browse-sizes.webp", "/d/0/sizes", chromium.View{Width: 1200, Height: 700}, nil},
		{"browse-sample.webp", "/d/1/sample/16", chromium.View{Width: 1200, Height: 820}, nil},
		{"browse-verdict.webp", "/d/0/", chromium.View{Width: 1200, Height: 760}, func() {
			tab.Click(".verdict button.main")
			tab.Wait(`document.querySelector(".verdict").innerText.includes("Sound")`)
		}},
		{"browse-narrow.webp", "/d/0/grid", chromium.Narrow, nil},
	} {
		tab.Look(shot.view)
		tab.Go(shot.path)
		settled(tab)
		if shot.first != nil {
			shot.first()
			settled(tab)
		}
		tab.Wait(`[...document.images].filter(i => i.getBoundingClientRect().top < innerHeight).every(i => i.complete)`)
		if picture := tab.Screenshot(shot.name); len(picture) > mostScreenshot || len(picture) < 5000 {
			t.Errorf("%s has %d bytes", shot.name, len(picture))
		}
	}
}
