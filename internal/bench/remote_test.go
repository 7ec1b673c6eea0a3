//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// TestS12 converts the main set from an S3 server on this machine, beside the fetching of all
// of it and then a conversion of what was fetched.
func TestS12(t *testing.T) {
	measure(t, "S12", func(record func(figure)) {
		set := setOf(t, photos)
		bytes := sizeOf(t, filesUnder(t, set))
		server := versitygw.Start(t)
		for _, f := range glob(t, set, "*.tar") {
			server.Put(t, "bench", filepath.Base(f), f)
		}
		remote := func(watched bool, flags ...string) contender {
			return func(t *testing.T, _, out string) process {
				cmd := conversion("tar", "s3://bench/*.tar", out, flags...)
				cmd.Env = append(os.Environ(), server.Env()...)
				return finish(t, cmd, watched)
			}
		}
		all := compete(t, warm, set, slowRounds, fetched(server), remote(false))
		record(figure{work: size(volume) + " from an S3 server on loopback", against: "`curl --parallel` of the same objects to the disk, then a conversion of the files",
			value: all[1].seconds().over(all[0].seconds()), unit: ratio, target: atMost(1),
			ours: pace(bytes, all[1].seconds()), theirs: pace(bytes, all[0].seconds())})

		out := filepath.Join(work, "out")
		settle(t, out)
		p := remote(true, "--jobs", "2")(t, set, out)
		settle(t, out)
		record(figure{work: "peak anonymous memory of the same", value: series{float64(p.anon)}, unit: memory, target: atMost(mostMemory),
			ours: "with file pages " + memory.one(float64(p.peak))})
	})
}

// signedCurl are curl's arguments for requests to the server, many at once.
var signedCurl = []string{"--parallel", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:" + versitygw.Region + ":s3",
	"--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "--user", versitygw.AccessKey + ":" + versitygw.SecretKey}

// fetched fetches all objects in parallel, and converts what came.
func fetched(server *versitygw.Server) contender {
	return func(t *testing.T, set, out string) process {
		dir := filepath.Join(work, "fetched")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		defer settle(t, dir)
		args := slices.Clone(signedCurl)
		for _, f := range glob(t, set, "*.tar") {
			name := filepath.Base(f)
			args = append(args, "-o", filepath.Join(dir, name), fmt.Sprintf("http://%s/bench/%s", server.Address, name))
		}
		first := finish(t, exec.Command("curl", args...), false)
		second := convert("tar")(t, dir, out)
		first.seconds += second.seconds
		first.cpu += second.cpu
		return first
	}
}
