package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
)

// TestFaultH6Objects puts other bytes of the same size in the place of an object of an AIStore, when
// the dataset has been planned, or written by half. Each kind of bucket tells it another way.
func TestFaultH6Objects(t *testing.T) {
	slow(t)
	t.Parallel()
	server := aisfake.Start(t)
	before, after, err := twoStates()
	if err != nil {
		t.Fatal(err)
	}
	var all []objectCase
	for _, k := range objectKinds {
		for _, from := range []string{"{000..002}.tar", "*.tar"} {
			for _, half := range []bool{false, true} {
				for _, how := range []string{"--exact", "--whole-parts"} {
					all = append(all, objectCase{server, k, from, half, how, before, after})
				}
			}
		}
	}
	sum := each(t, spread(len(all), len(all)), func(i int, dir string) error {
		if err := all[i].run(fmt.Sprintf("bucket-%d", i), filepath.Join(dir, "out")); err != nil {
			return fmt.Errorf("%+v: %w", all[i].objectKind.name, err)
		}
		return nil
	})
	t.Logf("H6 [object] %v", sum)
}

// An objectKind is a bucket, and how an object of it is replaced.
type objectKind struct {
	name    string
	bucket  aisfake.Bucket
	anew    bool          // it is deleted first
	younger time.Duration // what replaces it
	query   string        // of its URLs
}

var objectKinds = []objectKind{
	{"a cloud's, without versions", aisfake.Bucket{Provider: "aws", Checksum: true, ETag: true, Modified: true}, false, time.Hour, "?provider=aws"},
	{"a cloud's, within a second", aisfake.Bucket{Provider: "aws", ETag: true, Modified: true}, false, 0, "?provider=aws"},
	{"a cloud's, by its time alone", aisfake.Bucket{Provider: "gcp", Modified: true}, false, time.Second, "?provider=gcp"},
	{"versioning is off", aisfake.Bucket{Checksum: true}, false, 0, ""},
	{"deleted and made anew", aisfake.Bucket{Versions: true, Checksum: true}, true, 0, ""},
	{"by its version alone", aisfake.Bucket{Versions: true}, false, 0, ""},
}

// twoStates are the sources, and one of them with another byte.
func twoStates() (before [][]byte, after []byte, err error) {
	for _, name := range sources {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, data)
	}
	after = append(after, before[2]...)
	after[600] ^= 1 // of the first member
	return before, after, nil
}

type objectCase struct {
	server *aisfake.Server
	objectKind
	from   string // how the objects are named
	half   bool   // the first shard is written before
	how    string
	before [][]byte
	after  []byte
}

func (c objectCase) run(bucket, out string) error {
	c.server.Bucket(bucket, c.bucket)
	for i, data := range c.before {
		c.server.Put(bucket, fmt.Sprintf("%03d.tar", i), data)
	}
	convert := []string{"tar", c.how, "--shards", "3", "--progress", "none", "ais://" + bucket + "/" + c.from + c.query, out}
	steps := [][]string{append([]string{"plan"}, convert...)}
	if c.half {
		steps = append(steps, []string{"run", "--progress", "none", "--task", "0/3", out})
	}
	for _, args := range steps {
		if r, err := c.ais(args...); err != nil || r.code != 0 {
			return fmt.Errorf("%s: %v %w", args[0], r, err)
		}
	}
	if c.anew {
		c.server.Delete(bucket, "002.tar")
	}
	c.server.Pass(c.younger)
	c.server.Put(bucket, "002.tar", c.after)
	for _, args := range [][]string{{"run", "--progress", "none", "--task", "2/3", out}, convert} {
		r, err := c.ais(args...)
		if err != nil {
			return err
		}
		if r.code == 0 {
			return fmt.Errorf("%s: %w: %v", args[0], errBad, r)
		}
		if err := r.clean(3); err != nil {
			return err
		}
		if !strings.Contains(r.stderr, "002.tar") || !strings.Contains(r.stderr, "changed") {
			return fmt.Errorf("%s: %v", args[0], r)
		}
	}
	return nil
}

// ais runs the program with the server for an AIStore.
func (c objectCase) ais(args ...string) (result, error) {
	cmd, cancel := command(program(), args...)
	defer cancel()
	cmd.Env = append(os.Environ(), "AIS_ENDPOINT="+c.server.URL, "NO_PROXY=*")
	return finish(cmd, cmd.Start, func(time.Time) {})
}
