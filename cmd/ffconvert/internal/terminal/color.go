package terminal

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ffconvert/ffconvert/internal/findings"
)

// A Paint colours text, or leaves it as it is.
type Paint bool

// PaintOf returns whether text written to w is coloured, for a mode of --color: always, never, or auto, which colours text for a
// terminal if NO_COLOR is not set (https://no-color.org).
func PaintOf(mode string, w io.Writer) Paint {
	switch mode {
	case "always":
		return true
	case "never":
		return false
	}
	return Paint(onTerminal(w) && os.Getenv("NO_COLOR") == "")
}

// onTerminal reports whether w is a terminal that understands escape sequences.
func onTerminal(w io.Writer) bool { return IsTerminal(w) && os.Getenv("TERM") != "dumb" }

// IsTerminal reports whether w is a terminal of any kind.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns the width of text on w: that of the terminal, from 60 to 120, else 80.
func Columns(w io.Writer) int {
	if n := widthOf(w); n > 0 {
		return min(max(n, 60), 120)
	}
	return 80
}

// widthOf returns the columns of the terminal w; 0 if w is no terminal, or does not give them.
func widthOf(w io.Writer) int {
	n := 0
	if f, ok := w.(*os.File); ok {
		n, _, _ = term.GetSize(int(f.Fd())) // 0 with an error
	}
	return n
}

// Good, Warn and Bad colour text green, yellow and red.
func (p Paint) Good(s string) string { return p.with("1;32", s) }
func (p Paint) warn(s string) string { return p.with("1;33", s) }
func (p Paint) Bad(s string) string  { return p.with("1;31", s) }

// Head colours a line up to its first colon, by dress.
func (p Paint) Head(line string, dress func(string) string) string {
	head, rest, ok := strings.Cut(line, ": ")
	if !ok {
		return line
	}
	return dress(head+":") + " " + rest
}

func (p Paint) with(codes, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + codes + "m" + s + "\x1b[0m"
}

// Levels colours the level at the beginning of each line of findings.
func (p Paint) Levels(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch level, _, _ := strings.Cut(line, ": "); findings.Level(level) {
		case findings.Error:
			line = p.Head(line, p.Bad)
		case findings.Warning:
			line = p.Head(line, p.warn)
		}
		b.WriteString(line)
	}
	return b.String()
}
