package faults

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A change is what becomes of a file beside the shards of a dataset.
type change struct {
	file string
	what string
	data []byte // nil: the file is gone
}

var memberLine = regexp.MustCompile(`^ *"([^"]*)": (.*?),?\n$`)

// changesOf are what a line of JSON may become: another key, another value, none, two.
func changesOf(line string) map[string]string {
	all := map[string]string{"missing": "", "there twice": line + line}
	m := memberLine.FindStringSubmatchIndex(line)
	if m == nil {
		return all
	}
	all["misspelt"] = line[:m[3]-1] + string(line[m[3]-1]^1) + line[m[3]:]
	all["misspelt at first"] = line[:m[2]] + string(line[m[2]]^1) + line[m[2]+1:]
	all["in capitals"] = line[:m[2]] + strings.ToUpper(line[m[2]:m[3]]) + line[m[3]:]
	all["unknown"] = line[:m[0]] + `  "surplus": 0,` + "\n" + line
	value := line[m[4]:m[5]]
	with := func(how, value string) { all[how] = line[:m[4]] + value + line[m[5]:] }
	with("null", "null")
	switch n, err := strconv.ParseUint(value, 10, 63); {
	case err == nil:
		with("one more", fmt.Sprint(n+1))
		with("one less", fmt.Sprint(int64(n)-1))
		with("doubled", fmt.Sprint(2*n+7))
	case value == "true":
		with("false", "false")
	case strings.HasPrefix(value, `"`) && len(value) > 2:
		with("another letter", value[:1]+string(value[1]^1)+value[2:])
		with("another last letter", value[:len(value)-2]+string(value[len(value)-2]^1)+`"`)
		with("empty", `""`)
	}
	return all
}

// manifestChanges change each line of a manifest, with the checksum that it had and with the one
// that it then should have. The time and the name of the program are the manifest's own: nothing
// else tells them.
func manifestChanges(manifest string) []change {
	const file, sum = "manifest.json", "  \"sha256\": \""
	var all []change
	add := func(what, text string) {
		if text != manifest {
			all = append(all, change{file, what, []byte(text)})
		}
	}
	lines := strings.SplitAfter(manifest, "\n")
	for i, line := range lines {
		for how, with := range changesOf(line) {
			text := strings.Join(lines[:i], "") + with + strings.Join(lines[i+1:], "")
			what := fmt.Sprintf("line %d, %q, is %s", i, strings.TrimSpace(line), how)
			add(what, text)
			if at := strings.LastIndex(text, sum); at > 0 && !regexp.MustCompile(`"(created|tool|sha256)"`).MatchString(line) {
				add(what+", with the right checksum", fmt.Sprintf("%s%s%x\"\n}\n", text[:at], sum, sha256.Sum256([]byte(text[:at]))))
			}
		}
	}
	return all
}

// lineChanges change the lines of a plan or a journal: bits, and lines that are missing, there
// twice, and, with the right CRC, of another text.
func lineChanges(file string, data []byte) []change {
	all := []change{{file, "gone", nil}, {file, "empty", []byte{}}}
	lines := bytes.SplitAfter(data, []byte{'\n'})
	lines = lines[:len(lines)-1]
	for i, line := range lines {
		with := func(what string, line ...[]byte) {
			text := slices.Concat(slices.Concat(lines[:i]...), slices.Concat(line...), slices.Concat(lines[i+1:]...))
			all = append(all, change{file, fmt.Sprintf("line %d: %s", i, what), text})
		}
		with("missing")
		with("cut", line[:len(line)-1])
		for at := 0; at < len(line); at += 1 + len(line)/12 {
			flipped := bytes.Clone(line)
			flipped[at] ^= 4
			with(fmt.Sprintf("a bit of byte %d", at), flipped)
		}
		_, text, _ := bytes.Cut(bytes.TrimSuffix(line, []byte{'\n'}), []byte{' '})
		for at := range text {
			if text[at] >= '0' && text[at] < '9' && at%3 == 0 && (file != ".ffconvert/journal" || i > 0 && bytes.Contains(text[:at], []byte(`"name":`)) && !bytes.Contains(text[:at], []byte(`"verified":`))) {
				other := bytes.Clone(text)
				other[at]++
				with(fmt.Sprintf("another number at %d, with the right CRC", at), fmt.Appendf(nil, "%08x %s\n", crc32.ChecksumIEEE(other), other))
			}
		}
	}
	return all
}

// TestFaultH2 changes what a manifest, a plan and a journal mean. verify must tell each change: as
// damage, or, of a file that is gone, that a repair needs it.
func TestFaultH2(t *testing.T) {
	slow(t)
	t.Parallel()
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	from := filepath.Join(base, "summed")
	if err := os.CopyFS(from, os.DirFS(filepath.Join(base, "reference"))); err != nil {
		t.Fatal(err)
	}
	if r, err := run("finish", "--sha256", "--progress", "none", from); err != nil || r.code != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	all := manifestChanges(string(read("manifest.json")))
	for _, file := range []string{".ffconvert/plan", ".ffconvert/journal"} {
		all = append(all, lineChanges(file, read(file))...)
	}
	slices.SortFunc(all, func(a, b change) int { return strings.Compare(a.file+a.what, b.file+b.what) })
	sum := each(t, spread(len(all), 40), func(i int, dir string) error {
		c := all[i]
		out := filepath.Join(dir, "out")
		if err := os.CopyFS(out, os.DirFS(from)); err != nil {
			return err
		}
		path := filepath.Join(out, filepath.FromSlash(c.file))
		if err := os.Remove(path); err != nil {
			return err
		}
		if c.data != nil {
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				return err
			}
		}
		r, err := run("verify", "--progress", "none", out)
		switch {
		case err != nil:
			return err
		case r.code == 0 && (c.data != nil || !regexp.MustCompile(`repair possible: .*, the (plan|journal) is missing`).MatchString(r.stdout)):
			return fmt.Errorf("%w as sound: %s: %s", errBad, c.file, c.what)
		case r.code != 0:
			if err := r.clean(2, 3); err != nil {
				return fmt.Errorf("%s: %s: %w", c.file, c.what, err)
			}
		}
		return nil
	})
	t.Logf("H2 %v", sum)
}
