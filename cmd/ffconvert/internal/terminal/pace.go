package terminal

import (
	"fmt"
	"time"
)

// paceWindow is the time over which a pace is averaged, or the whole phase if that is shorter.
const paceWindow = 30 * time.Second

// A pace measures the rate of a phase, averaged over the last paceWindow. It gives no rate in the
// first second, when data goes into empty buffers faster than a device writes.
type pace struct {
	at   [32]state // a ring of earlier states, paceWindow/30 apart
	n    int       // states ever put in at
	last state
}

func (p *pace) add(s state) {
	if p.last = s; p.n == 0 || s.Seconds-p.at[(p.n-1)%len(p.at)].Seconds >= paceWindow.Seconds()/30 {
		p.at[p.n%len(p.at)] = s
		p.n++
	}
}

// first returns the state a paceWindow ago, or at the beginning of the phase: the average starts there.
func (p *pace) first() state {
	if p.n <= len(p.at) {
		return state{}
	}
	return p.at[p.n%len(p.at)]
}

// bytes returns the mean of bytes a second, or a negative number in the first second. If the total is
// known, a byte counts by the share of the work, re-reading included, that is done.
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

// left returns the remaining time of the phase, or "?" in the first second.
func (p *pace) left(s state) string {
	first := p.first()
	done := s.Done - first.Done
	if s.Seconds < 1 || done <= 0 {
		return "?"
	}
	return clock((1 - s.Done) / done * (s.Seconds - first.Seconds))
}

// percent is the share of the work that is done, rounded down: 100 only at the end.
func percent(s state) int { return int(100 * s.Done) }

// clock formats a time as 0:07, 12:30 or 1:02:03, and two days or more as "2 days".
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
