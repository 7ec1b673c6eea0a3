//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// TestS16 converts the main set into a bucket of an S3 server on this machine, beside a conversion to the disk and an
// upload of what it wrote.
func TestS16(t *testing.T) {
	measure(t, "S16", func(record func(figure)) {
		need.Tools(t, "curl", "rclone")
		set := setOf(t, photos)
		bytes := sizeOf(t, filesUnder(t, set))
		server := versitygw.Start(t)
		server.Bucket(t, "bench")
		remote := func(watched bool, flags ...string) contender {
			return func(t *testing.T, set, _ string) process {
				empty(t, server)
				cmd := conversion("tar", set, "s3://bench/out/", append(flags, "--scratch-dir", filepath.Join(work, "scratch"))...)
				cmd.Env = append(os.Environ(), server.Env()...)
				return finish(t, cmd, watched)
			}
		}
		all := compete(t, warm, set, longRounds, convertedAnd(rcloned(server)), convertedAnd(curled(server)), remote(false))
		into := size(volume) + " into a bucket of an S3 server on loopback"
		record(figure{work: into, against: "a conversion to the disk, then `rclone copy` of its files",
			value: all[2].seconds().over(all[0].seconds()), unit: ratio, target: atMost(1.1),
			ours: pace(bytes, all[2].seconds()), theirs: pace(bytes, all[0].seconds())})
		record(figure{work: into, against: "a conversion to the disk, then `curl --parallel` of its files, without a checksum and a signature of their bytes",
			value: all[2].seconds().over(all[1].seconds()), unit: ratio,
			ours: pace(bytes, all[2].seconds()), theirs: pace(bytes, all[1].seconds())})

		out := filepath.Join(work, "out")
		settle(t, out)
		p := remote(true, "--jobs", "2")(t, set, out)
		record(figure{work: "peak memory of the same, with file pages", value: series{float64(p.peak)}, unit: memory, target: atMost(mostMemory),
			ours: "anonymous " + memory.one(float64(p.anon))})
		empty(t, server)
	})
}

// convertedAnd converts to the disk, and runs the command that uploads what is there.
func convertedAnd(send func(t *testing.T, out string) *exec.Cmd) contender {
	return func(t *testing.T, set, out string) process {
		first := convert("tar")(t, set, out)
		second := finish(t, send(t, out), false)
		first.seconds += second.seconds
		first.cpu += second.cpu
		return first
	}
}

// rcloned uploads with rclone, four files and four parts of each at once.
func rcloned(server *versitygw.Server) func(t *testing.T, out string) *exec.Cmd {
	return func(t *testing.T, out string) *exec.Cmd {
		empty(t, server)
		cmd := exec.Command("rclone", "copy", "--transfers", "4", "--s3-upload-concurrency", "4", "--s3-chunk-size", "16M", "--s3-no-check-bucket", out, "store:bench/out")
		cmd.Env = append(os.Environ(), "AWS_CA_BUNDLE=", "RCLONE_CONFIG=/notfound", "RCLONE_CONFIG_STORE_TYPE=s3", "RCLONE_CONFIG_STORE_PROVIDER=Other",
			"RCLONE_CONFIG_STORE_ENDPOINT=http://"+server.Address, "RCLONE_CONFIG_STORE_REGION="+versitygw.Region,
			"RCLONE_CONFIG_STORE_ACCESS_KEY_ID="+versitygw.AccessKey, "RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY="+versitygw.SecretKey)
		return cmd
	}
}

// curled uploads with curl, all files at once, each in one request.
func curled(server *versitygw.Server) func(t *testing.T, out string) *exec.Cmd {
	return func(t *testing.T, out string) *exec.Cmd {
		empty(t, server)
		args := slices.Clone(signedCurl)
		for _, f := range filesUnder(t, out) {
			name, err := filepath.Rel(out, f)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, "--upload-file", f, fmt.Sprintf("http://%s/bench/out/%s", server.Address, name))
		}
		return exec.Command("curl", args...)
	}
}

// empty removes all objects of the bucket.
func empty(t *testing.T, server *versitygw.Server) {
	t.Helper()
	for o := range server.Client.Client.ListObjects(t.Context(), "bench", minio.ListObjectsOptions{Recursive: true}) {
		err := o.Err
		if err == nil {
			err = server.Client.RemoveObject(t.Context(), "bench", o.Key, minio.RemoveObjectOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
