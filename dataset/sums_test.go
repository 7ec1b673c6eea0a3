package dataset_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// writeSums writes the shards of a plan, or finishes them (nil), with the SHA-256 of all files.
func writeSums(t *testing.T, src *memsource.Source, p *plan.Plan, dir string) *write.Report {
	t.Helper()
	out, err := dataset.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	out.SHA256 = true
	var report *write.Report
	if p == nil {
		report, err = write.Finish(t.Context(), out, write.Options{})
	} else {
		report, err = write.All(t.Context(), write.Local(src), p, out, write.Options{})
	}
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return report
}

func sumsOf(t *testing.T, dir string) (m *dataset.Manifest, text string) {
	t.Helper()
	m, err := dataset.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := m.WriteSums(&b); err != nil {
		t.Fatal(err)
	}
	return m, b.String()
}

// What sha256sum prints of the files is what the manifest gives, and its SHA-256 is the root.
func TestSumsAreThoseOfCoreutils(t *testing.T) {
	t.Parallel()
	src := memsource.New(5, 2, 60, 3000)
	dir := t.TempDir()
	writeSums(t, src, shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards), dir)
	m, text := sumsOf(t, dir)
	sh := exec.Command("sh", "-c", need.Tool(t, "sha256sum")+" PART_*.ffr index/PART_*.arrow meta.json")
	sh.Dir = dir
	if want, err := sh.Output(); err != nil || text != string(want) {
		t.Errorf("%v\n%s\nsha256sum prints\n%s", err, text, want)
	}
	if m.Version != 4 || m.Root != fmt.Sprintf("%x", sha256.Sum256([]byte(text))) || strings.Count(text, "\n") != 9 {
		t.Errorf("version %d, root %v of\n%s", m.Version, m.Root, text)
	}
}

// A dataset has no sums unless they are wanted: then Finish reads what has none, and so does a conversion.
func TestSumsMissing(t *testing.T) {
	t.Parallel()
	src := memsource.New(6, 2, 60, 3000)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	dir, whole := t.TempDir(), t.TempDir()
	for dir, opts := range map[string]write.Options{whole: {}, dir: {NoVerify: true}} {
		if _, err := shardtest.Write(t, src, p, dir, opts); err != nil {
			t.Fatal(err)
		}
		m, err := dataset.ReadManifest(dir)
		if err != nil || m.Version != 2 || m.Root != "" || !errors.Is(m.WriteSums(&bytes.Buffer{}), dataset.ErrNoSums) {
			t.Fatalf("%+v, %v", m, err)
		}
	}
	for _, reread := range []int{4, 0} {
		if report := writeSums(t, src, p, whole); report.Reread != reread || report.Already != (reread == 0) {
			t.Errorf("%+v", report)
		}
	}
	shardtest.Remove(t, dir, "PART_00001.ffr")
	if _, report, err := shardtest.Repair(t, src, dir); err != nil || report.Manifest.Version != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	writeSums(t, src, nil, dir)
	_, text := sumsOf(t, dir)
	if _, want := sumsOf(t, whole); text != want {
		t.Errorf("%s\nwant\n%s", text, want)
	}
	if kept, err := dataset.CheckKept(dir, must(dataset.ReadManifest(dir))); err != nil || len(kept.Problems) > 0 {
		t.Errorf("%+v, %v", kept, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Journals of earlier versions have no sums, which come from the manifest then, or those of shards: what was begun with
// sums goes on with them.
func TestSumsOfJournals(t *testing.T) {
	t.Parallel()
	src := memsource.New(7, 2, 60, 3000)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	with := t.TempDir()
	writeSums(t, src, p, with)
	_, want := sumsOf(t, with)
	read := func(name string) []byte { return must(os.ReadFile(filepath.Join(with, name))) }
	manifest := read(dataset.ManifestName)
	for _, row := range []struct {
		strip string // from the journal
		lose  []string
	}{
		{`"sha256":"[0-9a-f]*",|,"sha256":("[0-9a-f]*"|true)`, nil},
		{`"sha256":"[0-9a-f]*",|,"sha256":("[0-9a-f]*"|true)`, []string{"PART_00002.ffr"}},
		{`^$`, []string{"PART_00002.ffr", dataset.ManifestName}}, // of one shard the journal has a sum
	} {
		var journal []byte
		for line := range bytes.Lines(read(dataset.JournalName)) {
			text, _ := checksum.CheckLine(bytes.TrimSpace(line))
			journal = checksum.AppendLine(journal, regexp.MustCompile(row.strip).ReplaceAll(text, nil))
		}
		if err := os.WriteFile(filepath.Join(with, dataset.JournalName), journal, 0o644); err != nil {
			t.Fatal(err)
		}
		if kept, err := dataset.CheckKept(with, must(dataset.ReadManifest(with))); err != nil || len(kept.Problems) > 0 {
			t.Errorf("%+v, %v", kept, err)
		}
		for _, name := range row.lose {
			shardtest.Remove(t, with, name)
		}
		report, err := shardtest.Write(t, src, p, with, write.Options{})
		if err != nil || report.Kept < 3 {
			t.Fatalf("%+v, %v", report, err)
		}
		if _, text := sumsOf(t, with); text != want {
			t.Errorf("%s\nwant\n%s", text, want)
		}
		if after := read(dataset.ManifestName); row.lose == nil && !bytes.Equal(manifest, after) {
			t.Errorf("%s\nwas\n%s", after, manifest)
		}
	}
}

// Other bytes with the same CRCs are found by their SHA-256 alone, and a repair writes the shard anew.
func TestSumsFindCollisions(t *testing.T) {
	t.Parallel()
	src := memsource.New(8, 2, 60, 3000)
	p := shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}})
	for _, name := range []string{"PART_00001.ffr", "index/PART_00000.arrow"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeSums(t, src, p, dir)
			before := shardtest.Files(t, dir)
			st, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			shardtest.Collide(t, dir, name, collidesAt(t, dir, name, int(st.Size())))
			m := must(dataset.ReadManifest(dir))
			for _, row := range []struct {
				sha256 bool
				want   []verify.Kind
			}{{false, nil}, {true, []verify.Kind{verify.Changed}}} {
				report, _, err := shardtest.Verify(t, dir, m, verify.Options{SHA256: row.sha256})
				if err != nil {
					t.Fatal(err)
				}
				var kinds []verify.Kind
				for _, p := range report.Problems {
					if kinds = append(kinds, p.Kind); !strings.Contains(p.String(), name+": its SHA-256 is ") {
						t.Error(p)
					}
				}
				if !slices.Equal(kinds, row.want) {
					t.Errorf("SHA256 %v: %v", row.sha256, report.Problems)
				}
			}
			if damaged, _, err := shardtest.Repair(t, src, dir); err != nil || len(damaged) != 1 {
				t.Errorf("%v, %v", damaged, err)
			}
			for name, data := range shardtest.Files(t, dir) {
				if before[name] != data {
					t.Errorf("%s is not as it was", name)
				}
			}
		})
	}
}

// collidesAt returns where in a file five bytes lie under one CRC: in a shard, inside its last sample.
func collidesAt(t *testing.T, dir, name string, size int) int {
	t.Helper()
	if strings.HasSuffix(name, ".ffr") {
		return size - 8
	}
	return size / 2
}

// A manifest whose root does not fit, or in which a sum is missing, is damaged, also with the right checksum.
func TestSumsContradict(t *testing.T) {
	t.Parallel()
	src := memsource.New(9, 1, 30, 3000)
	dir := t.TempDir()
	writeSums(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}}), dir)
	m, _ := sumsOf(t, dir)
	sound := string(must(os.ReadFile(filepath.Join(dir, dataset.ManifestName))))
	of := func(sum string) string { return `"sha256": "` + sum + `"` }
	for name, row := range map[string]struct{ old, new, want string }{
		"another root":        {m.Root, m.Shards[0].SHA256, "root_sha256"},
		"no root":             {"  \"root_sha256\": \"" + m.Root + "\",\n", "", "members of version 2"},
		"another sum":         {of(m.Shards[0].SHA256), of(m.Shards[1].SHA256), "root_sha256"},
		"a sum less":          {"      " + of(m.Shards[0].SHA256) + ",\n", "", "some of its files"},
		"a sum twice":         {"      " + of(m.Shards[0].SHA256) + ",\n", strings.Repeat("      "+of(m.Shards[0].SHA256)+",\n", 2), "there twice"},
		"an index without":    {",\n        " + of(m.Shards[1].Index.SHA256), "", "some of its files"},
		"meta.json without":   {",\n    " + of(m.Meta.SHA256), "", "some of its files"},
		"a short sum":         {m.Meta.SHA256, m.Meta.SHA256[:62], "not a SHA-256"},
		"a sum in capitals":   {m.Root, strings.ToUpper(m.Root), "root_sha256"},
		"sums with a newline": {m.Meta.SHA256, `a\n` + m.Meta.SHA256[2:], "not a SHA-256"},
	} {
		text := strings.Replace(shardtest.WithoutSum(sound), row.old, row.new, 1)
		if text == shardtest.WithoutSum(sound) {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := dataset.DecodeManifest(shardtest.WithSum(text)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}
