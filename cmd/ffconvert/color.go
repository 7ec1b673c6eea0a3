package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/ffconvert/ffconvert/findings"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// A paint says whether text is coloured.
type paint bool

// paintOf returns how text to w is coloured: auto does so on a terminal that has colours, where
// NO_COLOR is not set (https://no-color.org).
func paintOf(mode string, w io.Writer) paint {
	switch mode {
	case colorAlways:
		return true
	case colorNever:
		return false
	}
	return paint(onTerminal(w) && os.Getenv("NO_COLOR") == "")
}

// onTerminal reports whether w is a terminal that understands escape sequences.
func onTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

func (p paint) ok(s string) string   { return p.with("1;32", s) }
func (p paint) warn(s string) string { return p.with("1;33", s) }
func (p paint) bad(s string) string  { return p.with("1;31", s) }

// head dresses a line up to its first colon.
func (p paint) head(line string, dress func(string) string) string {
	head, rest, ok := strings.Cut(line, ": ")
	if !ok {
		return line
	}
	return dress(head+":") + " " + rest
}

func (p paint) with(codes, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + codes + "m" + s + "\x1b[0m"
}

// levels dresses the level at the beginning of each line of findings.
func (p paint) levels(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch level, _, _ := strings.Cut(line, ": "); findings.Level(level) {
		case findings.Error:
			line = p.head(line, p.bad)
		case findings.Warning:
			line = p.head(line, p.warn)
		}
		b.WriteString(line)
	}
	return b.String()
}
