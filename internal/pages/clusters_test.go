package pages

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/need"
	"github.com/ffconvert/ffconvert/internal/python"
)

// The recipes of docs/clusters.md for Dask and GNU parallel, with workers on this machine in place of others, make what one process makes.
func TestRecipesOfDocsClusters(t *testing.T) {
	t.Parallel()
	need.Time(t, "a cluster of Dask")
	need.Tools(t, "parallel", "diff")
	python.Path(t, "distributed")
	d := newDocsFolder(t)
	page := docsPage(t, "clusters.md")
	for _, name := range []string{"Dask", "GNU parallel"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, section, _ := strings.Cut(page, "\n## "+name+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			dir := d.fresh(t)
			d.run(t, dir, "ffconvert tar -q --shards 5 'shards-{000..009}.tar' want && rm -r out")
			lines := regexp.MustCompile(`(?m)^    (.+)$`).FindAllStringSubmatch(section, -1)
			if len(lines) != 3 {
				t.Fatalf("%d lines", len(lines))
			}
			for _, line := range lines {
				d.run(t, dir, strings.NewReplacer(" tcp://scheduler:8786", "", "8/node1,8/node2", "2/:", "plan tar", "plan tar --shards 5", " 40", " 8", "/40", "/8", "0 39", "0 7").Replace(line[1]))
			}
			d.run(t, dir, "ffconvert diff out want && for f in want/*.ffr; do cmp $f out/${f#want/}; done && ffconvert verify out")
		})
	}
}
