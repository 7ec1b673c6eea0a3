package filter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

func TestRefused(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	huge := strings.Repeat("\x81", 200)
	for _, tt := range []struct {
		how  string
		want error
		says string
	}{
		{"exit:0", converters.ErrTruncated, "has ended, with status 0, after 2 of 10 answers"},
		{"exit:3", input.ErrCommand, "exit status 3, after 2 of 10 answers"},
		{"killed", input.ErrCommand, "signal: killed, after 2 of 10 answers"},
		{"one more", converters.ErrMalformed, "more answers than it was given"},
		{"one less", converters.ErrTruncated, "after 9 of 10 answers"},
		{"status:7", input.ErrCommand, "exit status 7"},
		{"closes its input", errShut, "after 1 of 10"},
		{"closes its output", input.ErrCommand, "closed its output, and goes on without it, after 0 of 10"},
		{"silent", errHung, "neither reads nor writes for 2s, after 0 of 10 answers (option filter-timeout"},
		{"answers unread", errUnread, "samples that it did not read"},
		{"goes on after the end", errHung, "neither reads nor writes"},
		{"raw:\x01", converters.ErrMalformed, "an answer is an integer"},
		{"raw:\x40", converters.ErrMalformed, "an answer is a byte string"},
		{"raw:\xc1\x80", converters.ErrMalformed, "an answer is a tag"},
		{"raw:\x81\x01", converters.ErrMalformed, "an integer among its samples"},
		{"raw:\x81\x80", converters.ErrMalformed, "an array among its samples"},
		{"raw:\xff", converters.ErrMalformed, "simple value"},
		{"raw:\x1c", converters.ErrMalformed, "0x1c"},
		{"raw:\xa1\x61a\xff", converters.ErrMalformed, "a break"},
		{"raw:\xa1\x61a\x5f\x61b\xff", converters.ErrMalformed, "a text among its chunks"},
		{"raw:\xa1\x61a" + huge, converters.ErrLimit, "nested"},
		{"raw:\xa1\x61a\x5b\x10\x00\x00\x00\x00\x00\x00\x00", converters.ErrLimit, "more than"},
		{"raw:\xbb\xff\xff\xff\xff\xff\xff\xff\xff\x61a\x01", converters.ErrMalformed, "name of a field"},
		{"raw:\xa2\x61a\x01\x61a\x02", converters.ErrDuplicate, "(filtered)"},
		{"raw:\xa1\x01\x02", converters.ErrMalformed, "name of a field"},
		{"raw:\xa1\x61\xff\x02", converters.ErrMalformed, "(filtered)"},
		{"raw at the third:\xa1\x61", converters.ErrTruncated, "inside an answer"},
		{"raw at the third:\xa1", converters.ErrTruncated, "inside an answer"},
		{"raw at the third:\x81\xa1\x61a\x44\x01", converters.ErrTruncated, "inside an answer"},
	} {
		t.Run(fmt.Sprintf("%.30q", tt.how), func(t *testing.T) {
			t.Parallel()
			how := tt.how
			if name, raw, ok := strings.Cut(how, ":"); ok && strings.HasPrefix(how, "raw") {
				how = fmt.Sprintf("%s:%x", name, raw)
			}
			inner := memsource.New(5, 1, 10, 50_000)
			if how == "answers unread" { // its last sample ends behind what a pipe holds beyond beforeUnread
				inner.Data[0][9].Fields[0].Value = converters.Bytes(make([]byte, beforeUnread+1<<20))
			}
			src := open(t, inner, how, 1)
			if tt.want == errHung {
				src.opts.Timeout = 2 * time.Second
			}
			_, err := index(t.Context(), src, 0)
			if strings.Contains(tt.says, "answers") && !strings.Contains(tt.says, "more") && !strings.Contains(fmt.Sprint(err), `part-0: "`) {
				t.Errorf("%v names no sample", err)
			}
			if err == nil {
				err = src.Finish(t.Context())
			}
			var e *converters.Error
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || !errors.As(err, &e) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("got %v, want %v saying %q", err, tt.want, tt.says)
			}
			src.close(t)
		})
	}
}

// A program that hangs ends when the conversion is interrupted.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are waited for")
	for _, how := range []string{"silent", "closes its input", "closes its output"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			src := open(t, memsource.New(5, 1, 1000, 3000), how, 1)
			why := errors.New("interrupted")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
			start := time.Now()
			if _, err := index(ctx, src, 0); !errors.Is(err, why) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(start); d > 4*time.Second {
				t.Errorf("it took %v", d)
			}
			src.close(t)
		})
	}
}

// One process of a program that fails is the only one, however many parts wait for it.
func TestFailsOnce(t *testing.T) {
	t.Parallel()
	rounds := 40
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		src := open(t, memsource.New(7, 8, 3, 100), "exit:3", 1)
		errs := make(chan error)
		for p := range 8 {
			go func() {
				_, err := index(t.Context(), src, p)
				errs <- err
			}()
		}
		first := <-errs
		if !errors.Is(first, input.ErrCommand) && !errors.Is(first, converters.ErrTruncated) {
			t.Fatalf("got %v", first)
		}
		for range 7 {
			if err := <-errs; !errors.Is(err, first) {
				t.Errorf("two processes have failed: %v; %v", first, err)
			}
		}
		src.close(t)
	}
}
