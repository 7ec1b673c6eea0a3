package shard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
)

// A plan whose digest is right is refused all the same where it is not sound in itself, or
// not written as a plan is.
func TestReadPlanRefuses(t *testing.T) {
	t.Parallel()
	plan := newPlan(t, newFixture(51, 2, 6, 50), encode.Options{}, Options{Sizes: Sizes{Shards: 2}})
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
		"another name":             func(s string) string { return strings.Replace(s, "PART_00001", "../ART_001", 1) },
	} {
		lines := strings.SplitAfter(sound, "\n")
		body := change(strings.Join(lines[:len(lines)-2], ""))
		sum := sha256.Sum256([]byte(body))
		_, err := ReadPlan(strings.NewReader(body + fmt.Sprintf("{\"sha256\":%q}\n", hex.EncodeToString(sum[:]))))
		if name == "nothing" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if body == strings.Join(lines[:len(lines)-2], "") {
			t.Errorf("%s: the row changes nothing", name)
		}
		if !errors.Is(err, ErrPlan) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{"a byte": sound + "x", "a line": sound + "{}\n", "the whole again": sound + sound} {
		if _, err := ReadPlan(strings.NewReader(text)); !errors.Is(err, ErrPlan) {
			t.Errorf("%s behind the end: %v", name, err)
		}
	}
}
