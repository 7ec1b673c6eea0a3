//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A conversion of chosen samples that is killed in the middle of a shard goes on, and makes what it would have made; so does
// a split that is killed in its first side.
func TestChoiceKilled(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ args, outs []string }{
		"expression": {[]string{"--where", "key~[ac]$"}, []string{"."}},
		"slice":      {[]string{"--slice", "1:9:2"}, []string{"."}},
		"order":      {[]string{"--sort", "key", "--where", "key~[bc]$"}, []string{"."}},
		"split":      {[]string{"--split", "p=0.5,q=0.5", "--seed", "4"}, []string{"p", "q"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--progress", "json"}, row.args...)
			h := startHeld(t, args...)
			h.let(0)
			h.at(1)
			h.until("finished shard", func() bool { return strings.Contains(h.said(), `"event":"shard"`) })
			if err := h.cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			h.status()
			if h.has(filepath.Join("out", row.outs[0], "manifest.json")) {
				t.Error("it is complete")
			}
			h.let(1, 2)
			h.start(args...)
			if status := h.status(); status != 0 {
				t.Fatalf("then status %d:\n%s", status, h.said())
			}
			if !strings.Contains(h.said(), `"shards_kept":1`) {
				t.Errorf("nothing is kept:\n%s", h.said())
			}
			args = append(append([]string{"tar", "--shards", "3"}, row.args...), "0.tar", "1.tar", "2.tar", "reference")
			if out := ffconvert(t, h.dir, args...); out.status != 0 {
				t.Fatal(out)
			}
			for _, out := range row.outs {
				for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr", "index/PART_00001.arrow", "meta.json"} {
					got, err := os.ReadFile(filepath.Join(h.dir, "out", out, name))
					want, err2 := os.ReadFile(filepath.Join(h.dir, "reference", out, name))
					if err != nil || err2 != nil || !bytes.Equal(got, want) {
						t.Errorf("%s/%s differs: %v, %v", out, name, err, err2)
					}
				}
			}
		})
	}
}
