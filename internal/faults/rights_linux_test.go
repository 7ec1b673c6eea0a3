package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

const (
	writer       = "AKIAWRITERTEST"
	writerSecret = "secret-of-the-writer"
)

// An obstacle is why an upload cannot be, and what is done about it.
type obstacle struct {
	name  string
	env   []string // of the run that fails
	codes []int
	set   func(o *obstacles, bucket string) error
	lift  func(o *obstacles, bucket string) error
}

var (
	bucketRights = []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"}
	objectRights = []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"}
)

// without grants all rights but one, until it is lifted.
func without(right string, codes ...int) obstacle {
	but := func(rights []string) []string {
		return slices.DeleteFunc(slices.Clone(rights), func(r string) bool { return r == right })
	}
	return obstacle{name: right, codes: codes,
		set: func(o *obstacles, bucket string) error {
			o.server.Allow(o.t, bucket, testserver.Grant{User: writer, Bucket: but(bucketRights), Objects: but(objectRights)})
			return nil
		}}
}

var inTheWay = []obstacle{
	{name: "secret", env: []string{"AWS_SECRET_ACCESS_KEY=another"}, codes: []int{3}},
	{name: "user", env: []string{"AWS_ACCESS_KEY_ID=AKIANOBODY"}, codes: []int{3}},
	{name: "bucket", codes: []int{3},
		set: func(o *obstacles, bucket string) error { return o.server.Client.RemoveBucket(o.ctx, bucket) },
		lift: func(o *obstacles, bucket string) error {
			o.server.Bucket(o.t, bucket)
			return nil
		}},
	without("s3:ListBucket", 3),
	without("s3:PutObject", 3),
	without("s3:DeleteObject", 0), // the dataset is complete, and what stays is said
	{name: "disk", codes: []int{4},
		set: func(o *obstacles, bucket string) error {
			data := make([]byte, 34<<20)
			_, err := o.server.Client.PutObject(o.ctx, bucket, "filler", bytes.NewReader(data), int64(len(data)), "", "", minio.PutObjectOptions{})
			return err
		},
		lift: func(o *obstacles, bucket string) error {
			return o.server.Client.RemoveObject(o.ctx, bucket, "filler", minio.RemoveObjectOptions{})
		}},
}

// obstacles are what all cases share.
type obstacles struct {
	t      *testing.T
	ctx    context.Context
	server *testserver.Server
	upload
}

// TestFaultI7 uploads as a user who lacks something, or to a disk that is full: one line says so, and the same command
// makes the dataset once that is lifted.
func TestFaultI7(t *testing.T) {
	slow(t)
	t.Parallel()
	if r, err := execute("unshare", append(unshared()[1:], "mount -t tmpfs none /mnt")...); err != nil || r.code != 0 {
		need.Missing(t, "no tmpfs: ", r, err)
	}
	kind := versitygw.Kind()
	kind.Disk = "36m"
	o := &obstacles{t: t, ctx: t.Context(), server: kind.Start(t)}
	versitygw.User(t, o.server, writer, writerSecret)
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	o.want = inBucket(want)
	n := len(inTheWay)
	sum := atOnce(t, 1, spread(n, n), func(i int, dir string) error {
		if err := o.try(inTheWay[i], fmt.Sprint("bucket-", i), filepath.Join(dir, "scratch")); err != nil {
			return fmt.Errorf("%s: %w", inTheWay[i].name, err)
		}
		return nil
	})
	t.Logf("I7 %v", sum)
}

func (o *obstacles) try(x obstacle, bucket, scratch string) error {
	o.server.Bucket(o.t, bucket)
	o.store = s3Store(o.server, bucket)
	allow := func() {
		o.server.Allow(o.t, bucket, testserver.Grant{User: writer, Bucket: bucketRights, Objects: objectRights})
	}
	allow()
	if x.set != nil {
		if err := x.set(o, bucket); err != nil {
			return err
		}
	}
	args := convert("s3://"+bucket+"/out/", "--scratch-dir", scratch)
	if x.codes[0] == 0 { // warnings are for those who see the progress
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--progress" || arg == "none" })
	}
	run := func(env []string) (result, error) {
		cmd, cancel := command(program(), args...)
		defer cancel()
		cmd.Env = slices.Concat(os.Environ(), o.server.Env(), []string{"AWS_ACCESS_KEY_ID=" + writer, "AWS_SECRET_ACCESS_KEY=" + writerSecret}, env)
		return finish(cmd, cmd.Start, func(time.Time) {})
	}
	r, err := run(x.env)
	switch {
	case err != nil:
		return err
	case x.codes[0] == 0 && (r.code != 0 || !strings.Contains(r.stderr, "not removed")):
		return fmt.Errorf("%v", r)
	case x.codes[0] != 0:
		if err := r.clean(x.codes...); err != nil {
			return err
		}
	}
	if strings.Contains(r.stderr, writerSecret) {
		return fmt.Errorf("it shows the secret: %v", r)
	}
	if x.name != "bucket" {
		if err := o.sound("out/"); err != nil {
			return err
		}
	}
	if x.lift != nil {
		if err := x.lift(o, bucket); err != nil {
			return err
		}
	}
	allow()
	if r, err = run(nil); err == nil && r.code != 0 {
		err = fmt.Errorf("the same command again: %v", r)
	}
	return errors.Join(err, o.whole("out/", scratch), o.store.clear("out/"))
}
