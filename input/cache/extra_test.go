package cache

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// What is wanted beyond the size is waited for while somebody lets go of some, and done without
// where nobody will.
func TestExtra(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := openAs(t, dir, 100, 1)
	h, _ := put(t, c, "x", make([]byte, 40))
	extra := want("y", 10)
	extra.Extra = 60
	released := false
	time.AfterFunc(20*time.Millisecond, func() {
		c.mu.Lock()
		released = true
		c.mu.Unlock()
		h.Release()
	})
	got, err := c.Reserve(t.Context(), []Want{extra})
	must(t, err)
	c.mu.Lock()
	if !released {
		t.Error("there was no room before")
	}
	c.mu.Unlock()
	if d := got.Draft(0); d.reserved != 70 {
		t.Errorf("%d bytes reserved", d.reserved)
	}
	must(t, got.Release())

	h, copied := put(t, c, "x", make([]byte, 40))
	kept := h.Keep(copied)
	must(t, h.Release())
	got, err = c.Reserve(t.Context(), []Want{extra})
	must(t, err)
	raw := got.Draft(0)
	if raw.reserved != 60 {
		t.Errorf("%d bytes reserved, nobody will let go of more", raw.reserved)
	}
	_, err = raw.Write(make([]byte, 10))
	must(t, err)
	d := raw.Beside(keyOf("z"))
	for range 5 {
		_, err := d.Write(make([]byte, 10))
		must(t, err)
	}
	if _, err := d.Write(make([]byte, 1)); !errors.Is(err, ErrQuota) || errors.Is(err, ErrCrowded) {
		t.Error(err)
	}
	if raw.reserved != 10 || d.reserved != 50 {
		t.Errorf("%d and %d bytes reserved", raw.reserved, d.reserved)
	}
	must(t, d.Discard(nil))
	must(t, raw.Discard(nil))
	must(t, got.Release())
	must(t, kept.Release())
	must(t, c.Close())
}

// Who cannot grow is told whether that is for the others.
func TestCrowded(t *testing.T) {
	t.Parallel()
	c := openAs(t, t.TempDir(), 100, 1)
	first, err := c.Reserve(t.Context(), []Want{want("a", 40)})
	must(t, err)
	second, err := c.Reserve(t.Context(), []Want{want("b", 40)})
	must(t, err)
	failed := make(chan error)
	go func() {
		_, err := first.Draft(0).Write(make([]byte, 80))
		failed <- err
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		waits = first.growing == 1
		c.mu.Unlock()
	}
	if _, err := second.Draft(0).Write(make([]byte, 80)); !errors.Is(err, ErrQuota) || !errors.Is(err, ErrCrowded) {
		t.Error(err)
	}
	must(t, second.Release())
	if err := <-failed; err != nil {
		t.Error("there is room now:", err)
	}
	must(t, first.Release())
	must(t, c.Close())
}

// A draft to which nothing is done until another one ends gives that one no hope: it would
// wait for itself.
func TestRest(t *testing.T) {
	t.Parallel()
	c := openAs(t, t.TempDir(), 100, 1)
	h, err := c.Reserve(t.Context(), []Want{want("a", 40), want("b", 40)})
	must(t, err)
	h.Draft(1).Rest()
	if _, err := h.Draft(0).Write(make([]byte, 80)); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	h.Draft(1).Work()
	failed := make(chan error)
	go func() {
		_, err := h.Draft(0).Write(make([]byte, 80))
		failed <- err
	}()
	for waits := false; !waits; time.Sleep(time.Millisecond) {
		c.mu.Lock()
		waits = h.growing == 1
		c.mu.Unlock()
	}
	must(t, h.Draft(1).Discard(nil))
	if err := <-failed; err != nil {
		t.Error("there is room now:", err)
	}
	must(t, h.Release())
	must(t, c.Close())
}

// Drafts that nobody writes before another has ended let go of nothing: who waits for room does
// not wait for them.
func TestRestingDrafts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ drafts, begun int }{{2, 1}, {5, 1}, {3, 2}, {2, 2}, {3, 3}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			t.Parallel()
			c, err := Open(t.TempDir(), 100, Options{Poll: time.Millisecond})
			must(t, err)
			var wants []Want
			for i := range tt.drafts {
				wants = append(wants, want(fmt.Sprint(i), -1))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			h, err := c.Reserve(ctx, wants)
			must(t, err)
			for i := tt.begun; i < tt.drafts; i++ {
				h.Draft(i).Rest()
			}
			failed := make(chan error)
			for i := range tt.begun {
				go func() {
					_, err := h.Draft(i).Write(make([]byte, 101))
					failed <- err
					if err != nil {
						cancel()
					}
				}()
			}
			if err := <-failed; !errors.Is(err, ErrQuota) {
				t.Error(err)
			}
			for range tt.begun - 1 {
				<-failed
			}
			must(t, h.Release())
			must(t, c.Close())
		})
	}
}
