package convertertest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
)

func testCancelled(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for p, spans := range d.spans {
		if len(spans) == 0 {
			continue
		}
		if got, err := index(ctx, f.Source, p); len(got) > 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("Index: %d spans, error %v", len(got), err)
		}
		if got, err := read(ctx, f.Source, whole(p, spans)); len(got) > 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("Read: %d samples, error %v", len(got), err)
		}
		if len(spans) < 3 {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		var last error
		for _, err := range f.Source.Read(ctx, whole(p, spans)) {
			if last = err; err == nil {
				n++
			}
			cancel()
		}
		cancel()
		if n == len(spans) || !errors.Is(last, context.Canceled) {
			t.Errorf("Read, cancelled at its first sample: %d samples of %d, error %v", n, len(spans), last)
		}
	}
}

func testGrown(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	w, err := os.OpenFile(f.Files[0], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Write(make([]byte, 512))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	wantChanged(t, f, d)
}

func testTouched(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	st, err := os.Stat(f.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.Files[0], time.Time{}, st.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	wantChanged(t, f, d)
}

func testGone(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	if err := os.Remove(f.Files[0]); err != nil {
		t.Fatal(err)
	}
	_, err := read(t.Context(), f.Source, whole(0, d.spans[0]))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Read: error %v", err)
	}
	wantPlaced(t, err)
}

// wantChanged checks that Read of the first part returns ErrChanged.
func wantChanged(t *testing.T, f Fixture, d dataset) {
	t.Helper()
	_, err := read(t.Context(), f.Source, whole(0, d.spans[0]))
	if !errors.Is(err, converters.ErrChanged) {
		t.Errorf("Read: error %v, want %v", err, converters.ErrChanged)
	}
	wantPlaced(t, err)
}

func testTruncated(t *testing.T, f Fixture) {
	data, err := os.ReadFile(f.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range f.Cuts {
		if err := os.WriteFile(f.Files[0], data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		src := f.Reopen(t)
		_, err := index(t.Context(), src, 0)
		if err == nil {
			t.Errorf("cut to %d bytes of %d: accepted", n, len(data))
			continue
		}
		wantPlaced(t, err)
	}
}

// wantPlaced checks that an error is a converters.Error with a part.
func wantPlaced(t *testing.T, err error) {
	t.Helper()
	var placed *converters.Error
	if err != nil && (!errors.As(err, &placed) || placed.Where == "") {
		t.Errorf("error without a place: %v", err)
	}
}
