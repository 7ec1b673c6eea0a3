// Package versitygw starts a real S3 server, the Versity S3 Gateway, on loopback. Only tests
// import it.
//
//	s3 := versitygw.Start(t)
//	s3.Put(t, "bucket", "train/000.tar", "testdata/shards-000.tar")
package versitygw

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/testserver"
)

// What to install: go install path@version. .ci/run reads this line.
const installVersitygw = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"

// What a server takes for the truth.
const (
	AccessKey = "AKIAGATEWAYTEST"
	SecretKey = "gateway-secret-of-the-tests"
	Region    = "eu-test-1"
)

// A Server is one that runs.
type Server = testserver.Server

// Kind is the server over a directory, where an object is a file. It closes each connection after its reply.
func Kind() testserver.S3 {
	return testserver.S3{
		Install:   installVersitygw,
		AccessKey: AccessKey, SecretKey: SecretKey, Region: Region,
		Args: func(dir, address string) []string {
			return []string{"--port", address, "--region", Region, "--quiet", "--iam-dir", filepath.Join(dir, "users"), "posix", filepath.Join(dir, "data")}
		},
		Env: []string{"ROOT_ACCESS_KEY=" + AccessKey, "ROOT_SECRET_KEY=" + SecretKey},
	}
}

// Keeping is Kind with connections that are kept, as S3 does. It is for reading: this version answers some requests that follow
// an upload with 400.
func Keeping() testserver.S3 {
	k := Kind()
	args := k.Args
	k.Args = func(dir, address string) []string { return append([]string{"--keep-alive"}, args(dir, address)...) }
	return k
}

// Need skips a test where the program is missing; where CI is set the test fails.
func Need(t testing.TB) {
	t.Helper()
	testserver.Need(t, installVersitygw)
}

// Start starts a server that runs until the test ends. It needs what Need does.
func Start(t testing.TB) *Server {
	t.Helper()
	return Kind().Start(t)
}

// Run starts a server over a directory. Stop must be called in the end.
func Run(dir string) (*Server, error) { return Kind().Run(dir) }

// User makes a user, who may do nothing before [testserver.Server.Allow].
func User(t testing.TB, s *Server, accessKey, secretKey string) {
	t.Helper()
	program, err := testserver.Find(installVersitygw)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, "admin", "--access", AccessKey, "--secret", SecretKey, "--region", Region, "--endpoint-url", "http://"+s.Address,
		"create-user", "--access", accessKey, "--secret", secretKey, "--role", "user").CombinedOutput()
	if err != nil {
		t.Fatalf("create-user: %v: %s", err, out)
	}
}
