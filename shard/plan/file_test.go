package plan

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// A plan whose digest is right is refused all the same where it is not sound in itself, or
// not written as a plan is.
func TestReadPlanRefuses(t *testing.T) {
	t.Parallel()
	plan := newPlan(t, memsource.New(51, 2, 6, 50), encode.Options{}, Options{Sizes: Sizes{Shards: 2}})
	var file bytes.Buffer
	if _, err := plan.Write(&file); err != nil {
		t.Fatal(err)
	}
	sound := file.String()
	for name, change := range map[string]func(string) string{
		"nothing":                  func(s string) string { return s },
		"a space":                  func(s string) string { return strings.Replace(s, `"parts":`, `"parts": `, 1) },
		"text behind a line":       func(s string) string { return strings.Replace(s, "}\n", "} {}\n", 1) },
		"a run of five":            func(s string) string { return strings.Replace(s, `]]`, `,7]]`, 1) },
		"samples below 0":          func(s string) string { return strings.Replace(s, `"samples":6`, `"samples":-9223372036854775808`, 1) },
		"as many as there can be":  func(s string) string { return strings.ReplaceAll(s, `"samples":6`, `"samples":9223372036854775807`) },
		"a size below 0":           func(s string) string { return strings.Replace(s, `"size":`, `"size":-`, 1) },
		"more left out than found": func(s string) string { return strings.Replace(s, `"samples":6`, `"samples":6,"samples_left_out":7`, 1) },
		"a member that is unknown": func(s string) string { return strings.Replace(s, `"parts":`, `"ports":1,"parts":`, 1) },
		"equal records with keys": func(s string) string {
			return strings.NewReplacer(`"ffconvert_plan":2`, `"ffconvert_plan":3`, `"labels":true}`, `"labels":true,"alike":true}`).Replace(s)
		},
		"a version without a reason": func(s string) string { return strings.Replace(s, `"ffconvert_plan":2`, `"ffconvert_plan":3`, 1) },
		"another name":               func(s string) string { return strings.Replace(s, "PART_00001", "../ART_001", 1) },
	} {
		before := texts(sound)
		after := change(before)
		_, err := readText(lined(after))
		if name == "nothing" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if after == before {
			t.Errorf("%s: the row changes nothing", name)
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readText(lined(strings.Replace(texts(sound), `"ffconvert_plan":2`, `"ffconvert_plan":5,"new":true`, 1))); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
	if _, err := readText(`{"ffconvert_plan":1,"source":{}}` + "\n"); !errors.Is(err, ErrVersion) {
		t.Errorf("the first version: %v", err)
	}
	for name, text := range map[string]string{"a byte": sound + "x", "a line": sound + "{}\n", "the whole again": sound + sound} {
		if _, err := readText(text); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s behind the end: %v", name, err)
		}
	}
}

func readText(text string) (*Plan, error) { return Read(strings.NewReader(text), int64(len(text))) }

// texts are the lines of a plan without their CRCs, and without the foot.
func texts(plan string) string {
	lines := strings.SplitAfter(plan, "\n")
	var b strings.Builder
	for _, line := range lines[:len(lines)-2] {
		b.WriteString(line[9:])
	}
	return b.String()
}

// lined is a plan file of such lines, with the CRCs, the offsets in the table and the foot that they should have: no
// mutation gets past a SHA-256.
func lined(texts string) string {
	var b []byte
	var ends []int // of the lines before the table
	table, row := 0, 0
	for line := range strings.Lines(texts) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "{") {
			b = checksum.AppendLine(b, []byte(line))
			table = len(b)
			ends = append(ends, table)
			continue
		}
		b = checksum.AppendLine(b, fmt.Appendf(nil, "%016x%s", ends[row], line[16:]))
		row++
	}
	foot := fmt.Sprintf(`{"table":%d,"sha256":"%x"}`, table, sha256.Sum256(b))
	return string(checksum.AppendLine(b, []byte(foot)))
}
