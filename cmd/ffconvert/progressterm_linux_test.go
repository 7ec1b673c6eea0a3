package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A pty is a terminal of a test.
type pty struct {
	master, terminal *os.File
	closed           chan struct{} // once all that was sent to it has come

	mu   sync.Mutex
	sent []byte
}

func newPTY(t *testing.T, columns int) *pty {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	p := &pty{master: master, closed: make(chan struct{})}
	if p.terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	p.resize(t, columns)
	go func() {
		io.Copy(p, master) // EIO, once nobody has the terminal open
		close(p.closed)
	}()
	t.Cleanup(func() { p.terminal.Close(); master.Close() })
	return p
}

// Write takes what is sent to the terminal.
func (p *pty) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, b...)
	return len(b), nil
}

// soFar returns what was sent to the terminal.
func (p *pty) soFar() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.sent)
}

func (p *pty) resize(t *testing.T, columns int) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(p.terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
}

// text closes the terminal and returns what was sent to it.
func (p *pty) text(t *testing.T) string {
	t.Helper()
	p.terminal.Close()
	select {
	case <-p.closed:
		return p.soFar()
	case <-time.After(time.Minute):
		t.Fatal("the terminal is still open")
		return ""
	}
}

// frames are the lines that a terminal has shown one over another.
func frames(text string) []string {
	var lines []string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\r") {
		if line = sequences.ReplaceAllString(line, ""); strings.TrimSpace(line) != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// drawn waits until three lines more have been shown: the first may have been begun before, or be one that stays.
func (p *pty) drawn(t *testing.T) {
	t.Helper()
	was := len(frames(p.soFar()))
	for began := time.Now(); len(frames(p.soFar())) < was+3; time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("nothing is drawn after %q", p.soFar())
		}
	}
}

// cleared is what empties the line.
const cleared = "\r\x1b[K\x1b[J"

var sequences = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")

// A conversion on a terminal keeps within its columns, and follows when these become fewer. Nothing of
// the line is left at the end.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	need.Time(t, "a terminal for seconds")
	for _, columns := range []int{60, 80, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			p := newPTY(t, columns)
			how := terminal.Progress{Choice: option.Choice{Value: "bar"}, Color: "never"}
			r := terminal.NewReporter(how, p.terminal)
			r.Start("index", 0)
			r.Add(12_345, 0)
			p.drawn(t)
			r.Start("write + verify", 1<<30)
			r.Planned(16, 6, 1<<30)
			r.Add(100, 300<<20)
			r.Moved(200 << 20)
			p.drawn(t)
			p.resize(t, columns/2)
			p.drawn(t)
			m := &dataset.Manifest{}
			m.Totals.SamplesWritten, m.Totals.Shards = 100, 22
			r.Say(terminal.ConversionDone("out", &write.Report{Kept: 22, Manifest: m}))
			text := p.text(t)
			if strings.Count(text, "6 of 22 shards kept, 16 to write\r\n") != 1 {
				t.Errorf("%q does not say what is kept", text)
			}
			before, after, ended := strings.Cut(text, "6 of 22 shards kept")
			if !ended || strings.Contains(after, "index") || !strings.HasSuffix(before, cleared) {
				t.Errorf("the spinner of the index has not ended before the bar: %q", text)
			}
			lines := frames(text)
			if len(lines) < 6 {
				t.Errorf("%d frames", len(lines))
			}
			for i, line := range lines {
				most := columns
				if i == len(lines)-2 {
					most = columns / 2 // the last one before the closing line
				}
				for each := range strings.SplitSeq(line, "\n") {
					if n := utf8.RuneCountInString(each); n >= most && !strings.HasPrefix(each, "out: ") {
						t.Errorf("%d columns of %d: %q", n, most, each)
					}
				}
			}
			bar, closing, ok := strings.Cut(text[strings.LastIndex(text, "write [")+1:], cleared)
			if !ok || !strings.Contains(bar, " 24%") || !strings.HasPrefix(closing, "out: 100 samples") {
				t.Errorf("%q, then %q", bar, closing)
			}
		})
	}
}

// onTerminalRun runs the program with standard error on a terminal.
func onTerminalRun(t *testing.T, env []string, args ...string) string {
	t.Helper()
	p := newPTY(t, 80)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Args[0] = "ffconvert" // testscript.Main runs the command of that name
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	cmd.Stderr, cmd.Stdout = p.terminal, p.terminal
	cmd.Dir = t.TempDir()
	cmd.Run() // its status is not what is tested
	return p.text(t)
}

// Colours are for terminals that have them, as --color and NO_COLOR say.
func TestColor(t *testing.T) {
	t.Parallel()
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata", "shards-000.tar"))
	if err != nil {
		t.Fatal(err)
	}
	const ok, bad = "\x1b[1;32mout:\x1b[0m 12 samples", "\x1b[1;31mffconvert:\x1b[0m "
	for _, row := range []struct {
		name string
		env  []string
		flag string
		want bool
	}{
		{"terminal", nil, "--color=auto", true},
		{"NO_COLOR", []string{"NO_COLOR=1"}, "--color=auto", false},
		{"NO_COLOR, but asked for", []string{"NO_COLOR=1"}, "--color=always", true},
		{"dumb", []string{"TERM=dumb"}, "--color=auto", false},
		{"never", nil, "--color=never", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if text := onTerminalRun(t, row.env, "tar", row.flag, data, "out"); strings.Contains(text, ok) != row.want || !row.want && strings.Contains(text, "\x1b[1") {
				t.Errorf("%q", text)
			}
			if text := onTerminalRun(t, row.env, "tar", row.flag, "gone.tar", "out"); strings.Contains(text, bad) != row.want || !row.want && strings.Contains(text, "\x1b[") {
				t.Errorf("%q", text)
			}
		})
	}
	dir := t.TempDir()
	if out := ffconvert(t, dir, "tar", data, "out"); strings.Contains(out.stderr, "\x1b") {
		t.Errorf("no terminal: %q", out.stderr)
	}
	if out := ffconvert(t, dir, "tar", "--color=always", "--no-verify", data, "unread"); !strings.Contains(out.stderr, "\x1b[1;33munread:\x1b[0m 12 samples") {
		t.Errorf("shards that were never re-read: %q", out.stderr)
	}
	if out := ffconvert(t, dir, "verify", "--color=always", "out"); !strings.Contains(out.stdout, "\x1b[1;32msound:\x1b[0m 1 shard") {
		t.Errorf("%q", out.stdout)
	}
	if out := ffconvert(t, dir, "check", "tar", "--color=always", "out"); !strings.Contains(out.stdout+out.stderr, "\x1b[1;31m") {
		t.Errorf("%q", out)
	}
}

// A terminal that understands no escape sequences gets lines.
func TestDumbTerminal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	p := newPTY(t, 80)
	if mode, paint := (&terminal.Progress{Choice: option.Choice{Value: "auto"}}).Mode(p.terminal), terminal.PaintOf("auto", p.terminal); mode != "plain" || bool(paint) {
		t.Errorf("%s, %v", mode, paint)
	}
	p.text(t)
}
