package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/record"
)

// A terminal gets text, and other bytes only by --force.
func TestGetTerminal(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "a.ffr")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.NewWriter(f, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, sample := range []string{"\x1b[2Jgone", "grüß"} {
		if _, err := w.Append([]byte(sample)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		sample string
		force  bool
		shown  string
	}{{"#0", false, ""}, {"#0", true, "\x1b[2Jgone"}, {"#1", false, "grüß"}} {
		p := newPTY(t, 80)
		g := look.Getter{Format: option.Choice{Value: "record"}, Force: row.force, Out: p.terminal}
		err := g.Run(t.Context(), name, row.sample)
		if shown := p.text(t); shown != row.shown || (err != nil) != (row.shown == "") {
			t.Errorf("%s: %q, %v", row.sample, shown, err)
		}
		if err != nil && (exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--force")) {
			t.Errorf("%s: status %d, %v", row.sample, exitCode(err), err)
		}
	}
}
