package testserver

import "path/filepath"

// What to install: go install path@version. .ci/run reads these lines.
const (
	installMinIO    = "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c"
	installGoFakeS3 = "github.com/johannesboyne/gofakes3/cmd/gofakes3@v1.2.0"
	installGoogle   = "github.com/fsouza/fake-gcs-server@v1.56.1"
)

// MinIO is the S3 server that most clusters of their own have had. It has users and policies, limits a bucket's
// size, and answers a full disk with 507.
func MinIO() S3 {
	return S3{
		Install:   installMinIO,
		AccessKey: "AKIAMINIOTEST", SecretKey: "minio-secret-of-the-tests", Region: "eu-test-2",
		Args: func(dir, address string) []string {
			return []string{"server", "--quiet", "--address", address, "--certs-dir", filepath.Join(dir, "certs"), filepath.Join(dir, "data")}
		},
		Env: []string{
			"MINIO_ROOT_USER=AKIAMINIOTEST", "MINIO_ROOT_PASSWORD=minio-secret-of-the-tests", "MINIO_REGION=eu-test-2",
			"MINIO_BROWSER=off", "MINIO_UPDATE=off",
		},
	}
}

// GoFakeS3 compares no checksum but Content-MD5, names none, and does not look at signatures. Its objects are
// in memory.
func GoFakeS3() S3 {
	return S3{
		Install:   installGoFakeS3,
		AccessKey: "AKIAFAKETEST", SecretKey: "secret-that-is-not-asked-for", Region: "eu-test-3",
		Args: func(dir, address string) []string {
			return []string{"-quiet", "-host", address, "-backend", "memory"}
		},
	}
}
