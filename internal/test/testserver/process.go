// Package testserver starts real object stores on loopback, each a program of a pinned version that
// .ci/run installs. Only tests import it.
//
//	s3 := testserver.MinIO().Start(t)      // another one: package versitygw
//	s3 := testserver.GoFakeS3().Start(t)   // knows no checksum but MD5, and no credentials
//	gs := testserver.StartGoogle(t)      // fake-gcs-server
//	web := testserver.StartNginx(t, dir) // nginx, of the system
package testserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Find returns the path of a program, by the path@version that go install takes: where .ci/run puts it, once for each version.
func Find(install string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	module, _, _ := strings.Cut(install, "@")
	name, sum := path.Base(module), sha256.Sum256([]byte(install))
	dir := filepath.Join(cache, "ffconvert-servers", hex.EncodeToString(sum[:8]))
	found, err := exec.LookPath(filepath.Join(dir, name))
	if err != nil {
		return "", fmt.Errorf("%s is not installed: GOBIN=%s CGO_ENABLED=0 go install %s", name, dir, install)
	}
	return found, nil
}

// Need skips a test if a program is missing, and under -short; in CI a missing one fails the test.
func Need(t testing.TB, install string) {
	t.Helper()
	if _, err := Find(install); err != nil {
		need.Missing(t, err)
	}
	need.Time(t, "an object store")
}

// A Process is a running server.
type Process struct {
	Address string // host:port

	cmd   *exec.Cmd
	ended chan struct{}
}

// Run starts a program on a free port of its own. command makes what runs it there; ready asks the server something, and returns nil once it answers. Stop must be called
// at the end.
func Run(install string, command func(program, address string) *exec.Cmd, ready func(address string) error) (*Process, error) {
	program, err := Find(install)
	if err != nil {
		return nil, err
	}
	return start(program, command, ready)
}

func start(program string, command func(program, address string) *exec.Cmd, ready func(address string) error) (p *Process, err error) {
	for range 5 { // another process may take the port first
		if p, err = run(program, command, ready); err == nil {
			return p, nil
		}
	}
	return nil, err
}

func run(program string, command func(program, address string) *exec.Cmd, ready func(address string) error) (*Process, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Process{Address: free.Addr().String(), ended: make(chan struct{})}
	free.Close()
	var log bytes.Buffer
	p.cmd = command(program, p.Address)
	p.cmd.Stdout, p.cmd.Stderr = &log, &log
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if err = ready(p.Address); err == nil {
			return p, nil
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("%s does not start: %s", filepath.Base(program), log.String())
		default:
		}
		if time.Now().After(deadline) {
			p.Stop()
			return nil, fmt.Errorf("%s does not answer: %w", filepath.Base(program), err)
		}
	}
}

// Stop ends the server.
func (p *Process) Stop() {
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		p.cmd.Process.Kill()
		<-p.ended
	}
}
