package input

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// maxList limits a list of names, in bytes: two million names of thirty bytes. A list from the network is held in
// memory.
const maxList = 64 << 20

// Lists returns the arguments with each @FILE replaced by the names and patterns in FILE.
//
// A list has one name or pattern per line. Blank lines and lines that begin with # are skipped; a line may end in
// \r\n, and a byte order mark may come first. Nothing else is trimmed or unescaped: paths are relative to the
// current directory, and need not be UTF-8. A list cannot name lists. @- is standard input, which cannot be an
// input then; with opts.Remote @URL is an object. A refused list is an error of the command line.
func Lists(ctx context.Context, args []string, opts Options) ([]string, error) {
	rules, err := rewriteRules(opts.Rewrite, opts.lookupEnv)
	if err != nil {
		return nil, err
	}
	l := lists{rules: rules, opts: opts}
	var names []string
	for a, err := range l.arguments(ctx, args) {
		if err == nil && a.text == "-" {
			err = l.useStdin()
		}
		if err != nil {
			return nil, at(a.line, err)
		}
		names = append(names, a.text)
	}
	return names, nil
}

// An argument is an argument of the command line, or a line of a list.
type argument struct {
	text string
	line string // file and line of the list, list.txt:3; "": the command line
}

// lists reads lists. At most one of them is standard input.
type lists struct {
	rules []*text.Rule
	opts  Options
	stdin bool // standard input is in use
}

func (l *lists) useStdin() error {
	if l.stdin {
		return place.Refuse("-", errRepeated, "standard input can be read once", "")
	}
	l.stdin = true
	return nil
}

// arguments yields the arguments, with each @FILE replaced by its lines. An error is the last pair.
func (l *lists) arguments(ctx context.Context, args []string) iter.Seq2[argument, error] {
	return func(yield func(argument, error) bool) {
		for _, arg := range args {
			name, isList := strings.CutPrefix(arg, "@")
			if isList {
				there, err := Exists(arg)
				if err != nil {
					yield(argument{}, err)
					return
				}
				isList = !there
			}
			if !isList {
				if !yield(argument{text: arg}, nil) {
					return
				}
				continue
			}
			r, done, err := l.open(ctx, name)
			if err != nil {
				yield(argument{}, err)
				return
			}
			more := readList(ctx, Shown(name), r, yield)
			done()
			if !more {
				return
			}
		}
	}
}

// Exists reports whether a local file has this name. It returns an error if the file cannot be examined.
func Exists(name string) (bool, error) {
	_, err := os.Lstat(name)
	switch {
	case err == nil:
		return true, nil
	case namesNothing(err):
		return false, nil
	}
	return false, place.IOError(name, err)
}

var byteOrderMark = []byte("\ufeff")

// readList yields the lines of a list; it returns false if yield did. name is redacted.
func readList(ctx context.Context, name string, r io.Reader, yield func(argument, error) bool) bool {
	if name == "-" {
		name = "standard input"
	}
	in := bufio.NewReaderSize(io.LimitReader(r, maxList+1), maxPattern+len("\r\n"))
	fail := func(hint, format string, args ...any) bool {
		yield(argument{}, place.Refuse(name, errList, hint, format, args...))
		return false
	}
	size, named := 0, false
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		size += len(line)
		if cause := context.Cause(ctx); cause != nil {
			yield(argument{}, cause)
			return false
		}
		if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
			yield(argument{}, place.IOError(name, err))
			return false
		}
		if entry, ended := bytes.CutSuffix(line, []byte("\n")); ended {
			line = bytes.TrimSuffix(entry, []byte("\r"))
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		entry := string(line)
		switch {
		case size > maxList:
			return fail("give several", "more than %d bytes", maxList)
		case err == bufio.ErrBufferFull, len(entry) > maxPattern:
			return fail("a list has a name or a pattern a line", "line %d: more than %d bytes", number, maxPattern)
		case strings.IndexByte(entry, 0) >= 0:
			return fail("a list is text, a name or a pattern a line", "line %d: a zero byte", number)
		case strings.HasPrefix(entry, "@"):
			there, err := Exists(entry)
			if err != nil {
				return yield(argument{}, err)
			}
			if !there {
				return fail("./@… is a file of that name", "line %d: a list names no lists", number)
			}
			fallthrough
		case strings.TrimSpace(entry) != "" && entry[0] != '#':
			named = true
			if !yield(argument{entry, fmt.Sprintf("%s:%d", text.Name(name), number)}, nil) {
				return false
			}
		}
		if err == io.EOF {
			break
		}
	}
	if !named {
		return fail("a list has a name or a pattern a line", "no names")
	}
	return true
}
