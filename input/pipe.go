package input

import (
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-shellwords"

	"github.com/ffconvert/ffconvert/internal/text"
)

// pipeCommand reads pipe:COMMAND, a program and its arguments as a shell would split
// them: quotes and backslashes protect, and nothing is substituted. What asks for more of
// a shell is refused: no shell of ours reads it. The program is looked for in PATH, never in the
// current directory. Errors call it shown.
func pipeCommand(name, shown string) (*Command, error) {
	line := name[len("pipe:"):]
	const hint = `to have a shell read it, name one: pipe:sh -c '…'`
	if !utf8.ValidString(line) {
		return nil, refuse(shown, ErrPattern, "", "a command must be UTF-8 text")
	}
	if c := substitution(line); c != 0 {
		return nil, refuse(shown, ErrPattern, hint, "no shell reads it, and %q is a shell's", c)
	}
	p := &shellwords.Parser{} // not NewParser: that asks mutable globals
	words, err := p.Parse(line)
	switch {
	case err != nil:
		return nil, refuse(shown, ErrPattern, "an open quote, a backslash at the end, or a parenthesis; "+hint, "the command cannot be split into words")
	case p.Position >= 0:
		rest := string([]rune(line)[p.Position:]) // of 2>x, the 2 as well
		return nil, refuse(shown, ErrPattern, hint, "no shell reads it, and %q is a shell's", rest[strings.IndexAny(rest, ";&|<>")])
	case len(words) == 0 || words[0] == "":
		return nil, refuse(shown, ErrPattern, "want pipe:COMMAND", "it names no program")
	}
	path, err := exec.LookPath(words[0])
	switch {
	case errors.Is(err, exec.ErrDot):
		return nil, refuse(shown, ErrCommand, "name it by its path to use it: pipe:./"+words[0], "%s is in the current directory", text.Name(words[0]))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return nil, refuse(shown, ErrCommand, "check the spelling and PATH", "no program %s is found", text.Name(words[0]))
	case err != nil:
		return nil, refuse(shown, ErrCommand, "check its permissions", "%s is not a program", text.Name(words[0]))
	}
	return &Command{Name: shown, Args: append([]string{path}, words[1:]...), Sniff: true}, nil
}

// substitution returns the character outside single quotes by which a shell would put
// something else in, or a line end; 0 where there is none. The parser takes the one
// literally and the other for a space, which whoever wrote it did not mean.
func substitution(line string) byte {
	var single, double bool
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' && !double:
			single = !single
		case single:
		case c == '\\':
			i++
		case c == '"':
			double = !double
		case c == '$', c == '`', c == '\n' && !double:
			return c
		}
	}
	return 0
}
