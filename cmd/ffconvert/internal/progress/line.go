package progress

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
)

// A lineView draws one line on a terminal again and again, for people. A frame is one write. The
// cursor rests at the beginning of the line: where a window gets narrower, terminals break the line
// anew below the cursor, and the next frame clears all that is there.
type lineView struct {
	out   io.Writer
	width func() int // columns of the terminal now
	pace  pace
	turn  int  // of the spinner
	drawn bool // the line is on the terminal
}

const (
	framePause = 200 * time.Millisecond
	clearBelow = "\x1b[J" // from the cursor to the end of the screen

	// clearLine empties the line before what is below: tmux keeps a screen that is cleared whole
	// for its history.
	clearLine = "\r\x1b[K" + clearBelow

	barWidth     = 12 // columns between the brackets
	defaultWidth = 80 // where the terminal does not say
)

func newLineView(out io.Writer) *lineView {
	return &lineView{out: out, width: func() int {
		if f, ok := out.(*os.File); ok {
			if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
				return width
			}
		}
		return defaultWidth
	}}
}

func (v *lineView) next(time.Duration) time.Duration { return framePause }

func (v *lineView) show(s state) {
	v.pace.add(s)
	v.turn++
	io.WriteString(v.out, "\r"+v.line(s, v.width()-1)+clearBelow+"\r")
	v.drawn = true
}

// print shows a line above the one that is drawn, which comes back with the next frame.
func (v *lineView) print(line string) {
	if v.drawn {
		line = clearLine + line
	}
	io.WriteString(v.out, line+"\n")
	v.drawn = false
}

func (v *lineView) end(state) {
	if v.drawn {
		io.WriteString(v.out, clearLine)
		v.drawn = false
	}
}

// A field is a part of the line.
type field struct {
	text string
	rank int // the greater, the sooner left out where the terminal is too narrow
	room int // columns that it may come to take: fields do not come and go
}

// line is the state in at most width columns. Numbers are padded to what they will be at the end,
// so that nothing moves.
func (v *lineView) line(s state, width int) string {
	phase, _, _ := strings.Cut(strings.TrimPrefix(s.Phase, "fetch + "), " + ")
	fields := []field{{text: phase + " " + v.bar(s)}}
	add := func(rank, room int, text string) {
		fields = append(fields, field{text, rank, max(room, len(text))})
	}
	if s.Of > 0 {
		add(2, 0, fmt.Sprintf("%*d/%d shards", len(strconv.FormatInt(s.Of, 10)), s.Shards, s.Of))
	}
	if s.Samples > 0 {
		add(6, len("1,234,567 samples"), terminal.Counted(s.Samples, "sample"))
	}
	add(3, 0, bytesDone(s))
	add(5, len("1023 MB/s"), fmt.Sprintf("%-9s", terminal.RateText(v.pace.bytes())))
	add(4, len("elapsed 12:34"), "elapsed "+clock(s.Seconds))
	if s.Total > 0 {
		add(1, len("left 12:34"), "left "+v.pace.left(s))
	}
	room := 0
	for _, f := range fields {
		room += max(f.room, len(f.text)) + 2
	}
	for rank := 6; rank > 0 && room-2 > width; rank-- {
		for i, f := range fields {
			if f.rank == rank {
				room -= f.room + 2
				fields = append(fields[:i], fields[i+1:]...)
				break
			}
		}
	}
	var texts []string
	for _, f := range fields {
		texts = append(texts, f.text)
	}
	line := strings.Join(texts, "  ")
	return line[:max(0, min(len(line), width))] // all of it is ASCII
}

// bar is a bar of fixed width with the percentage; a spinner where the total is not known.
func (v *lineView) bar(s state) string {
	if s.Total <= 0 {
		return string(`|/-\`[v.turn%4])
	}
	full := int(barWidth * s.Done)
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), percent(s))
}

// bytesDone is the data that is done, in the unit of the total: 1.2/2.7 GiB.
func bytesDone(s state) string {
	if s.Total <= 0 {
		return humanize.Bytes(uint64(s.Bytes))
	}
	unit, name := int64(1), "B"
	for _, next := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if s.Total < 1000*unit {
			break
		}
		unit, name = 1000*unit, next
	}
	digits := 1
	if unit == 1 || s.Total >= 100*unit {
		digits = 0
	}
	total := strconv.FormatFloat(float64(s.Total)/float64(unit), 'f', digits, 64)
	return fmt.Sprintf("%*.*f/%s %s", len(total), digits, float64(s.Bytes)/float64(unit), total, name)
}
