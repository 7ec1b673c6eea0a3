package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The password of a key is asked for on the terminal, which does not show it, and shows what is typed again afterwards:
// also where the question is interrupted.
func TestPasswordIsAsked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	key := filepath.Join("..", "..", "testdata", "minisign", "locked.key")
	if out, err := exec.Command(need.Program(t), "tar", filepath.Join("..", "..", "testdata", "shards-000.tar"), in("out")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, interrupt := range []bool{true, false} {
		p := newPTY(t, 80)
		cmd := exec.Command(need.Program(t), "sign", "--key", key, in("out"))
		var stderr bytes.Buffer
		cmd.Stdin, cmd.Stderr = p.terminal, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); echoes(t, p); time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatal("the terminal shows what is typed")
			}
		}
		var err error
		if interrupt {
			err = cmd.Process.Signal(syscall.SIGINT)
		} else {
			_, err = p.master.WriteString("secret\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		want := 0
		if interrupt {
			want = 130
		}
		if got := cmd.ProcessState.ExitCode(); got != want || !strings.HasPrefix(stderr.String(), "Password of "+key+": \n") {
			t.Errorf("exit status %d, want %d\n%s", got, want, stderr.String())
		}
		if !echoes(t, p) {
			t.Error("the terminal does not show what is typed")
		}
		if text := p.text(t); strings.Contains(text, "secret") {
			t.Errorf("the terminal shows %q", text)
		}
	}
	if _, err := os.Stat(in("out/manifest.json.minisig")); err != nil {
		t.Error(err)
	}
}

// echoes reports whether a terminal shows what is typed.
func echoes(t *testing.T, p *pty) bool {
	t.Helper()
	state, err := unix.IoctlGetTermios(int(p.terminal.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return state.Lflag&unix.ECHO != 0
}
