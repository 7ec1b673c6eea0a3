package input

import (
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-shellwords"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// pipeCommand parses pipe:COMMAND, a program and its arguments, split as by a shell: with quotes and backslashes,
// without substitutions. Anything else that a shell would interpret is refused. The program is looked up in PATH,
// never in the current directory. shown is the redacted name for errors.
func pipeCommand(name, shown string) (*Command, error) {
	const scheme = "pipe:"
	c, err := splitCommand(name[len(scheme):], shown, scheme)
	if err == nil {
		c.Sniff = true
	}
	return c, err
}

// SplitCommand parses a program and its arguments as in the names that [Options].AllowPipe allows, without the
// pipe: prefix.
func SplitCommand(line string) (*Command, error) { return splitCommand(line, line, "") }

// splitCommand parses the command in line, without its scheme.
func splitCommand(line, shown, scheme string) (*Command, error) {
	hint := `to have a shell read it, name one: ` + scheme + `sh -c '…'`
	if !utf8.ValidString(line) {
		return nil, place.Refuse(shown, errPattern, "", "a command must be UTF-8 text")
	}
	if c := substitution(line); c != 0 {
		return nil, place.Refuse(shown, errPattern, hint, "no shell reads it, and %q is a shell's", c)
	}
	p := &shellwords.Parser{} // not NewParser, which reads mutable globals
	words, err := p.Parse(line)
	switch {
	case err != nil:
		return nil, place.Refuse(shown, errPattern, "an open quote, a backslash at the end, or a parenthesis; "+hint, "the command cannot be split into words")
	case p.Position >= 0:
		rest := string([]rune(line)[p.Position:]) // for 2>x it includes the 2
		return nil, place.Refuse(shown, errPattern, hint, "no shell reads it, and %q is a shell's", rest[strings.IndexAny(rest, ";&|<>")])
	case len(words) == 0 || words[0] == "":
		return nil, place.Refuse(shown, errPattern, "want "+scheme+"COMMAND", "it names no program")
	}
	path, err := exec.LookPath(words[0])
	switch {
	case errors.Is(err, exec.ErrDot):
		return nil, place.Refuse(shown, ErrCommand, "name it by its path to use it: "+scheme+"./"+words[0], "%s is in the current directory", text.Name(words[0]))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return nil, place.Refuse(shown, ErrCommand, "check the spelling and PATH", "no program %s is found", text.Name(words[0]))
	case err != nil:
		return nil, place.Refuse(shown, ErrCommand, "check its permissions", "%s is not a program", text.Name(words[0]))
	}
	return &Command{Name: shown, Args: append([]string{path}, words[1:]...)}, nil
}

// substitution returns the first $, backquote or line end that a shell would interpret, 0 if there is
// none. The parser would take $ and backquote literally, and a line end for a space.
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

// A Command is a program that writes an input to its standard output. It is run without a shell, in this process's
// directory and environment. Its standard input is empty. It is in a new process group, so it cannot read from the
// terminal.
type Command struct {
	Name string   // for manifests, errors and progress
	Args []string // Args[0] is the program's path; PATH is not searched
	// Stderr receives the command's standard error; concurrent commands share it. A Write to anything but an
	// [*os.File] must return soon. nil: [os.Stderr].
	Stderr io.Writer
	// Sniff decompresses the output if its content is compressed.
	Sniff bool
}

// FromCommand returns the input that package stage gets by running c.
func FromCommand(c Command) Name {
	return Name{Name: c.Name, Size: -1, Command: &c}
}
