package cache

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const childEnv = "FFCONVERT_CACHE_TEST"

// TestMain runs this program again as the other process of a test.
func TestMain(m *testing.M) {
	if what, dir, ok := strings.Cut(os.Getenv(childEnv), " "); ok {
		if err := child(what, dir); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child does what a test wants of another process, and tells when it has.
func child(what, dir string) error {
	c, err := Open(dir, 1000, Options{})
	if err != nil {
		return err
	}
	leases, err := c.Reserve(context.Background(), []Request{request("held", 300), request("half", 300), {Keys: []string{keyOf("once")}, Size: 50, Once: true}})
	if err != nil {
		return err
	}
	for i, size := range []int{300, 100, 50} {
		d := leases[i]
		if copied, err := d.Copy(context.Background()); copied != nil || err != nil {
			if err != nil {
				return err
			}
			continue
		}
		if _, err := d.Write(make([]byte, size)); err != nil {
			return err
		}
		if i == 1 {
			continue
		}
		if _, err := d.Commit(); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	if what == "release" {
		if err := releaseAll(leases, nil); err != nil {
			return err
		}
		return c.Close()
	}
	select {}
}

// start starts the other process, which is ready when start returns. end lets it go on.
func start(t *testing.T, what, dir string) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what+" "+dir)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, func() { in.Close() }
}

func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, dir, 1000)
	cmd, end := start(t, "release", dir)
	entries, err := c.Entries()
	must(t, err)
	for _, e := range entries {
		if !e.InUse || e.Unfinished != (e.Key == keyOf("half")) || time.Since(e.Used) > time.Minute {
			t.Errorf("%+v", e)
		}
	}
	if n, _, err := c.Clean(func(Entry) bool { return true }); len(entries) != 3 || n != 0 || err != nil {
		t.Errorf("%d entries, %d of them cleaned, %v", len(entries), n, err)
	}
	_, err = c.Reserve(t.Context(), []Request{request("mine", 650)})
	if !errors.Is(err, ErrQuota) || !strings.HasSuffix(err.Error(), "no more than 350 can be had; other processes use 650") {
		t.Errorf("%v: it waits for no other process", err)
	}
	end()
	must(t, cmd.Wait())
	mine := reserve(t, c, request("mine", 650))
	if got := kept(t, dir, "held", "half", "once", "mine"); got != "heldmine" {
		t.Errorf("left %s", got)
	}
	must(t, releaseAll(mine, nil))
	must(t, c.Close())
}

// Of a process that was killed nothing half done is used, and its room is free: at once for those
// that need it, and for good when the cache is opened again.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	for _, reopened := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "cache")
		c := openCache(t, dir, 1000)
		cmd, _ := start(t, "hang", dir)
		if reopened {
			must(t, c.Close())
		}
		must(t, cmd.Process.Kill())
		cmd.Wait()
		if reopened {
			c = openCache(t, dir, 1000)
			if got := kept(t, dir, "held", "half", "once"); got != "held" {
				t.Errorf("left %s", got)
			}
		}
		leases := reserve(t, c, request("half", 700), request("held", 300))
		half, err := leases[0].Copy(t.Context())
		must(t, err)
		copied, err := leases[1].Copy(t.Context())
		if half != nil || copied == nil || err != nil {
			t.Errorf("what was half done is used; of what was complete %+v, %v", copied, err)
		}
		must(t, releaseAll(leases, nil))
		must(t, c.Close())
	}
}
