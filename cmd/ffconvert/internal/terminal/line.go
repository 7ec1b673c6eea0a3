package terminal

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// A lineView redraws one line on a terminal, each frame by one write. The cursor rests at the
// beginning of the line: if a window gets narrower, the terminal wraps the line below the cursor, and
// the next frame clears that.
type lineView struct {
	out   io.Writer
	width func() int // columns of the terminal now
	pace  pace
	turn  int  // frame of the spinner
	drawn bool // whether the line is on the terminal
}

const (
	framePause = 200 * time.Millisecond
	clearBelow = "\x1b[J" // from the cursor to the end of the screen

	// clearLine clears the line, then all below. One clearing of both would make tmux save the
	// screen in its history.
	clearLine = "\r\x1b[K" + clearBelow

	barWidth     = 12 // columns between the brackets
	defaultWidth = 80 // columns, if the terminal does not give its width
)

func newLineView(out io.Writer) *lineView {
	return &lineView{out: out, width: func() int { return cmp.Or(widthOf(out), defaultWidth) }}
}

func (v *lineView) next(time.Duration) time.Duration { return framePause }

func (v *lineView) show(s state) {
	v.pace.add(s)
	v.turn++
	io.WriteString(v.out, "\r"+v.line(s, v.width()-1)+clearBelow+"\r")
	v.drawn = true
}

// print writes a line that stays, above the progress line, which returns with the next frame.
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

// A field is one item of the progress line.
type field struct {
	text string
	rank int // fields of high rank are dropped first if the terminal is too narrow
	room int // columns reserved, so that a longer text later does not drop the field
}

// line formats the state in at most width columns. Numbers are padded to their final width, so that
// nothing moves.
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
		add(6, len("1,234,567 samples"), Counted(s.Samples, "sample"))
	}
	if s.Filtered > 0 {
		add(7, len("1,234,567 filtered"), filteredText(s))
	}
	add(3, 0, bytesDone(s))
	add(5, len("1023 MB/s"), fmt.Sprintf("%-9s", RateText(v.pace.bytes())))
	add(4, len("elapsed 12:34"), "elapsed "+clock(s.Seconds))
	if s.Total > 0 {
		add(1, len("left 12:34"), "left "+v.pace.left(s))
	}
	room := 0
	for _, f := range fields {
		room += max(f.room, len(f.text)) + 2
	}
	for rank := 7; rank > 0 && room-2 > width; rank-- {
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

// bar returns a bar of fixed width with the percentage, or a spinner if the total is not known.
func (v *lineView) bar(s state) string {
	if s.Total <= 0 {
		return string(`|/-\`[v.turn%4])
	}
	full := int(barWidth * s.Done)
	return fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), percent(s))
}

// bytesDone returns the bytes done and the total, in the unit of the total: 1.2/2.7 GB.
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
