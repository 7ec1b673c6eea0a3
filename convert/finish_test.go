package convert

import (
	"testing"
	"time"
)

func TestWaitPause(t *testing.T) {
	t.Parallel()
	for waited, want := range map[time.Duration]time.Duration{
		0: 100 * time.Millisecond, time.Second: 100 * time.Millisecond, 20 * time.Second: 2 * time.Second, time.Hour: 15 * time.Second,
	} {
		if got := waitPause(waited); got != want {
			t.Errorf("after %v: %v, want %v", waited, got, want)
		}
	}
}
