package faults

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// A store is a bucket of a running service.
type store struct {
	address string
	scheme  string
	envAt   func(address string) []string
	objects func(prefix string) (map[string][]byte, error)
	remove  func(name string) error
	uploads func(names ...string) ([]string, error) // in parts, begun and not ended
}

const bucketName = "data"

func startS3(t *testing.T, kind testserver.S3) *store {
	t.Helper()
	s := kind.Start(t)
	s.Bucket(t, bucketName)
	return s3Store(s, bucketName)
}

func s3Store(s *testserver.Server, bucket string) *store {
	ctx := context.Background()
	return &store{s.Address, "s3", s.EnvAt,
		func(prefix string) (map[string][]byte, error) { return s.Objects(ctx, bucket, prefix) },
		func(name string) error {
			return s.Client.RemoveObject(ctx, bucket, name, minio.RemoveObjectOptions{})
		},
		func(names ...string) ([]string, error) { return s.Uploads(ctx, bucket, names...) },
	}
}

func startGoogle(t *testing.T) *store {
	t.Helper()
	g := testserver.StartGoogle(t)
	g.Bucket(t, bucketName)
	return &store{g.Address, "gs", g.EnvAt,
		func(prefix string) (map[string][]byte, error) { return g.Objects(bucketName, prefix) },
		func(name string) error { return g.Remove(bucketName, name) },
		func(...string) ([]string, error) { return nil, nil }, // the service ends them, and names none
	}
}

// An upload is a conversion whose output is in a bucket: commands that are run one after the other.
type upload struct {
	part  string // of a row
	store *store
	steps func(out string, flags ...string) [][]string
	want  tree
	full  int // cases of the whole table
	some  int
}

// uploads are small shards, shards in parts on each service, and tasks of a plan.
func uploads(t *testing.T) []upload {
	t.Helper()
	gateway := startS3(t, versitygw.Kind())
	big, err := bigSources()
	if err != nil {
		t.Fatal(err)
	}
	tar := func(shards string, sources []string) func(out string, flags ...string) [][]string {
		return func(out string, flags ...string) [][]string {
			args := append([]string{"tar", "--shards", shards, "--progress", "none"}, flags...)
			return [][]string{append(append(args, sources...), out)}
		}
	}
	tasks := func(out string, flags ...string) [][]string {
		with := func(args ...string) []string { return append(append(args, flags...), out) }
		return [][]string{append([]string{"plan"}, tar("8", sources)(out, flags...)[0]...),
			with("run", "--progress", "none", "--task", "1/2"), with("run", "--progress", "none", "--task", "0/2"), with("finish", "--progress", "none")}
	}
	all := []upload{
		{"small", gateway, tar("8", sources), nil, 80, 3},
		{"tasks", gateway, tasks, nil, 80, 3},
		{"parts", gateway, tar("3", big), nil, 40, 2},
		{"minio", startS3(t, testserver.MinIO()), tar("3", big), nil, 40, 2},
		{"md5", startS3(t, testserver.GoFakeS3()), tar("3", big), nil, 20, 1},
		{"gs", startGoogle(t), tar("3", big), nil, 40, 2},
	}
	for i, u := range all {
		out := filepath.Join(own(t), u.part)
		for _, args := range u.steps(out) {
			if err := must(args); err != nil {
				t.Fatal(err)
			}
		}
		want, err := readTree(out)
		if err != nil {
			t.Fatal(err)
		}
		all[i].want = inBucket(want)
	}
	return all
}

// inBucket is what a bucket has of a tree: it has no directories and no locks.
func inBucket(t tree) tree {
	t = maps.Clone(t)
	maps.DeleteFunc(t, func(name string, _ []byte) bool { return strings.HasSuffix(name, "/") || name == ".ffconvert/lock" })
	return t
}

// bigSources are tars whose three shards are uploaded in parts.
var bigSources = sync.OnceValues(func() ([]string, error) {
	dir := filepath.Join(base, "in-big")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(22, 1))
	var names []string
	for i := range 3 {
		var members []member
		for j := range 18 {
			members = append(members, member{fmt.Sprintf("%d/%02d.bin", i, j), noise(rng, 1<<20)})
		}
		names = append(names, filepath.Join(dir, fmt.Sprintf("%d.tar", i)))
		if err := writeTar(names[i], members); err != nil {
			return nil, err
		}
	}
	return names, nil
})

// tree returns what a bucket has of a dataset, comparable with readTree of a directory.
func (s *store) tree(prefix string) (tree, error) {
	objects, err := s.objects(prefix)
	got := make(tree)
	for name, data := range objects {
		if len(data) > wholeSize {
			sum := sha256.Sum256(data)
			data = sum[:]
		}
		got[name] = comparable(name, data)
	}
	return got, err
}

// sound says what an unfinished dataset in a bucket shows that is not so.
func (u upload) sound(prefix string) error {
	got, err := u.store.tree(prefix)
	maps.DeleteFunc(got, func(name string, _ []byte) bool { return strings.HasPrefix(name, ".ffconvert/done/") }) // named like shards
	return errors.Join(err, got.sound(u.want))
}

// clear removes the objects of a case.
func (s *store) clear(prefix string) error {
	objects, err := s.objects(prefix)
	for name := range objects {
		err = errors.Join(err, s.remove(prefix+name))
	}
	return err
}

// whole says how the dataset in a bucket differs from want, and what was left behind there or in the scratch.
func (u upload) whole(prefix, scratch string) error {
	got, err := u.store.tree(prefix)
	if err == nil {
		err = got.sound(u.want) // tells wrong bytes from those that were left behind
	}
	if err == nil {
		err = got.differ(u.want)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(u.want)) {
		names = append(names, prefix+name)
	}
	begun, e := u.store.uploads(names...)
	if e == nil && len(begun) > 0 {
		e = fmt.Errorf("parts of %q were left behind", begun)
	}
	left, _ := filepath.Glob(filepath.Join(scratch, "*"))
	if len(left) > 0 {
		e = errors.Join(e, fmt.Errorf("%q were left behind", left))
	}
	return errors.Join(err, e)
}

// out is the URL of a case's dataset, and the prefix of its objects.
func (u upload) out(dir string) (url, prefix string) {
	prefix = path.Join(u.part, filepath.Base(dir)) + "/"
	return u.store.scheme + "://" + bucketName + "/" + prefix, prefix
}
