// Package versitygw starts a real S3 server, the Versity S3 Gateway, on loopback. Only tests
// import it.
//
//	s3 := versitygw.Start(t)
//	s3.Put(t, "bucket", "train/000.tar", "testdata/shards-000.tar")
package versitygw

import (
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
)

// Version is what to install: go install github.com/versity/versitygw/cmd/versitygw@Version.
const Version = "v1.8.0"

// What a server takes for the truth.
const (
	AccessKey = "k"
	SecretKey = "s"
	Region    = "us-east-1"
)

// A Server is one that runs until its test ends.
type Server struct {
	Address string // host:port
	client  *minio.Client
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

// Start starts a server on a port of its own. Without the program the test is skipped; where
// CI is set it fails.
func Start(t testing.TB) *Server {
	t.Helper()
	path, err := Find()
	switch {
	case err == nil:
	case os.Getenv("CI") != "":
		t.Fatal(err)
	default:
		t.Skip(err)
	}
	for range 5 { // the port may be another's by the time the server takes it
		if s := start(t, path); s != nil {
			return s
		}
	}
	t.Fatal("versitygw does not start")
	return nil
}

func start(t testing.TB, path string) *Server {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Address: free.Addr().String()}
	free.Close()
	cmd := exec.Command(path, "--port", s.Address, "--region", Region, "--quiet", "posix", t.TempDir())
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+AccessKey, "ROOT_SECRET_KEY="+SecretKey)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			cmd.Process.Kill()
			<-ended
		}
	})
	s.client, err = minio.New(s.Address, &minio.Options{Creds: credentials.NewStaticV4(AccessKey, SecretKey, ""), Region: Region})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		select {
		case <-ended:
			return nil
		default:
		}
		if _, err := s.client.ListBuckets(t.Context()); err == nil {
			return s
		}
	}
	return nil
}

// Put stores a file as an object, in a bucket that is made where there is none.
func (s *Server) Put(t testing.TB, bucket, key, file string) {
	t.Helper()
	ok, err := s.client.BucketExists(t.Context(), bucket)
	if err == nil && !ok {
		err = s.client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: Region})
	}
	if err == nil {
		_, err = s.client.FPutObject(t.Context(), bucket, key, file, minio.PutObjectOptions{})
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
