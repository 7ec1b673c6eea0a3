package progress

import (
	"fmt"
	"time"
)

// paceWindow is the time over which a pace is averaged, the whole phase where that is shorter.
const paceWindow = 30 * time.Second

// A pace is how fast a phase goes: the mean of the last paceWindow. It says nothing before a phase
// has lasted for a second, when a buffer that fills would look like a device.
type pace struct {
	at   [32]state // the states that have been, a paceWindow/30 apart, oldest overwritten
	n    int       // states that were put in at
	last state
}

func (p *pace) add(s state) {
	if p.last = s; p.n == 0 || s.Seconds-p.at[(p.n-1)%len(p.at)].Seconds >= paceWindow.Seconds()/30 {
		p.at[p.n%len(p.at)] = s
		p.n++
	}
}

// first is the state from which the mean is taken: the beginning, or one a paceWindow ago.
func (p *pace) first() state {
	if p.n <= len(p.at) {
		return state{}
	}
	return p.at[p.n%len(p.at)]
}

// bytes is the mean number of bytes a second, of data with which all is done; negative where it is
// too early to tell.
func (p *pace) bytes() float64 {
	first := p.first()
	if p.last.Seconds < 1 {
		return -1
	}
	done := float64(p.last.Bytes - first.Bytes)
	if p.last.Total > 0 {
		done = (p.last.Done - first.Done) * float64(p.last.Total)
	}
	return done / (p.last.Seconds - first.Seconds)
}

// left is the time that the phase will take yet; "?" where that cannot be told.
func (p *pace) left(s state) string {
	first := p.first()
	done := s.Done - first.Done
	if s.Seconds < 1 || done <= 0 {
		return "?"
	}
	return clock((1 - s.Done) / done * (s.Seconds - first.Seconds))
}

// percent is how much of the work is done; 100 only at its end.
func percent(s state) int { return int(100 * s.Done) }

// clock is a time as a watch shows it: 0:07, 12:30, 1:02:03; in days where it is two or more.
func clock(seconds float64) string {
	n := int64(seconds)
	switch {
	case n >= 2*86400:
		return fmt.Sprintf("%d days", n/86400)
	case n >= 3600:
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}
