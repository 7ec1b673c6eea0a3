package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A result is what a run of the program left.
type result struct {
	args           []string
	stdout, stderr string
	status         int
}

func (r result) String() string {
	return fmt.Sprintf("ffconvert %.300q ended with %d\nstdout %.1000q\nstderr %.1000q", r.args, r.status, r.stdout, r.stderr)
}

// ffconvert runs the program in a directory. One that panics, or takes half a minute, fails
// the test.
func ffconvert(t *testing.T, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, exe)
	cmd.Args = append([]string{"ffconvert"}, args...) // testscript.Main runs the command of that name
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err = cmd.Run()
	r := result{args, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil || strings.Contains(r.stderr, "internal error") || strings.Contains(r.stderr, "goroutine ") {
		t.Errorf("%v: %s", err, r)
	}
	return r
}

func sprint(a ...any) string { return fmt.Sprintln(a...) }

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarOf makes a tar of empty members.
func tarOf(t *testing.T, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// snapshot is all that a directory holds: contents, links and modes.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		data := ""
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data = string(content)
		} else if d.Type()&fs.ModeSymlink != 0 {
			if data, err = os.Readlink(path); err != nil {
				return err
			}
		}
		fmt.Fprintf(&b, "%q %v %q\n", path, d.Type(), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostileNames are names that would do harm as paths, or are none.
var hostileNames = []string{
	"../../etc/x.jpg", "/etc/cron.d/x.jpg", "../victim/x.jpg", "out/PART_00007.ffr", "out/manifest.json", ".ffconvert/plan.x", "dev/null.x", "CON.x", "C:/x.jpg",
	"$(touch ran).jpg", "`touch ran`.jpg", "-rf.jpg", "%n%s.jpg", strings.Repeat("d/", 2000) + "x.jpg", strings.Repeat("k", 65_000) + ".jpg", "a\tb.x",
}

// Whatever members, files, items and columns are called, what a conversion makes is its
// output and nothing else, and verify, inspect and check make nothing.
func TestSecurityNames(t *testing.T) {
	t.Parallel()
	need.Time(t, "many hostile inputs, a process each")
	items, header := "", ""
	for i, name := range hostileNames {
		items += "\xa2\x67__key__\x7a" + string([]byte{0, byte(len(name) >> 16), byte(len(name) >> 8), byte(len(name))}) + name
		items += "\x7a" + string([]byte{0, byte(len(name) >> 16), byte(len(name) >> 8), byte(len(name))}) + name + "\x01"
		if i > 0 {
			header += ","
		}
		header += `"` + name + `"`
	}
	files := map[string]string{
		"victim/x.jpg": "precious", "names.tar": tarOf(t, hostileNames...), "names.cbors": items,
		"names.csv": header + "\n" + strings.Repeat("1,", len(hostileNames)-1) + "a\n",
	}
	for _, name := range hostileNames {
		if len(name) < 200 && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "..") {
			files["folder/"+name] = "x"
		}
	}
	dir := need.Files(t, files)
	for _, row := range []struct {
		args   []string
		status int
	}{
		{[]string{"tar", "names.tar"}, 0},
		{[]string{"tar", "--encode", "cbor", "--shards", "3", "names.tar"}, 0},
		{[]string{"folder", "--flat", "--hidden", "folder"}, 0},
		{[]string{"csv", "--header", "names.csv"}, 0},
		{[]string{"cbor", "--encode", "msgpack", "names.cbors"}, 0},
		{[]string{"cbor", "names.cbors"}, 0},
	} {
		before := snapshot(t, dir)
		out := ffconvert(t, dir, append(row.args, "out")...)
		if out.status != row.status {
			t.Errorf("%s, want %d", out, row.status)
		}
		for _, args := range [][]string{{"verify", "out"}, {"inspect", "out"}, append([]string{"check"}, row.args...), append(row.args, "--dry-run", "dry")} {
			if args[0] == "check" {
				args = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == "--shards" || s == "3" })
			}
			if out := ffconvert(t, dir, args...); out.status != 0 {
				t.Error(out)
			}
		}
		names, err := filepath.Glob(filepath.Join(dir, "out", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if !regexp.MustCompile(`^(PART_0000[0-2]\.ffr|manifest\.json|meta\.json|index|\.ffconvert)$`).MatchString(filepath.Base(name)) {
				t.Errorf("%q made %s", row.args, name)
			}
		}
		if err := os.RemoveAll(filepath.Join(dir, "out")); err != nil {
			t.Fatal(err)
		}
		if after := snapshot(t, dir); after != before {
			t.Errorf("%q changed what is beside its output:\n%s\nwas\n%s", row.args, after, before)
		}
	}
}

// Nothing that lies in OUT leads a conversion out of it, or to what is not its own.
func TestSecurityLinks(t *testing.T) {
	t.Parallel()
	need.Time(t, "many links")
	archive := tarOf(t, "a.jpg", "b.jpg")
	for _, row := range []struct{ name, link, target string }{
		{"index", "index", "../victim"},
		{"working directory", ".ffconvert", "../victim"},
		{"shard", "PART_00000.ffr", "../victim/new"},
		{"shard that exists", "PART_00000.ffr", "../victim/x"},
		{"manifest", "manifest.json", "../victim/x"},
		{"manifest, dangling", "manifest.json", "../victim/new"},
		{"meta", "meta.json", "../victim/x"},
		{"lock", ".ffconvert/lock", "../../victim/x"},
		{"lock, dangling", ".ffconvert/lock", "../../victim/new"},
		{"plan", ".ffconvert/plan", "../../victim/x"},
		{"plan, dangling", ".ffconvert/plan", "../../victim/new"},
		{"journal", ".ffconvert/journal", "../../victim/x"},
		{"journal, dangling", ".ffconvert/journal", "../../victim/new"},
		{"temporary files", ".ffconvert/tmp", "../../victim"},
		{"lock, inside", ".ffconvert/lock", "../own"},
		{"journal, inside", ".ffconvert/journal", "../own"},
		{"plan, inside", ".ffconvert/plan", "../own"},
		{"cache", ".ffconvert/cache", "../../victim"},
		{"index, inside", "index", ".ffconvert"},
		{"manifest, inside", "manifest.json", "own"},
		{"meta, inside", "meta.json", "own"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for _, flags := range [][]string{nil, {"--overwrite"}, {"--dry-run"}} {
				dir := need.Files(t, map[string]string{"a.tar": archive, "b.tgz": string(gzipped(t, []byte(archive))), "victim/x": "precious", "out/own": "precious", "out/" + row.link: "-> " + row.target})
				before := snapshot(t, filepath.Join(dir, "victim"))
				ffconvert(t, dir, append(append([]string{"tar"}, flags...), "a.tar", "b.tgz", "out")...)
				if flags == nil {
					for _, command := range []string{"verify", "inspect", "repair"} {
						ffconvert(t, dir, command, "out")
					}
				}
				if after := snapshot(t, filepath.Join(dir, "victim")); after != before {
					t.Errorf("%q changed what is outside:\n%s\nwas\n%s", flags, after, before)
				}
				if own, err := os.ReadFile(filepath.Join(dir, "out/own")); err != nil || string(own) != "precious" {
					t.Errorf("%q changed what was there: %q, %v", flags, own, err)
				}
			}
		})
	}
}

// What a manifest, a plan or meta.json says is compared, and never believed: no name in it
// leads anywhere, no number sizes anything, and no nesting is followed down.
func TestSecurityManifest(t *testing.T) {
	t.Parallel()
	need.Time(t, "many hostile inputs, a process each")
	dir := need.Files(t, map[string]string{"a.tar": tarOf(t, "a.jpg", "b.jpg", "c.jpg"), "x.ffr": "precious"})
	if out := ffconvert(t, dir, "tar", "--shards", "2", "a.tar", "out"); out.status != 0 {
		t.Fatal(out)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, "out", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	manifest, plan, meta := read("manifest.json"), read(".ffconvert/plan"), read("meta.json")
	deep := strings.Repeat("[", 1_000_000)
	rows := map[string][2]string{"deep": {"manifest.json", deep}, "deep map": {"manifest.json", strings.Repeat(`{"a":`, 1_000_000)}, "deep plan": {".ffconvert/plan", deep + "\n"}, "deep meta": {"meta.json", deep}, "empty": {"manifest.json", ""}, "null": {"manifest.json", "null"}, "zeros": {"manifest.json", strings.Repeat("\x00", 1<<20)}, "a number": {"manifest.json", "1e300"}}
	for _, name := range []string{"../x.ffr", "/etc/passwd", "a/PART_00000.ffr", "PART_00000.ffr/../../x.ffr", "", ".", "PART_00000.ffr\\u0000", "PART_0000A.ffr", "PART_00000.ffr\\n"} {
		rows["name "+name] = [2]string{"manifest.json", resealed(strings.Replace(manifest, "PART_00001.ffr", name, 1))}
		rows["name in the plan "+name] = [2]string{".ffconvert/plan", strings.Replace(plan, "PART_00001.ffr", name, 1)}
	}
	for _, n := range []string{"-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e300", "1e5", "0.5", `"1"`, "[]", "null"} {
		number := func(text, key string) string {
			return regexp.MustCompile(`("`+key+`": ?)[0-9]+`).ReplaceAllString(text, "${1}"+strings.ReplaceAll(n, "$", "$$"))
		}
		for _, key := range []string{"samples", "bytes", "header_crc32", "ffconvert_manifest", "shards", "size", "entries", "fields"} {
			rows[key+" "+n] = [2]string{"manifest.json", resealed(number(manifest, key))}
		}
		for _, key := range []string{"samples", "bytes", "ffconvert_plan", "shards", "parts", "size", "entries"} {
			rows["plan "+key+" "+n] = [2]string{".ffconvert/plan", number(plan, key)}
		}
		rows["meta samples "+n] = [2]string{"meta.json", number(meta, "samples")}
	}
	if len(rows) < 100 {
		t.Fatalf("%d rows", len(rows))
	}
	step := 24 // a process takes long under the race detector
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		step = 3
	}
	commands := [][]string{{"verify", "out"}, {"inspect", "out"}, {"tar", "--shards", "2", "a.tar", "out"}, {"repair", "out"}}
	i := 0
	for name, row := range rows {
		i++
		for k, args := range commands {
			if (i+k)%step != 0 {
				continue
			}
			for file, data := range map[string]string{"manifest.json": manifest, ".ffconvert/plan": plan, "meta.json": meta, row[0]: row[1]} {
				if file == row[0] {
					data = row[1]
				}
				if err := os.WriteFile(filepath.Join(dir, "out", file), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			out := ffconvert(t, dir, args...)
			if out.status > 4 || out.status < 0 || len(out.stderr) > 20_000 {
				t.Errorf("%s: %s", name, out)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "x.ffr")); err != nil || string(data) != "precious" {
				t.Fatalf("%s: x.ffr is %q, %v", name, data, err)
			}
		}
	}
}

// resealed is a manifest with the checksum that its bytes have, whoever has written them.
func resealed(manifest string) string {
	const member = "  \"sha256\": \""
	body := manifest[:strings.LastIndex(manifest, member)]
	return fmt.Sprintf("%s%s%x\"\n}\n", body, member, sha256.Sum256([]byte(body)))
}

// A text escapes what a terminal would obey.
func TestPlainText(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][2]string{
		"":                     {"", `""`},
		"a b é 漢 😀":            {"a b é 漢 😀", "a b é 漢 😀"},
		"\x1b[2J":              {`\x1b[2J`, `"\x1b[2J"`},
		"a\nb\tc\r":            {`a\nb\tc\r`, `"a\nb\tc\r"`},
		"\u009b2J":             {`\u009b2J`, `"\u009b2J"`},
		"\x9b2J":               {`\x9b2J`, `"\x9b2J"`},
		"\x7f":                 {`\x7f`, `"\x7f"`},
		"\u202egnp.exe":        {`\u202egnp.exe`, `"\u202egnp.exe"`},
		"\ufeff":               {`\ufeff`, `"\ufeff"`},
		"\xff\xfe":             {`\xff\xfe`, `"\xff\xfe"`},
		"a\\x1b":               {`a\x1b`, `"a\\x1b"`},
		"quote \" apostrophe'": {"quote \" apostrophe'", `"quote \" apostrophe'"`},
	} {
		if got := [2]string{text.Line(raw), text.Name(raw)}; got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
	var b strings.Builder
	if err := terminal.NewJSONEncoder(&b).Encode("\x1b \x7f \u009b é \u00a0"); err != nil || b.String() != `"\u001b \u007f \u009b é `+"\u00a0\"\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// obeyed returns what a terminal would obey in an output, "" where there is nothing.
func obeyed(text string) string {
	for i, r := range text {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return text[max(0, i-60):min(len(text), i+20)]
		}
	}
	return ""
}

// No byte that a terminal would obey comes out of a dataset, whatever the command says of
// it.
func TestSecurityTerminal(t *testing.T) {
	t.Parallel()
	need.Time(t, "many hostile inputs, a process each")
	const bad = "\x1b]0;owned\a\x1b[2J\u009b2J\x7f"
	quoted := strings.ReplaceAll(bad, `\`, `\\`)
	item := func(s string) string { return "\x78" + string([]byte{byte(len(s))}) + s }
	dir := need.Files(t, map[string]string{
		"member.tar":               tarOf(t, bad+".jpg", "b.jpg"),
		"twice.tar":                tarOf(t, bad+".jpg", "b.jpg", bad+".jpg"),
		"field.tar":                tarOf(t, "a."+bad, "a."+bad),
		"link.tar":                 tarOf(t, bad, "a.jpg"),
		"tars/" + bad + ".tar":     "this is no tar",
		"none/" + bad:              "this is no tar",
		"gz/" + bad + ".tar":       "\x1f\x8b\x08",
		"pets/" + bad + "/a.jpg":   "x",
		"pets/" + bad + "/a.png":   "x",
		"pets/cat/" + bad + ".jpg": "x",
		"good/" + bad + "/a.jpg":   "x",
		"rows/part-0":              "1,2\n3\n",
		"header.csv":               bad + ",x\n1,a\n",
		"header2.csv":              bad + "," + bad + "\n1,a\n",
		"value.csv":                "1,2\n" + bad + ",3\n",
		"key.cbors":                "\xa2\x67__key__" + item(bad) + item(bad) + "\x01",
		"twice.cbors":              "\xa2" + item(bad) + "\x01" + item(bad) + "\x01",
		"deep.cbors":               "\xa2\x67__key__" + item(bad) + "\x61a\xc1\x01",
		"json/a.json":              `{"` + bad + `": 1, "` + bad + `": 2}`,
		"bad.ffr":                  "x",
		"shards/" + bad + ".ffr":   "this is no shard",
		"classes.txt":              bad + "\n" + bad + "\n",
		"tree/" + bad:              "x",
		"tree/d" + bad + "/x":      "x",
	})
	for _, args := range [][]string{{"tar", "member.tar", "out"}, {"csv", "--header", "header.csv", "columns"}, {"pack", "tree", "tree.ffr"}, {"folder", "good", "classes"}} {
		if out := ffconvert(t, dir, args...); out.status != 0 {
			t.Fatal(out)
		}
	}
	// What a dataset says of itself may be anything.
	manifest, err := os.ReadFile(filepath.Join(dir, "columns/manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	forged := resealed(regexp.MustCompile(`"(tool|format|encoding)": "[^"]*"`).ReplaceAllString(string(manifest), `"$1": "`+strings.ReplaceAll(strings.ReplaceAll(quoted, "\x1b", `\u001b`), "\a", `\u0007`)+`"`))
	if err := os.WriteFile(filepath.Join(dir, "columns/manifest.json"), []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"tar member.tar out", "tar --dry-run member.tar dry", "tar twice.tar refused", "tar field.tar refused", "tar --dry-run link.tar refused", "tar tars refused", "tar none/* refused", "tar gz refused",
		"tar --fields png member.tar refused", "tar --missing skip --fields png member.tar refused", "folder pets refused", "folder --max-sample-size 1 good refused", "folder --flat --encode raw:x pets refused", "folder --group pets grouped",
		"folder --classes classes.txt good refused", "csv rows refused", "csv --header header2.csv refused", "csv --dtype float64 value.csv refused", "csv --header --columns x,y header.csv refused",
		"cbor --encode msgpack twice.cbors refused", "cbor --encode msgpack deep.cbors refused", "cbor --encode raw:x key.cbors refused", "cbor --max-name-size 1 key.cbors refused", "folder --flat --decode json refused",
		"inspect out", "inspect --format json out", "inspect columns", "inspect --format json columns", "inspect classes", "inspect shards", "verify shards", "verify --format json shards", "verify --format junit shards", "verify --format sarif shards", "verify columns", "repair columns",
		"ls tree.ffr", "ls -R tree.ffr", "ls --format json tree.ffr", "cat tree.ffr nosuch", "unpack tree.ffr tree", "pack --max-file-size 1 json refused.ffr", "formats",
		"check tar member.tar", "check tar twice.tar", "check tar tars", "check folder pets", "check csv --header header2.csv", "check cbor --encode msgpack twice.cbors", "check tar --format json twice.tar", "check tar --format junit twice.tar", "check tar --format sarif twice.tar",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "*", bad)
		}
		out := ffconvert(t, dir, args...)
		if found := obeyed(out.stdout) + obeyed(out.stderr); found != "" {
			t.Errorf("%s: %q", line, found)
		}
		if strings.Contains(line, "refused") && out.status == 0 && !strings.Contains(line, "--dry-run") {
			t.Errorf("%s, want a refusal", out)
		}
	}
}
