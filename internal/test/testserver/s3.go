package testserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// An S3 is a kind of S3 server.
type S3 struct {
	Install              string // for go install: path@version
	AccessKey, SecretKey string
	Region               string
	Args                 func(dir, address string) []string // dir: has the empty directories data and users
	Env                  []string
	// Disk is the size of a file system for the objects, as mount has it: "8m". "": they lie in a directory.
	Disk string
}

// A Server is an S3 server that runs.
type Server struct {
	*Process
	Client *minio.Core // with all rights

	kind S3
}

// Start starts a server that runs until the test ends. It needs what Need does.
func (k S3) Start(t testing.TB) *Server {
	t.Helper()
	Need(t, k.Install)
	s, err := k.Run(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Run starts a server over a directory. Stop must be called at the end.
func (k S3) Run(dir string) (*Server, error) {
	for _, name := range []string{"data", "users"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return nil, err
		}
	}
	s := &Server{kind: k}
	command := func(program, address string) *exec.Cmd {
		cmd := exec.Command(program, k.Args(dir, address)...)
		if k.Disk != "" {
			cmd = OnDisk(k.Disk, filepath.Join(dir, "data"), cmd.Args)
		}
		cmd.Env = append(os.Environ(), k.Env...)
		return cmd
	}
	var err error
	s.Process, err = Run(k.Install, command, func(address string) (err error) {
		if s.Client, err = k.client(address); err == nil {
			_, err = s.Client.ListBuckets(context.Background())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// NeedDisk skips a test where [OnDisk] cannot mount a file system.
func NeedDisk(t testing.TB) {
	t.Helper()
	if out, err := OnDisk("1m", "/mnt", []string{"true"}).CombinedOutput(); err != nil {
		need.Missing(t, "no tmpfs: ", err, string(out))
	}
}

// OnDisk returns a command in a mount namespace of its own, where a file system of a size lies at dir: "8m", as mount has it.
func OnDisk(size, dir string, args []string) *exec.Cmd {
	flags := "-rm"
	if os.Geteuid() == 0 {
		flags = "-m"
	}
	script := `mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"`
	return exec.Command("unshare", append([]string{flags, "sh", "-c", script, "sh", size, dir}, args...)...)
}

func (k S3) client(address string) (*minio.Core, error) {
	return minio.NewCore(address, &minio.Options{
		Creds: credentials.NewStaticV4(k.AccessKey, k.SecretKey, ""), Region: k.Region, BucketLookup: minio.BucketLookupPath, MaxRetries: 1,
	})
}

// Put stores a file as an object. It makes the bucket if there is none.
func (s *Server) Put(t testing.TB, bucket, key, file string) {
	t.Helper()
	s.Bucket(t, bucket)
	if _, err := s.Client.FPutObject(t.Context(), bucket, key, file, minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
}

// Bucket makes a bucket if there is none.
func (s *Server) Bucket(t testing.TB, bucket string) {
	t.Helper()
	ok, err := s.Client.BucketExists(t.Context(), bucket)
	if err == nil && !ok {
		err = s.Client.MakeBucket(t.Context(), bucket, minio.MakeBucketOptions{Region: s.kind.Region})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Env returns the environment variables that lead an S3 client to this server, and to nothing else.
func (s *Server) Env() []string { return s.EnvAt(s.Address) }

// EnvAt is Env with another host:port, such as a proxy's.
func (s *Server) EnvAt(address string) []string {
	var env []string
	for _, v := range [][2]string{
		{"AWS_ENDPOINT_URL_S3", "http://" + address}, {"AWS_REGION", s.kind.Region},
		{"AWS_ACCESS_KEY_ID", s.kind.AccessKey}, {"AWS_SECRET_ACCESS_KEY", s.kind.SecretKey},
		{"AWS_EC2_METADATA_DISABLED", "true"}, {"AWS_CONFIG_FILE", os.DevNull}, {"AWS_SHARED_CREDENTIALS_FILE", os.DevNull},
	} {
		env = append(env, fmt.Sprintf("%s=%s", v[0], v[1]))
	}
	return env
}

// A Grant is what a user may do with a bucket.
type Grant struct {
	User    string   // an access key; "*": everybody, without credentials too
	Bucket  []string // s3:ListBucket, s3:ListBucketMultipartUploads…
	Objects []string // s3:GetObject, s3:PutObject, s3:DeleteObject…
}

// Allow sets the policy of a bucket.
func (s *Server) Allow(t testing.TB, bucket string, g Grant) {
	t.Helper()
	type statement struct {
		Effect    string
		Principal map[string][]string
		Action    []string
		Resource  []string
	}
	policy := struct {
		Version   string
		Statement []statement
	}{Version: "2012-10-17"}
	for resource, actions := range map[string][]string{"": g.Bucket, "/*": g.Objects} {
		if len(actions) > 0 {
			policy.Statement = append(policy.Statement, statement{"Allow", map[string][]string{"AWS": {g.User}}, actions, []string{"arn:aws:s3:::" + bucket + resource}})
		}
	}
	text, err := json.Marshal(policy)
	if err == nil {
		err = s.Client.SetBucketPolicy(t.Context(), bucket, string(text))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Objects returns the bytes of all objects below a prefix, by what follows it in their names.
// One that is removed meanwhile is left out.
func (s *Server) Objects(ctx context.Context, bucket, prefix string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for o := range s.Client.Client.ListObjects(ctx, bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return nil, o.Err
		}
		body, info, _, err := s.Client.GetObject(ctx, bucket, o.Key, minio.GetObjectOptions{})
		if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound { // a killed program's last requests may still be carried out
			continue
		}
		if err != nil {
			return nil, err
		}
		data, err := readAll(body, info.Size)
		body.Close()
		if err != nil {
			return nil, err
		}
		all[strings.TrimPrefix(o.Key, prefix)] = data
	}
	return all, nil
}

// readAll reads a body. If size is not negative, it is the length of the body, and the buffer never grows: growing is slow
// under the race detector.
func readAll(body io.Reader, size int64) ([]byte, error) {
	if size < 0 {
		return io.ReadAll(body)
	}
	data := make([]byte, size)
	_, err := io.ReadFull(body, data)
	return data, err
}

// Uploads returns which of the keys have an upload in parts that was begun and not ended. MinIO lists them by keys alone.
func (s *Server) Uploads(ctx context.Context, bucket string, keys ...string) (begun []string, err error) {
	for _, key := range keys {
		page, err := s.Client.ListMultipartUploads(ctx, bucket, key, "", "", "", 1000)
		if err != nil {
			return nil, err
		}
		for _, u := range page.Uploads {
			if u.Key == key {
				begun = append(begun, u.Key)
			}
		}
	}
	return begun, nil
}
