package store

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/minio/crc64nvme"
	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

const (
	gatewayKey    = versitygw.AccessKey
	gatewaySecret = versitygw.SecretKey
	gatewayRegion = versitygw.Region
	bucketName    = "train-data"
)

// The S3 server of these tests is a real one, started once and shared.
var gateway struct {
	once  sync.Once
	stop  func()
	addr  string
	err   error
	admin *minio.Core // that may write
}

func TestMain(m *testing.M) {
	code := m.Run()
	if gateway.stop != nil {
		gateway.stop()
	}
	os.Exit(code)
}

// startGateway gives the server's address and a client that may write.
func startGateway(t *testing.T) (addr string, admin *minio.Core) {
	t.Helper()
	versitygw.Need(t)
	gateway.once.Do(func() { gateway.err = runGateway() })
	if gateway.err != nil {
		t.Fatal(gateway.err)
	}
	return gateway.addr, gateway.admin
}

func runGateway() error {
	dir, err := os.MkdirTemp("", "gateway")
	if err != nil {
		return err
	}
	server, err := versitygw.Run(dir)
	if err != nil {
		os.RemoveAll(dir)
		return err
	}
	gateway.stop = func() {
		server.Stop()
		os.RemoveAll(dir)
	}
	gateway.addr, gateway.admin = server.Address, server.Client
	return gateway.admin.MakeBucket(context.Background(), bucketName, minio.MakeBucketOptions{Region: gatewayRegion})
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
