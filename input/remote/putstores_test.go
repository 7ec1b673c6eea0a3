package remote

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/minio/crc64nvme"

	"github.com/ffconvert/ffconvert/internal/testserver"
)

// Real services, each by its own checksum.
func TestPutToStores(t *testing.T) {
	for _, row := range []struct {
		name, scheme, kind string
		vars               func(t *testing.T) map[string]string
	}{
		{"versitygw", "s3", "crc64nvme", func(t *testing.T) map[string]string {
			addr, _ := startGateway(t)
			return gatewayEnv(addr)
		}},
		{"MinIO", "s3", "crc64nvme", func(t *testing.T) map[string]string { return s3Vars(t, testserver.MinIO()) }},
		{"gofakes3", "s3", "md5", func(t *testing.T) map[string]string { return s3Vars(t, testserver.GoFakeS3()) }},
		{"fake-gcs-server", "gs", "crc32c", func(t *testing.T) map[string]string {
			server := testserver.StartGoogle(t)
			server.Bucket(t, bucketName)
			return map[string]string{"STORAGE_EMULATOR_HOST": server.Address}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := environment(row.vars(t))
			for _, size := range []int{0, 5000, 11<<20 + 1} {
				c := client(t, Options{LookupEnv: env, part: 5 << 20})
				data := random(size, uint64(size))
				url := fmt.Sprintf("%s://%s/put/%d #+.ffr", row.scheme, bucketName, size)
				o, err := putAll(t, c, url, data, true)
				if err != nil {
					t.Fatal(size, err)
				}
				if o.Sum.Kind != row.kind && !(row.kind == "md5" && size > 5<<20) {
					t.Errorf("%+v", o.Sum)
				}
				if want := fmt.Sprintf("%016x", crc64nvme.Checksum(data)); o.Sum.Kind == "crc64nvme" && o.Sum.Value != want {
					t.Errorf("%+v for %s", o.Sum, want)
				}
				found, err := c.Stat(t.Context(), url)
				if err != nil || found.Size != o.Size || found.Version != o.Version || row.kind != "md5" && found.Sum != o.Sum {
					t.Errorf("%+v for %+v: %v", found, o, err)
				}
				if file, err := fetchObject(t, t.Context(), c, found); err != nil || !bytes.Equal(file.b, data) {
					t.Error(err)
				}
				if _, err := putAll(t, c, url, data, true); !errors.Is(err, ErrExists) {
					t.Error(err)
				}
				if again, err := putAll(t, c, url, data, false); err != nil || row.scheme == "s3" && again.Version != o.Version {
					t.Errorf("%+v %v", again, err)
				}
				must(t, c.Remove(t.Context(), url))
				must(t, c.Remove(t.Context(), url))
				if _, err := c.Stat(t.Context(), url); !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
			}
			c := client(t, Options{LookupEnv: env, part: 5 << 20})
			for _, size := range []int{10, 6 << 20} {
				if _, err := putAll(t, c, row.scheme+"://nowhere-to-be/a", random(size, 1), false); !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
			}
		})
	}
}

func s3Vars(t *testing.T, kind testserver.S3) map[string]string {
	server := kind.Start(t)
	server.Bucket(t, bucketName)
	vars := map[string]string{}
	for _, v := range server.Env() {
		key, value, _ := strings.Cut(v, "=")
		vars[key] = value
	}
	return vars
}
