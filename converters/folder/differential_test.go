package folder

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A pythonRequest is a folder and how to read it, a pythonAnswer what is in it.
type pythonRequest struct {
	Root   string   `json:"root"`
	Flat   bool     `json:"flat"`
	Group  bool     `json:"group"`
	Hidden bool     `json:"hidden"`
	Keep   bool     `json:"keep"`
	Splits []string `json:"splits"`
	Ext    []string `json:"ext"`
}

type pythonAnswer struct {
	Error   string
	Samples []any
	Skipped map[string]int
	Classes []string
}

// ours is the answer that the source gives.
func (r pythonRequest) ours(t *testing.T) (a pythonAnswer) {
	t.Helper()
	src := mustOpen(t, Options{Flat: r.Flat, Group: r.Group, Hidden: r.Hidden, KeepDuplicates: r.Keep, Splits: r.Splits, Ext: r.Ext}, r.Root)
	a.Skipped, a.Classes = map[string]int{}, src.Describe().Classes
	for p := range src.Parts() {
		run := converters.Run{Part: p}
		for span, err := range src.Index(t.Context(), p) {
			if errors.Is(err, converters.ErrDuplicate) {
				return pythonAnswer{Error: "duplicate"}
			}
			if err != nil {
				t.Fatal(err)
			}
			if span.Shape == nil {
				a.Skipped[span.Skip]++
			} else {
				run.Count++
			}
		}
		for s, err := range src.Read(t.Context(), run) {
			if err != nil {
				t.Fatal(err)
			}
			fields := []any{}
			sample := []any{s.Key, nil}
			for _, f := range s.Fields {
				if f.Value.Kind() == converters.KindInt {
					sample = append(sample, float64(f.Value.Int()))
				} else {
					fields = append(fields, []any{f.Name, hex.EncodeToString(f.Value.Data())})
				}
			}
			sample[1] = fields
			a.Samples = append(a.Samples, sample)
		}
	}
	return a
}

// randomTree makes a folder of odd names, and tells which of its directories may be splits.
func randomTree(t *testing.T, root string, rnd *rand.Rand) (splits []string) {
	t.Helper()
	pick := func(from []string) string { return from[rnd.IntN(len(from))] }
	few := func(n int, from ...string) []string { // of these, that they meet
		rnd.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		return from[:n]
	}
	// a.d is a directory that sorts among the files of sample a.
	dirs := append(few(3, "a", "b", "a-", "a.", "x.y", "a b", "é", "漢字", ".git", "A", "0", "a.jpg.d", "..z"), "a.d")
	stems := append(few(4, "b", "a-b", "a b", "é", "漢字", "😀", "\uffee", "a0", "x", "z", "a1"), "a")
	suffixes := few(5, ".jpg", ".avif", ".JPG", ".png", ".seg.png", ".json", ".tar.gz", "..b", ".", "", ".Txt", ".cls1", ".cls")
	odd := []string{".DS_Store", ".x", ".x.jpg", "._a.jpg", "..q", "README", "a"}
	dir := func() string { return pick(dirs) }
	file := func() string {
		if rnd.IntN(12) == 0 {
			return pick(odd)
		}
		return pick(stems) + pick(suffixes)
	}
	var files []string
	for range 3 + rnd.IntN(25) {
		name := ""
		for range rnd.IntN(3) {
			name = path.Join(name, dir())
		}
		empty := rnd.IntN(15) == 0 // a directory
		if empty {
			name = path.Join(name, dir())
		} else {
			name = path.Join(name, file())
		}
		// What is there stays, and no file can be where a directory should be.
		taken := false
		for up := name; up != "."; up = path.Dir(up) {
			st, err := os.Lstat(filepath.Join(root, up))
			taken = taken || err == nil && (up == name || !st.IsDir())
		}
		if taken {
			continue
		}
		if empty {
			add(t, root, name+"/", "")
			continue
		}
		data := strings.Repeat(name, rnd.IntN(3))
		if len(files) > 0 && rnd.IntN(8) == 0 {
			up := strings.Repeat("../", strings.Count(name, "/"))
			data = "-> " + up + files[rnd.IntN(len(files))]
		}
		add(t, root, name, data)
		files = append(files, name)
	}
	if rnd.IntN(3) == 0 { // a link to a directory, which has no links
		add(t, root, "leaf/one.jpg", "1")
		add(t, root, "leaf/deep/two.jpg", "2")
		add(t, root, "other/sub/link.d", "-> ../../leaf")
		if rnd.IntN(2) == 0 {
			add(t, root, "class", "-> leaf")
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			splits = append(splits, e.Name())
		}
	}
	return splits
}

func TestAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of trees, in Python too")
	py := python.Start(t, pythonFolder)
	rnd := rand.New(rand.NewPCG(3, 4))
	trees, cases, refused, samples := 200, 0, 0, 0
	for i := range trees {
		root := filepath.Join(t.TempDir(), "root")
		if err := os.Mkdir(root, 0o755); err != nil {
			t.Fatal(err)
		}
		splits := randomTree(t, root, rnd)
		for range 4 {
			mode := rnd.IntN(8)
			r := pythonRequest{Root: root, Flat: mode&1 > 0, Group: mode&2 > 0, Hidden: mode&4 > 0, Keep: rnd.IntN(2) > 0}
			if rnd.IntN(4) == 0 {
				r.Ext = []string{"jpg", "tar.gz"}
			}
			if len(splits) > 1 && rnd.IntN(4) == 0 {
				rnd.Shuffle(len(splits), func(i, j int) { splits[i], splits[j] = splits[j], splits[i] })
				r.Splits = splits[:2]
			}
			request, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var want pythonAnswer
			py.Ask(request, &want)
			got := r.ours(t)
			cases++
			samples += len(got.Samples)
			if want.Error != "" {
				refused++
			}
			if got.Error != want.Error || !reflect.DeepEqual(got.Samples, want.Samples) && len(got.Samples)+len(want.Samples) > 0 ||
				!maps.Equal(got.Skipped, want.Skipped) || fmt.Sprint(got.Classes) != fmt.Sprint(want.Classes) {
				t.Fatalf("tree %d, %+v:\ngot  %+v\nwant %+v", i, r, got, want)
			}
		}
	}
	if refused > cases/2 || samples < 5*trees {
		t.Errorf("%d of %d cases are refused, %d samples: nothing was compared", refused, cases, samples)
	}
	t.Logf("F2 [folder] cases=%d undetected=0 lost=0 trees=%d samples=%d refused=%d", cases, trees, samples, refused)
}
