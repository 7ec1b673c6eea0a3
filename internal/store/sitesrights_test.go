package store

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// What a user lacks is told in a line, and what it does not need for an upload is not asked for.
func TestSitesRights(t *testing.T) {
	const user, secret = "AKIAWRITERTEST", "secret-of-the-writer"
	gateway, minio := versitygw.Start(t), testserver.MinIO().Start(t)
	versitygw.User(t, gateway, user, secret)
	all := []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}
	without := func(right string) (rights []string) {
		for _, r := range all {
			if r != right {
				rights = append(rights, r)
			}
		}
		return rights
	}
	list := []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"}
	for _, server := range []struct {
		name      string
		s         *testserver.Server
		user      string
		anonymous bool
	}{{"versitygw", gateway, user, false}, {"minio, without credentials", minio, "*", true}} {
		for _, row := range []struct {
			name                    string
			grant                   testserver.Grant
			put, list, read, remove error
		}{
			{name: "all", grant: testserver.Grant{Bucket: list, Objects: all}},
			{name: "no put", grant: testserver.Grant{Bucket: list, Objects: without("s3:PutObject")}, put: ErrDenied},
			{name: "no list", grant: testserver.Grant{Objects: all}, list: ErrDenied},
			{name: "no get", grant: testserver.Grant{Bucket: list, Objects: without("s3:GetObject")}, read: ErrDenied},
			{name: "no delete", grant: testserver.Grant{Bucket: list, Objects: without("s3:DeleteObject")}, remove: ErrDenied},
			{name: "put alone", grant: testserver.Grant{Objects: []string{"s3:PutObject"}}, list: ErrDenied, read: ErrDenied, remove: ErrDenied},
		} {
			t.Run(server.name+"/"+row.name, func(t *testing.T) {
				bucket := "rights-" + strings.ReplaceAll(row.name, " ", "-")
				server.s.Bucket(t, bucket)
				row.grant.User = server.user
				server.s.Allow(t, bucket, row.grant)
				env := envOf(server.s.Env())
				env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"] = user, secret
				c := client(t, Options{LookupEnv: environment(env), Anonymous: server.anonymous, part: smallPart, wait: time.Millisecond})
				root := client(t, Options{LookupEnv: environment(envOf(server.s.Env()))})
				url := "s3://" + bucket + "/object"
				check := func(what string, err, want error) {
					t.Helper()
					if err := presentable(t, err); !errors.Is(err, want) || want != nil && !strings.Contains(err.Error(), "s3://"+bucket) {
						t.Errorf("%s: %v, want %v", what, err, want)
					}
				}
				for _, n := range []int{1000, smallPart + 1000} {
					_, err := putTold(t, c, url, random(n, 1), true)
					check("put", err, row.put)
					if err == nil {
						_, err = putTold(t, c, url, random(n, 2), false)
						check("put again", err, row.put)
					}
					if _, there := root.Stat(t.Context(), url); (there == nil) != (row.put == nil) {
						t.Errorf("put: %v, and then %v", err, there)
					}
					must(t, root.Remove(t.Context(), Object{URL: url}))
				}
				for p, err := range root.Pending(t.Context(), "s3://"+bucket+"/") {
					t.Errorf("parts stay: %+v, %v", p, err)
				}
				_, err := putTold(t, root, url, []byte("there"), false)
				must(t, err)
				o, err := root.Stat(t.Context(), url)
				must(t, err)
				check("read", c.Read(t.Context(), o, make([]byte, 5), 0), row.read)
				var listing error
				for _, listing = range c.List(t.Context(), "s3://"+bucket+"/") {
				}
				check("list", listing, row.list)
				for _, listing = range c.Pending(t.Context(), "s3://"+bucket+"/") {
				}
				check("pending", listing, row.list)
				check("remove", c.Remove(t.Context(), Object{URL: url}), row.remove)
			})
		}
	}
}

// Credentials that are wrong, and a bucket that there is none of, are told in a line, without a secret.
func TestSitesRefused(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		good := envOf(s.envAt(s.address))
		for _, row := range []struct {
			name, bucket string
			change       map[string]string
			want         error
		}{
			{"no bucket", "no-such-bucket", nil, ErrNotFound},
			{"secret", bucketName, map[string]string{"AWS_SECRET_ACCESS_KEY": password}, ErrDenied},
			{"key", bucketName, map[string]string{"AWS_ACCESS_KEY_ID": "AKIANOBODY", "AWS_SECRET_ACCESS_KEY": password}, ErrDenied},
		} {
			if row.change != nil && (s.scheme != "s3" || s.name == "gofakes3") {
				continue // they ask for none
			}
			env := maps.Clone(good)
			maps.Copy(env, row.change)
			c := client(t, Options{LookupEnv: environment(env), part: smallPart, wait: time.Millisecond})
			for _, n := range []int{1000, smallPart + 1000} {
				for _, isNew := range []bool{false, true} {
					url := s.scheme + "://" + row.bucket + "/refused/object"
					if _, err := putTold(t, c, url, random(n, 1), isNew); !errors.Is(err, row.want) || errors.Is(err, ErrNotFound) && !strings.Contains(err.Error(), "bucket") {
						t.Errorf("%s: put %d bytes: %v, want %v", row.name, n, err, row.want)
					}
					if err := presentable(t, c.Remove(t.Context(), Object{URL: url})); !errors.Is(err, row.want) && s.scheme == "s3" { // the fake of Google's does not look
						t.Errorf("%s: remove: %v, want %v", row.name, err, row.want)
					}
				}
			}
			for p, err := range c.Pending(t.Context(), s.scheme+"://"+row.bucket+"/") {
				if err := presentable(t, err); !errors.Is(err, row.want) {
					t.Errorf("%s: pending: %+v, %v, want %v", row.name, p, err, row.want)
				}
			}
		}
		s.nothing(t, "refused/")
	})
}

// A full disk is told as such, leaves nothing of the object, and the upload succeeds when there is room.
func TestSitesFull(t *testing.T) {
	testserver.NeedDisk(t)
	for name, kind := range map[string]testserver.S3{"versitygw": versitygw.Kind(), "minio": testserver.MinIO()} {
		t.Run(name, func(t *testing.T) {
			kind.Disk = "48m"
			server := kind.Start(t)
			server.Bucket(t, bucketName)
			s := &site{name, "s3", server.Address, server.EnvAt, server.Client, true}
			c := s.client(t, nil)
			_, err := putTold(t, c, s.url("first"), random(20<<20, 1), true)
			must(t, err)
			for _, n := range []int{30 << 20, 100 << 20} {
				_, err = putTold(t, c, s.url("full/second"), random(n, 2), true)
				if !errors.Is(err, ErrFull) {
					t.Errorf("%d bytes: %v, want %v", n, err, ErrFull)
				}
				s.nothing(t, "full/")
			}
			must(t, c.Remove(t.Context(), Object{URL: s.url("first")}))
			data := random(12<<20, 3)
			if name == "minio" {
				return // what was removed takes room for minutes
			}
			if _, err = putTold(t, c, s.url("full/second"), data, true); err != nil {
				t.Fatal("there is room now: ", err)
			}
			s.holds(t, "full/second", data)
		})
	}
}

// envOf makes a map of NAME=value.
func envOf(list []string) map[string]string {
	env := map[string]string{}
	for _, v := range list {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	return env
}
