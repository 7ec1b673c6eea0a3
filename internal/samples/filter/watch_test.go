package filter

import (
	"testing"
	"testing/synctest"
	"time"
)

// A watch calls its function after the limit, which begins anew when the process moves, and only while it is waited for.
func TestWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		w := newWatch(10*time.Second, func() { calls++ })
		after := func(d time.Duration, want int) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if calls != want || w.hung() != (want > 0) {
				t.Errorf("%d calls, want %d", calls, want)
			}
		}
		after(time.Minute, 0) // idle
		done := w.wait()
		after(9*time.Second, 0)
		w.moved()
		after(9*time.Second, 0)
		done() // the source is read
		after(time.Minute, 0)
		w.moved()
		after(time.Minute, 0)
		w.wait()
		after(9*time.Second, 0)
		after(2*time.Second, 1)
		after(time.Minute, 1)
	})
	if w := newWatch(0, nil); w.hung() {
		t.Error("no watch has hung")
	}
}
