package dataset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func TestReadManifestIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	src := memsource.New(41, 3, 50, 100)
	dir := t.TempDir()
	report, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{Rename: []string{"b=bin"}}, plan.Options{Sizes: plan.Sizes{Shards: 4}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 3}}}), dir, write.Options{Tool: "test"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := dataset.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := *report.Manifest
	for i := range want.Sources {
		want.Sources[i].Modified = 0
	}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("read\n%+v\nwritten\n%+v", *got, want)
	}
	short, err := dataset.ReadShards(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want.Sources = nil; !reflect.DeepEqual(*short, want) {
		t.Errorf("read without sources\n%+v\nwritten\n%+v", *short, want)
	}
	name := filepath.Join(dir, dataset.ManifestName)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(name, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.ReadShards(dir); !errors.Is(err, dataset.ErrManifest) {
		t.Error(err)
	}
}

// What a hostile manifest takes is in proportion to its bytes.
func TestReadManifestHostile(t *testing.T) { // not parallel: it measures memory
	const some = 1 << 20 // bytes of each
	fill := func(entry string) string { return strings.Repeat(entry+",", some/len(entry)) + entry }
	for name, text := range map[string]string{
		"empty shards":             `"shards":[` + fill(`{}`) + `]`,
		"shards by another name":   `"\u017fhards":[` + fill(`{}`) + `]`,
		"SHARDS":                   `"SHARDS":[{"name":"../x"}]`,
		"the same shard":           `"shards":[` + fill(`{"name":"PART_00000.ffr"}`) + `]`,
		"empty sources":            `"sources":[` + fill(`{}`) + `]`,
		"sources without accounts": `"sources":[` + fill(`{"name":"a"}`) + `]`,
		"sources":                  `"sources":[` + fill(`{"name":"a","account":{}}`) + `]`,
		"encodings":                `"encodes":[` + fill(`{"encoding":""}`) + `]`,
		"shards twice":             `"shards":[],"shards":[]`,
		"a list of numbers":        `"shards":[` + fill(`0`) + `]`,
		"no list":                  `"shards":{}`,
		"a long name":              `"tool":"` + strings.Repeat("a", some) + `"`,
		"cut":                      `"shards":[`,
		"nesting":                  strings.Repeat(`[`, some),
	} {
		data := shardtest.WithSum(`{"ffconvert_manifest":2,` + text + ",\n")
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, dataset.ManifestName), data, 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		_, err := dataset.ReadManifest(dir)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, dataset.ErrManifest) {
			t.Errorf("%s: %v", name, err)
		}
		allocated := after.TotalAlloc - before.TotalAlloc             // all of it, not what is live
		if most := uint64(64*len(data) + 256<<10); allocated > most { // an encoding is 17 bytes here and 0.3 kB in memory
			t.Errorf("%s: %d bytes allocated for %d", name, allocated, len(data))
		}
		t.Logf("%s: %.1f times its size", name, float64(allocated)/float64(len(data)))
	}
}

// A manifest of another version is said to be that, whether it has a checksum or not.
func TestReadManifestVersion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"ffconvert_manifest":1,"shards":[]}`, string(shardtest.WithSum("{\n  \"ffconvert_manifest\": 6,\n"))} {
		if _, err := dataset.DecodeManifest([]byte(text)); !errors.Is(err, dataset.ErrManifestVersion) || !strings.Contains(err.Error(), "this program reads 2") {
			t.Errorf("%v", err)
		}
	}
}

// TestManifestMeaning changes every line of a manifest: the key in one bit, the case of a letter,
// the value; the line is missing, or there twice. With the checksum that it had each is refused.
// With the right one it is refused too, or the plan and the journal contradict it; only the time,
// the name of the program, and the CRC of an index that nobody has read are its own.
func TestManifestMeaning(t *testing.T) {
	t.Parallel()
	src := memsource.New(43, 3, 50, 100)
	dir := t.TempDir()
	plan := shardtest.NewPlan(t, src, encode.Options{Rename: []string{"b=bin"}, Missing: "skip"}, plan.Options{
		Recipe: plan.Recipe{Source: plan.SourceSpec{Format: "tar", Options: map[string]string{"x": "y"}}, Shuffle: &plan.Shuffle{Seed: 3}},
		Sizes:  plan.Sizes{Shards: 4},
	})
	if _, err := shardtest.Write(t, src, plan, dir, write.Options{Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(filepath.Join(dir, dataset.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(sound), "\n")
	cases := 0
	for i, line := range lines {
		for how, changed := range changes(line) {
			text := strings.Join(lines[:i], "") + changed + strings.Join(lines[i+1:], "")
			if text == string(sound) {
				continue
			}
			cases++
			if _, err := dataset.DecodeManifest([]byte(text)); err == nil {
				t.Errorf("%s of %q is not seen", how, line)
			}
			m, err := dataset.DecodeManifest(shardtest.WithSum(shardtest.WithoutSum(text)))
			if err != nil || strings.Contains(line, `"created"`) || strings.Contains(line, `"tool"`) || strings.HasPrefix(line, `  "sha256"`) {
				continue
			}
			if kept, err := dataset.CheckKept(dir, m); err == nil && len(kept.Problems) == 0 {
				t.Errorf("%s of %q with the right checksum is not seen", how, line)
			}
		}
	}
	m, err := dataset.DecodeManifest(sound)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := dataset.CheckKept(dir, m); err != nil || !kept.Possible || kept.Reason != "" || len(kept.Problems) > 0 {
		t.Errorf("%+v, %v", kept, err)
	}
	if cases < 400 {
		t.Errorf("%d cases", cases)
	}
	t.Logf("%d cases", cases)
}

var member = regexp.MustCompile(`^ *"([^"]*)": (.*?),?\n$`)

// changes are what a line of a manifest may become.
func changes(line string) map[string]string {
	all := map[string]string{"the loss": "", "the repetition": line + line}
	m := member.FindStringSubmatchIndex(line)
	if m == nil {
		return all
	}
	for i := m[2]; i < m[3]; i++ {
		all[fmt.Sprintf("bit 0 of letter %d", i)] = line[:i] + string(line[i]^1) + line[i+1:]
	}
	all["another case"] = line[:m[2]] + strings.ToUpper(line[m[2]:m[3]]) + line[m[3]:]
	value := line[m[4]:m[5]]
	with := func(how, value string) { all[how] = line[:m[4]] + value + line[m[5]:] }
	with("null in place", "null")
	switch n, err := strconv.ParseUint(value, 10, 63); {
	case err == nil:
		with("one more", fmt.Sprint(n+1))
		with("one less", fmt.Sprint(int64(n)-1))
		with("zero in place", "0")
	case value == "true":
		with("false in place", "false")
	case strings.HasPrefix(value, `"`):
		for i := 1; i < len(value)-1; i += 7 {
			with(fmt.Sprintf("another letter %d", i), value[:i]+string(value[i]^1)+value[i+1:])
		}
		with("nothing in place", `""`)
	}
	return all
}
