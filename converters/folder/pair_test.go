package folder

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

func pairs(t testing.TB, rules ...string) (all []pair) {
	t.Helper()
	for _, rule := range rules {
		p, err := ParsePair(rule)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

// ade is the layout of ADEChallengeData2016, kitti that of KITTI's objects.
func ade(files map[string]string) map[string]string {
	all := map[string]string{"objectInfo150.txt": "names"}
	for _, name := range []string{"training/A_1", "training/A_2", "validation/A_1"} {
		all["images/"+name+".jpg"], all["annotations/"+name+".png"] = "i "+name, "a "+name
	}
	for name, data := range files {
		if all[name] = data; data == "" {
			delete(all, name)
		}
	}
	return all
}

func kitti() map[string]string {
	all := make(map[string]string)
	for _, n := range []string{"000000", "000001"} {
		all["image_2/"+n+".png"], all["label_2/"+n+".txt"], all["calib/"+n+".txt"], all["velodyne/"+n+".bin"] = "i"+n, "l"+n, "c"+n, "v"+n
	}
	return all
}

func TestPairs(t *testing.T) {
	t.Parallel()
	const rule = `images/(.*)\.jpg=annotations/\1.png`
	for _, c := range []struct {
		name string
		tree map[string]string
		opts Options
		want []string
	}{
		{"ADE20K", ade(nil), Options{Pairs: pairs(t, rule)}, []string{
			`data: file of no pair: objectInfo150.txt`,
			`data: images/training/A_1 at 0: jpg="i training/A_1" png="a training/A_1"`,
			`data: images/training/A_2 at 28: jpg="i training/A_2" png="a training/A_2"`,
			`data: images/validation/A_1 at 56: jpg="i validation/A_1" png="a validation/A_1"`,
		}},
		{"KITTI", kitti(), Options{Pairs: pairs(t, `image_2/(\d+)\.png=label_2/\1.txt`, `image_2/(\d+)\.png=Calib.txt:calib/\1.txt`, `image_2/(\d+)\.png=velodyne/\1.bin`)}, []string{
			`data: image_2/000000 at 0: png="i000000" txt="l000000" calib.txt="c000000" bin="v000000"`,
			`data: image_2/000001 at 28: png="i000001" txt="l000001" calib.txt="c000001" bin="v000001"`,
		}},
		{"one that lacks, accepted", ade(map[string]string{"annotations/training/A_2.png": "", "annotations/test/A_9.png": "x", ".git/x": "x"}), Options{Pairs: pairs(t, rule), Unmatched: true}, []string{
			`data: hidden directory: .git`,
			`data: file without its pair: annotations/test/A_9.png`,
			`data: file of no pair: objectInfo150.txt`,
			`data: images/training/A_1 at 0: jpg="i training/A_1" png="a training/A_1"`,
			`data: waived: file without its pair: images/training/A_2`,
			`data: images/training/A_2 at 28: jpg="i training/A_2"`,
			`data: images/validation/A_1 at 42: jpg="i validation/A_1" png="a validation/A_1"`,
		}},
		{"a partner of two, links", map[string]string{"i/0_1.png": "1", "i/0_2.png": "-> 0_1.png", "c/0.txt": "c"}, Options{Pairs: pairs(t, `i/(\d)_\d\.png=c/\1.txt`)}, []string{
			`data: i/0_1 at 0: png="1" txt="c"`,
			`data: i/0_2 at 2: png="1" txt="c"`,
		}},
		{"one key twice, kept", map[string]string{"i/a": "0", "i/a-b.jpg": "1", "i/a.jpg": "2", "i/a.jpg.d/": "", "i/a.png": "3", "m/a": "m", "m/a-b.jpg": "m", "m/a.jpg": "m", "m/a.png": "m"}, Options{Pairs: pairs(t, `i/(.*)=m:m/\1`), KeepDuplicates: true}, []string{
			`data: i/a at 0: data="0" m="m"`,
			`data: i/a-b at 2: jpg="1" m="m"`,
			`data: waived: key that came back: i/a`,
			`data: i/a at 4: jpg="2" m="m"`,
			`data: waived: key that came back: i/a`,
			`data: i/a at 6: png="3" m="m"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.opts.Load = func(string) bool { return true }
			src := mustOpen(t, c.opts, build(t, c.tree))
			got, err := indexed(t, src)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Index: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if got, err = contents(t, src); err != nil {
				t.Fatal(err)
			}
			if want := slices.DeleteFunc(c.want, func(s string) bool { return !strings.Contains(s, " at ") }); !slices.Equal(got, want) {
				t.Errorf("Read: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// A source with pairs passes the tests of all sources.
func TestPairSource(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 30 {
		files[fmt.Sprintf("images/%d/%02d.jpg", i%3, i)] = strings.Repeat("x", i*100)
		files[fmt.Sprintf("masks/%d/%02d.png", i%3, i)] = strings.Repeat("y", i)
	}
	opts := Options{Pairs: pairs(t, `images/(.*)\.jpg=masks/\1.png`)}
	convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
		root := build(t, files)
		more := build(t, map[string]string{"images/x.jpg": "x", "masks/x.png": "y", "images/y.jpg": "z", "masks/y.png": "-> x.png"})
		src := mustOpen(t, opts, root, more)
		return convertertest.Fixture{
			Source: src, Files: []string{filepath.Join(root, "masks/0/00.png")}, BytesRead: counted(src).read.Load,
			Reopen: func(t *testing.T) converters.Source { return mustOpen(t, opts, root, more) },
		}
	})
}

func TestPairsRefused(t *testing.T) {
	t.Parallel()
	const rule = `images/(.*)\.jpg=annotations/\1.png`
	for name, c := range map[string]struct {
		tree  map[string]string
		rules []string
		want  error
		entry string
		text  string
	}{
		"no partner":         {ade(map[string]string{"annotations/training/A_2.png": ""}), []string{rule}, converters.ErrUnmatched, "", `1 file without a partner, the first is "images/training/A_2.jpg" without "annotations/training/A_2.png"`},
		"no picture":         {ade(map[string]string{"images/training/A_2.jpg": ""}), []string{rule}, converters.ErrUnmatched, "", `1 file beside them of no pair, the first is "annotations/training/A_2.png"`},
		"no picture at all":  {ade(map[string]string{"annotations/test/A_9.png": "x"}), []string{rule}, converters.ErrUnmatched, "", `"annotations/test/A_9.png"`},
		"another suffix":     {ade(map[string]string{"images/training/A_9.jpeg": "x"}), []string{rule}, converters.ErrUnmatched, "", `"images/training/A_9.jpeg"`},
		"one field twice":    {kitti(), []string{`image_2/(\d+)\.png=label_2/\1.txt`, `image_2/(\d+)\.png=calib/\1.txt`}, converters.ErrDuplicate, "calib/000000.txt", `field "txt"`},
		"one key twice":      {map[string]string{"i/a.jpg": "", "i/a.png": "", "m/a.txt": ""}, []string{`i/(.*)\..*=m/\1.txt`}, converters.ErrDuplicate, "i/a.png", "duplicate key"},
		"no suffix":          {map[string]string{"i/a": "", "i/a-b.jpg": "", "i/a.jpg": "", "m/a": "", "m/a-b.jpg": "", "m/a.jpg": ""}, []string{`i/(.*)=m:m/\1`}, converters.ErrDuplicate, "i/a.jpg", "duplicate key"},
		"partner and first":  {map[string]string{"i/a.jpg": "", "m/a.png": "", "q/a.txt": ""}, []string{`i/(.*)\.jpg=m/\1.png`, `m/(.*)\.png=q/\1.txt`}, converters.ErrDuplicate, "m/a.png", "has a partner and is one"},
		"partner of its own": {map[string]string{"i/a.jpg": ""}, []string{`(.*)=\1`}, converters.ErrDuplicate, "i/a.jpg", "has a partner and is one"},
		"too large":          {map[string]string{"i/a.jpg": "12", "m/a.png": strings.Repeat("x", 2000)}, []string{`i/(.*)\.jpg=m/\1.png`}, converters.ErrLimit, "m/a.png", "more than 2048 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := mustOpen(t, Options{Pairs: pairs(t, c.rules...), MaxSample: 2048}, build(t, c.tree))
			_, err := indexed(t, src)
			at, ok := errors.AsType[*converters.Error](err)
			if !errors.Is(err, c.want) || !ok || at.Where != "data" || at.Entry != c.entry || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v; want %q", err, c.text)
			}
			if _, again := indexed(t, src); again == nil || again.Error() != err.Error() {
				t.Errorf("a second index: %v", again)
			}
		})
	}
	for _, rule := range []string{"", "a", "a=", "=b", "(=b", "a=:b", `a=\1`, "a=__key__:b"} {
		if _, err := ParsePair(rule); err == nil {
			t.Errorf("%q is a rule", rule)
		}
	}
}

// Directories whose files have the same names are refused with Group, and a doubt without.
func TestSiblings(t *testing.T) {
	t.Parallel()
	classes := make(map[string]string)
	for i := range 100 {
		classes[fmt.Sprintf("c%d/%d.jpg", i%20, i/20)], classes[fmt.Sprintf("c%d/%d.txt", i%20, i/20)] = "", ""
	}
	for name, c := range map[string]struct {
		tree map[string]string
		want string // "": nothing
	}{
		"ADE20K":         {ade(nil), `files of "images/" and "annotations/" have the same names`},
		"below":          {map[string]string{"d/i/1.png": "", "d/i/2.png": "", "d/l/1.txt": "", "d/l/2.txt": ""}, `option pair 'd/i/(.*)\.png=d/l/\1.txt'`},
		"KITTI":          {kitti(), `'image_2/(.*)\.png=calib/\1.txt'`},
		"classes":        {classes, ""},
		"other names":    {map[string]string{"i/1.jpg": "", "i/2.jpg": "", "l/3.txt": "", "l/4.txt": ""}, ""},
		"few":            {map[string]string{"i/1.jpg": "", "i/2.jpg": "", "i/3.jpg": "", "i/4.jpg": "", "i/5.jpg": "", "l/1.txt": "", "l/2.txt": ""}, ""},
		"one of its own": {map[string]string{"one/1.jpg": "", "one/2.jpg": "", "two/1.jpg": "", "two/2.jpg": ""}, ""},
		"one directory":  {map[string]string{"a/1.jpg": "", "a/1.png": "", "a/2.jpg": "", "a/2.png": ""}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := build(t, c.tree)
			for _, opts := range []Options{{Flat: true, Group: true}, {Flat: true}, {Group: true}, {Flat: true, Group: true, Unmatched: true}} {
				src := mustOpen(t, opts, root)
				if len(src.Doubts()) > 0 {
					t.Error("a doubt before the index")
				}
				if _, err := indexed(t, src); err != nil {
					t.Fatal(err)
				}
				refuses := opts.Group && !opts.Unmatched
				text := fmt.Sprint(src.Doubts())
				if refuses != (len(src.Doubts()) == 0) && c.want != "" {
					t.Errorf("%+v: %s", opts, text)
				}
				err := src.Check(t.Context())
				if (err != nil) != (refuses && c.want != "") || err != nil && !errors.Is(err, converters.ErrUnmatched) {
					t.Errorf("%+v: %v", opts, err)
				}
				if err != nil {
					text = err.Error()
				}
				if !strings.Contains(text, c.want) || c.want == "" && text != "[]" {
					t.Errorf("%+v: %s; want %q", opts, text, c.want)
				}
			}
		})
	}
}

// Of very many names some are looked at, the same ones in all directories.
func TestSiblingsOfMany(t *testing.T) {
	t.Parallel()
	n := names{files: make(map[string][]string), limit: ^uint64(0)}
	for i := range 5 * mostNames {
		n.add([]byte("images/"), fmt.Appendf(nil, "%05d.jpg", i))
		if i%50 > 0 {
			n.add([]byte("labels/"), fmt.Appendf(nil, "%05d.txt", i))
		}
		n.add(fmt.Appendf(nil, "all/%d/", i%1000), []byte("0.png"))
	}
	if len(n.files) > mostNames || len(n.files) < mostNames/16 {
		t.Errorf("%d of %d names are looked at", len(n.files), mostNames)
	}
	if got := n.siblings(); got == nil || got.one != "images" || got.two != "labels" || got.suffix != "jpg" || got.partner != "txt" {
		t.Errorf("%+v", got)
	}
	n = names{files: make(map[string][]string), limit: ^uint64(0)}
	for i := range 2 * mostNames { // one name in very many directories
		n.add(fmt.Appendf(nil, "%d/", i), []byte("x.png"))
	}
	if len(n.files) > mostNames || n.siblings() != nil {
		t.Errorf("%d names", len(n.files))
	}
}

// Classes that have the names of splits are a doubt, before and after the index.
func TestSplitsAsClasses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		tree map[string]string
		opts Options
		want string
	}{
		{map[string]string{"train/a/1.jpg": "", "val/a/1.jpg": ""}, Options{}, "train,val"},
		{map[string]string{"test/a/1.jpg": ""}, Options{}, "test"},
		{map[string]string{"train/1.jpg": "", "plane/1.jpg": ""}, Options{}, ""},
		{map[string]string{"train/a/1.jpg": "", "val/a/1.jpg": ""}, Options{Splits: []string{"train", "val"}}, ""},
		{map[string]string{"train/a/1.jpg": "", "val/a/1.jpg": ""}, Options{Flat: true}, ""},
		{map[string]string{}, Options{}, ""},
	} {
		got := ""
		for _, d := range mustOpen(t, row.opts, build(t, row.tree)).Doubts() {
			got += d.Hint
		}
		if want := "option split " + row.want + " makes a dataset of each"; got != want && row.want != "" || got != "" && row.want == "" {
			t.Errorf("%v %+v: %s", row.tree, row.opts, got)
		}
	}
}
