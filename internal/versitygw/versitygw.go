// Package versitygw starts a real S3 server, the Versity S3 Gateway, on loopback. Only tests
// import it.
//
//	s3 := versitygw.Start(t)
//	s3.Put(t, "bucket", "train/000.tar", "testdata/shards-000.tar")
package versitygw

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/ffconvert/ffconvert/internal/need"
)

// Version is what to install: go install github.com/versity/versitygw/cmd/versitygw@Version.
const Version = "v1.8.0"

// What a server takes for the truth.
const (
	AccessKey = "AKIAGATEWAYTEST"
	SecretKey = "gateway-secret-of-the-tests"
	Region    = "eu-test-1"
)

// A Server is one that runs.
type Server struct {
	Address string      // host:port
	Client  *minio.Core // that may write

	cmd   *exec.Cmd
	ended chan struct{}
}

// Find returns the path of the program: on PATH, or where go install puts it.
func Find() (string, error) {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path, nil
	}
	out, err := exec.Command("go", "env", "GOBIN", "GOPATH").Output()
	if err == nil {
		dirs := strings.Split(string(out), "\n")
		for _, dir := range []string{dirs[0], filepath.Join(dirs[1], "bin")} {
			if path, err := exec.LookPath(filepath.Join(dir, "versitygw")); err == nil {
				return path, nil
			}
		}
	}
	return "", errors.New("versitygw is not installed: go install github.com/versity/versitygw/cmd/versitygw@" + Version)
}

// Need skips a test where the program is missing; where CI is set the test fails.
func Need(t testing.TB) {
	t.Helper()
	if _, err := Find(); err != nil {
		need.Missing(t, err)
	}
}

// Start starts a server that runs until the test ends. It needs what Need does.
func Start(t testing.TB) *Server {
	t.Helper()
	Need(t)
	s, err := Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Run starts a server on a port of its own, over a directory. Stop must be called in the end.
func Run(dir string) (*Server, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	for range 5 { // the port may be another's by the time the server takes it
		var s *Server
		if s, err = run(path, dir); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func run(path, dir string) (*Server, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Address: free.Addr().String(), ended: make(chan struct{})}
	free.Close()
	s.Client, err = minio.NewCore(s.Address, &minio.Options{
		Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""), Region: Region, BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
	})
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	s.cmd = exec.Command(path, "--port", s.Address, "--region", Region, "--quiet", "posix", dir)
	s.cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	s.cmd.Stdout, s.cmd.Stderr = &log, &log
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.ended)
	}()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err = s.Client.ListBuckets(context.Background()); err == nil {
			return s, nil
		}
		select {
		case <-s.ended:
			return nil, fmt.Errorf("versitygw does not start: %s", log.String())
		default:
		}
		if time.Now().After(deadline) {
			s.Stop()
			return nil, fmt.Errorf("versitygw does not answer: %w", err)
		}
	}
}

// Stop ends the server.
func (s *Server) Stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		s.cmd.Process.Kill()
		<-s.ended
	}
}

// Put stores a file as an object, in a bucket that is made where there is none.
func (s *Server) Put(t testing.TB, bucket, key, file string) {
	t.Helper()
	ok, err := s.Client.BucketExists(t.Context(), bucket)
	if err == nil && !ok {
		err = s.Client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: Region})
	}
	if err == nil {
		_, err = s.Client.FPutObject(t.Context(), bucket, key, file, minio.PutObjectOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Env returns the variables of the environment that lead the program's S3 client to the
// server, and to nothing else.
func (s *Server) Env() []string {
	var env []string
	for _, v := range [][2]string{
		{"AWS_ENDPOINT_URL_S3", "http://" + s.Address}, {"AWS_REGION", Region},
		{"AWS_ACCESS_KEY_ID", AccessKey}, {"AWS_SECRET_ACCESS_KEY", SecretKey},
		{"AWS_EC2_METADATA_DISABLED", "true"}, {"AWS_CONFIG_FILE", os.DevNull}, {"AWS_SHARED_CREDENTIALS_FILE", os.DevNull},
	} {
		env = append(env, fmt.Sprintf("%s=%s", v[0], v[1]))
	}
	return env
}
