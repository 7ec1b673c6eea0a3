package text

import (
	"bytes"
	"os/exec"
	"testing"
)

// A shell takes a quoted word literally, whatever it holds, and nothing of it moves the cursor.
func TestShellWord(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, row := range []struct{ word, want string }{
		{"plain-word_1.tar", "plain-word_1.tar"}, {"a b", "'a b'"}, {"", "''"}, {"it's", `'it'\''s'`}, {"{a,b}", "'{a,b}'"}, {"~", "'~'"}, {"a\\b", `'a\b'`},
		{"line\nbreak", `$'line\012break'`}, {"\x1b[31m'\\", `$'\033[31m\'\\'`}, {"\xff7", `$'\3777'`}, {"right\u202eleft", `$'right\342\200\256left'`}, {"größe", "größe"},
		{"$(id)`id`!x", "'$(id)`id`!x'"},
	} {
		quoted := ShellWord(row.word)
		if quoted != row.want || Line(quoted) != quoted {
			t.Errorf("%q becomes %s, want %s", row.word, quoted, row.want)
		}
		got, err := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+quoted).Output()
		if err != nil || !bytes.Equal(got, []byte(row.word)) {
			t.Errorf("%s is %q, %v; want %q", quoted, got, err, row.word)
		}
	}
}
