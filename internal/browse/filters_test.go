package browse_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A listed is a sample as `ffconvert ls` has it.
type listed struct {
	Number int
	Key    string
	Label  *int64
	Size   int64
	Shard  string
}

func list(t testing.TB, dir string) (all []listed) {
	t.Helper()
	out, err := exec.Command(need.Program(t), "ls", "--format", "json", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		var row listed
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// numberOf is the number in the key of a sample of captions.
func (l listed) numberOf() (n int) {
	for _, c := range l.Key[strings.IndexByte(l.Key, '/')+1:] {
		n = 10*n + int(c-'0')
	}
	return n
}

// Each filter shows the samples that it says, the URL is the query, the list of keys and the copied command are of the
// same samples.
func TestFilters(t *testing.T) {
	t.Parallel()
	need.Time(t, "a conversion for each filter")
	dir := captions.of(t)
	all := list(t, dir)
	sizes := make([]int64, 0, len(all))
	for _, l := range all {
		sizes = append(sizes, l.Size)
	}
	slices.Sort(sizes)
	tab := show(t, dir)
	tab.Go("/d/0/parts")
	part := chromium.Eval[string](tab, `document.querySelectorAll("tbody a")[2].textContent`)
	for _, row := range []struct {
		values url.Values
		holds  func(l listed) bool
	}{
		{url.Values{"where": {"label=2"}}, func(l listed) bool { return *l.Label == 2 }},
		{url.Values{"where": {"txt.size>=0"}}, func(l listed) bool { return l.numberOf()%5 != 4 }},
		{url.Values{"where": {"txt~'shows the' and label!=2"}}, func(l listed) bool { return l.numberOf()%5 != 4 && *l.Label != 2 }},
		{url.Values{"where": {`key~"^val/"`}}, func(l listed) bool { return strings.HasPrefix(l.Key, "val/") }},
		{url.Values{"shard": {"PART_00001.ffr"}}, func(l listed) bool { return l.Shard == "PART_00001.ffr" }},
		{url.Values{"source": {part}}, func(l listed) bool { return l.numberOf()/30 == 2 }},
		{url.Values{"where": {fmt.Sprintf("size>=%d and size<=%d", sizes[40], sizes[80])}}, func(l listed) bool { return sizes[40] <= l.Size && l.Size <= sizes[80] }},
		{url.Values{"where": {"label=1 and txt.size>0 and key~^train/000"}, "shard": {"PART_00000.ffr"}}, func(l listed) bool {
			return *l.Label == 1 && strings.HasPrefix(l.Key, "train/000") && l.numberOf()%5 != 4 && l.Shard == "PART_00000.ffr"
		}},
		{url.Values{"where": {"label=9"}}, func(l listed) bool { return false }},
	} {
		t.Run(row.values.Encode(), func(t *testing.T) {
			var want []string
			for _, l := range all {
				if row.holds(l) {
					want = append(want, l.Key)
				}
			}
			tab.Go("/d/0/grid")
			for name, values := range row.values {
				tab.Type("form.filter input[name="+name+"]", values[0])
			}
			tab.Click("form.filter button.main")
			tab.Wait(`location.search.length > 1`)
			settled(tab)
			at, err := url.Parse(tab.Location())
			if err != nil {
				t.Fatal(err)
			}
			for name, values := range row.values {
				if got := at.Query().Get(name); got != values[0] {
					t.Errorf("%s: %s is %q", at, name, got)
				}
			}
			if got := cards(tab); !slices.Equal(got, want) {
				t.Errorf("%d cards: %q\nwant %d: %q", len(got), got, len(want), want)
			}
			tab.Go(at.String()) // the URL is the query
			if got := cards(tab); !slices.Equal(got, want) {
				t.Errorf("by its URL %d cards, want %d", len(got), len(want))
			}
			if len(want) > 0 {
				takes(t, tab, dir, want)
			}
		})
	}
}

// cards scrolls through the grid, and returns the keys of all its cards.
func cards(tab *chromium.Tab) []string {
	settled(tab)
	tab.Wait(`scrollTo(0, document.body.scrollHeight), !document.querySelector(".chunk:last-child").dataset.more`)
	return chromium.Eval[[]string](tab, `[...document.querySelectorAll(".card .key")].map(e => e.textContent)`)
}

// takes takes samples out as the page says: by a list of their keys, and by a command.
func takes(t *testing.T, tab *chromium.Tab, dir string, want []string) {
	t.Helper()
	tab.Click("details.take summary")
	name, saved := tab.Download(func() { tab.Click("details.take a[download]") })
	if name != "keys.txt" || string(saved) != strings.Join(want, "\n")+"\n" {
		t.Errorf("%s: %q\nwant %q", name, saved, want)
	}
	command := chromium.Eval[string](tab, `document.querySelector(".command code").textContent`)
	tab.Click(".command .copy")
	tab.Wait(`document.querySelector(".command [role=status]").textContent`)
	work := t.TempDir()
	bin := filepath.Join(work, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(need.Program(t), filepath.Join(bin, "ffconvert")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(work, "keys.txt"), saved)
	cmd := exec.Command(need.Tool(t, "sh"), "-c", command)
	cmd.Dir, cmd.Env = work, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	made, err := filepath.Glob(filepath.Join(work, "*", "manifest.json"))
	if err != nil || len(made) != 1 {
		t.Fatalf("%s: %q, %v", command, made, err)
	}
	var got []string
	for _, l := range list(t, filepath.Dir(made[0])) {
		got = append(got, l.Key)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nmakes %q\nwant %q", command, got, want)
	}
}
