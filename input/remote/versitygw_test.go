package remote

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"hash/crc32"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/crc64nvme"
	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The S3 server of these tests is a real one, https://github.com/versity/versitygw over a
// temporary directory, started once and shared.
//
//	go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
const (
	gatewayKey    = "AKIAGATEWAYTEST"
	gatewaySecret = "gateway-secret-of-the-tests"
	gatewayRegion = "eu-test-1"
	bucketName    = "train-data"
)

var gateway struct {
	once  sync.Once
	stop  func()
	addr  string
	err   error
	admin *minio.Core
}

func TestMain(m *testing.M) {
	code := m.Run()
	if gateway.stop != nil {
		gateway.stop()
	}
	os.Exit(code)
}

// findGateway looks where go install puts programs.
func findGateway() (string, error) {
	if path, err := exec.LookPath("versitygw"); err == nil {
		return path, nil
	}
	for _, variable := range []string{"GOBIN", "GOPATH"} {
		out, err := exec.Command("go", "env", variable).Output()
		dir := strings.TrimSpace(string(out))
		if err != nil || dir == "" {
			continue
		}
		if variable == "GOPATH" {
			dir = filepath.Join(filepath.SplitList(dir)[0], "bin")
		}
		if path, err := exec.LookPath(filepath.Join(dir, "versitygw")); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("versitygw is not installed")
}

// startGateway gives the server's address and a client that may write.
func startGateway(t *testing.T) (addr string, admin *minio.Core) {
	t.Helper()
	program, err := findGateway()
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	gateway.once.Do(func() { gateway.err = runGateway(program) })
	if gateway.err != nil {
		t.Fatal(gateway.err)
	}
	return gateway.addr, gateway.admin
}

func runGateway(program string) error {
	dir, err := os.MkdirTemp("", "gateway")
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	gateway.addr = l.Addr().String()
	l.Close()

	var log bytes.Buffer
	cmd := exec.Command(program, "--port", gateway.addr, "--region", gatewayRegion, "--quiet", "posix", dir)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+gatewayKey, "ROOT_SECRET_KEY="+gatewaySecret)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return err
	}
	gateway.stop = func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	}
	gateway.admin, err = minio.NewCore(gateway.addr, &minio.Options{
		Creds: credentials.NewStaticV4(gatewayKey, gatewaySecret, ""), Region: gatewayRegion,
		BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
	})
	if err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := gateway.admin.MakeBucket(context.Background(), bucketName, minio.MakeBucketOptions{Region: gatewayRegion})
		if err == nil {
			return nil
		}
		if time.Since(began) > 10*time.Second {
			return fmt.Errorf("versitygw does not start: %v\n%s", err, log.String())
		}
	}
}

// put writes an object by another client than ours.
func put(t *testing.T, admin *minio.Core, key, text string, opts minio.PutObjectOptions) {
	t.Helper()
	_, err := admin.PutObject(t.Context(), bucketName, key, strings.NewReader(text), int64(len(text)), "", "", opts)
	if err != nil {
		t.Fatal(err)
	}
}

// gatewayEnv is the environment of who may read.
func gatewayEnv(addr string) map[string]string {
	return map[string]string{
		"AWS_ENDPOINT_URL":      "http://" + addr,
		"AWS_ACCESS_KEY_ID":     gatewayKey,
		"AWS_SECRET_ACCESS_KEY": gatewaySecret,
		"AWS_REGION":            gatewayRegion,
	}
}

// sumOf is the digest of text, by the libraries that know them.
func sumOf(kind, text string) []byte {
	hashes := map[string]func() hash.Hash{
		"crc32":     func() hash.Hash { return crc32.NewIEEE() },
		"crc32c":    func() hash.Hash { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) },
		"crc64nvme": func() hash.Hash { return crc64nvme.New() },
		"sha1":      sha1.New,
		"sha256":    sha256.New,
	}
	h := hashes[kind]()
	h.Write([]byte(text))
	return h.Sum(nil)
}

// withSum asks the server to keep a checksum of the whole object.
func withSum(kind, text string) minio.PutObjectOptions {
	return minio.PutObjectOptions{DisableMultipart: true, UserMetadata: map[string]string{
		"x-amz-checksum-" + kind: base64.StdEncoding.EncodeToString(sumOf(kind, text)),
	}}
}
