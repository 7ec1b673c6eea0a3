package pages

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/parquettest"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// A docsFolder has files and services under the names that pages use.
type docsFolder struct {
	made string // files that commands have made
	path string // PATH, in which the built program is the first ffconvert
	env  []string
}

// docsPage returns a page of docs/.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// newDocsFolder starts the services, and makes the files that other files are made of.
func newDocsFolder(t *testing.T) *docsFolder {
	t.Helper()
	need.Shell(t)
	need.Tools(t, "bash", "gzip", "seq", "tar")
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	d := &docsFolder{made: need.Files(t, map[string]string{
		"testdata": "-> " + data, "examples": "-> " + filepath.Join(filepath.Dir(data), "examples"),
		"points": "-> " + filepath.Join(data, "points"), "tfrecords": "-> " + filepath.Join(data, "tfrecords"), "ofrecords": "-> " + filepath.Join(data, "ofrecords"), "saved": "-> " + filepath.Join(data, "saved"), "shapes.cbors": "-> " + filepath.Join(data, "shapes.cbors"),
		"shards-000.tgz": "-> " + filepath.Join(data, "tars", "shards-000.tgz"),
		"pairs/a.jpg":    "a picture", "described/a.jpg": "a picture", "described/a.png": "its mask", "pairs/a.png": "its mask", "captions.csv": "key,caption\na,a cat\n",
		"described/metadata.jsonl": `{"file_name": "a.jpg", "mask_file_name": "a.png"}` + "\n", "lines.jsonl": `{"a": [1]}` + "\n",
		"images":          "\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x0112",
		"labels":          "\x00\x00\x08\x01\x00\x00\x00\x02\x07\x08",
		"images.parquet":  parquettest.TwoImages(),
		"webdataset.yaml": "dataset:\n  - shards: gs://images/train-{000000..000001}.tar\n    scaleprob: 0.3\n  - shards: gs://images/train-000002.tar\n    extensions: json cls\n    scale: [0.4, 1.0]\n",
		"oneflow.yaml":    "random_shuffle: true\nrandom_seed: -1\nshuffle_buffer_size: 1024\ndataset:\n  - format: csv\n    shards: points/\n    options: {data-part-num: 4, part-name-prefix: part-, part-name-suffix-length: -1}\n",
		"list.txt":        "shards-000.tar\nshards-{001..002}.tar\n", "recipe.txt": "one.jpg circle/000.jpg\none.cls text:3\n",
	})}
	for i := range 10 {
		name := fmt.Sprintf("shards-%03d.tar", i)
		if err := os.Symlink(filepath.Join(data, name), filepath.Join(d.made, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"photos", "imagenet/train", "imagenet/val"} {
		if err := os.CopyFS(filepath.Join(d.made, dir), os.DirFS(filepath.Join(data, "shapes"))); err != nil {
			t.Fatal(err)
		}
	}
	d.services(t)
	for _, line := range []string{
		"gzip images labels", "ffconvert tar -q shards-00[0-3].tar out", "ffconvert folder -q photos more", "ffconvert pack -q photos images.ffr", "ffconvert export msgpack out - >stream.mp",
		"(cd photos/circle && tar -cf ../../circle.tar *.jpg) && tar -cf nested.tar circle.tar && rm circle.tar",
		`(echo key,cls; ffconvert ls more | sed 's/^ *[0-9]* *//;s/ .*//;s/$/.jpg,1/') >cls.csv`,
		`ffconvert ls --format json out | head -n 12 | sed 's/"size"/"source":{"a":[1]},"size"/' >labels.jsonl`,
	} {
		d.run(t, d.made, line)
	}
	return d
}

// services starts an S3 server, an AIStore, which stands in for Google's storage, too, and a web server.
func (d *docsFolder) services(t *testing.T) {
	t.Helper()
	s3, ais := versitygw.Start(t), aisfake.Start(t)
	for name, provider := range map[string]string{"bucket": "aws", "images": "gcp", "shards": "ais"} {
		ais.Bucket(name, aisfake.Bucket{Provider: provider, Checksum: true})
	}
	for i := range 10 {
		file, key := filepath.Join(d.made, fmt.Sprintf("shards-%03d.tar", i)), fmt.Sprintf("train-%06d.tar", i)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"bucket", "images", "shards"} {
			ais.Put(name, key, data)
		}
		s3.Put(t, "bucket", key, file)
	}
	web := httptest.NewServer(http.FileServer(http.Dir(d.made)))
	t.Cleanup(web.Close)
	d.path = filepath.Dir(need.Program(t)) + ":/usr/bin:" + os.Getenv("PATH")
	d.env = append(os.Environ(), "AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"NO_GCE_CHECK=true", "GCE_METADATA_HOST=127.0.0.1:1", "GOOGLE_APPLICATION_CREDENTIALS=", "HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=*") // nothing but this machine
	d.env = append(append(d.env, s3.Env()...), "PATH="+d.path, "FFCONVERT="+need.Program(t), "PYTHONPATH="+filepath.Dir(scriptsIn(t, filepath.Join("..", "..", "python", "ffconvert"))), "AIS_ENDPOINT="+ais.URL, "USE_AIS_FOR=gs", "GOPEN_REWRITE=http://host/="+web.URL+"/")
}

// run runs a line of shell, and returns what it prints; no command in it may fail.
func (d *docsFolder) run(t *testing.T, dir, line string) (out, errOut []byte) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-ec", line)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, d.env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("%s: %v\n%s%s", line, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes(), stderr.Bytes()
}

// fresh returns a folder of its own with all files.
func (d *docsFolder) fresh(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	entries, err := os.ReadDir(d.made)
	for _, e := range entries {
		from, to := filepath.Join(d.made, e.Name()), filepath.Join(dir, e.Name())
		if e.IsDir() { // a command may write into it
			err = errors.Join(err, os.CopyFS(to, os.DirFS(from)))
		} else {
			err = errors.Join(err, os.Symlink(from, to))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
