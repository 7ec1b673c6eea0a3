package testserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A Google is a running fake-gcs-server, without credentials. Its objects are in memory.
type Google struct{ *Process }

// StartGoogle starts a server that runs until the test ends. The test is skipped if the program is missing.
func StartGoogle(t testing.TB) *Google {
	t.Helper()
	Need(t, installGoogle)
	p, err := Run(installGoogle, func(program, address string) *exec.Cmd {
		host, port, _ := net.SplitHostPort(address)
		return exec.Command(program, "-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-log-level", "warn")
	}, func(address string) error {
		_, err := exchange(http.MethodGet, "http://"+address+"/storage/v1/b?project=test", nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return &Google{p}
}

// exchange sends a request and returns the body of the reply. Its error is of a reply without success, too.
func exchange(method, address string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequest(method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := readAll(resp.Body, resp.ContentLength)
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s: %s %s", method, address, resp.Status, text)
	}
	return text, err
}

// Bucket makes a bucket.
func (g *Google) Bucket(t testing.TB, bucket string) {
	t.Helper()
	_, err := exchange(http.MethodPost, "http://"+g.Address+"/storage/v1/b?project=test", strings.NewReader(fmt.Sprintf(`{"name":%q}`, bucket)))
	if err != nil {
		t.Fatal(err)
	}
}

// Put makes an object of a file in a bucket that there is.
func (g *Google) Put(t testing.TB, bucket, name, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		address := fmt.Sprintf("http://%s/upload/storage/v1/b/%s/o?uploadType=media&name=%s", g.Address, bucket, url.QueryEscape(name))
		_, err = exchange(http.MethodPost, address, bytes.NewReader(data))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Env returns the environment variables that lead a client to this server, and to nothing else.
func (g *Google) Env() []string { return g.EnvAt(g.Address) }

// EnvAt is Env with another host:port, such as a proxy's.
func (g *Google) EnvAt(address string) []string {
	return []string{"STORAGE_EMULATOR_HOST=" + address, "NO_GCE_CHECK=true"}
}

// Objects returns the bytes of all objects below a prefix, by what follows it in their names.
func (g *Google) Objects(bucket, prefix string) (map[string][]byte, error) {
	base := "http://" + g.Address + "/storage/v1/b/" + bucket + "/o"
	text, err := exchange(http.MethodGet, base+"?prefix="+url.QueryEscape(prefix), nil)
	if err != nil {
		return nil, err
	}
	var page struct {
		Items []struct{ Name string }
		Next  string `json:"nextPageToken"`
	}
	if err := json.Unmarshal(text, &page); err != nil || page.Next != "" {
		return nil, fmt.Errorf("not one page of a list: %s %w", text, err)
	}
	all := map[string][]byte{}
	for _, o := range page.Items {
		if all[strings.TrimPrefix(o.Name, prefix)], err = exchange(http.MethodGet, base+"/"+url.PathEscape(o.Name)+"?alt=media", nil); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Remove removes an object.
func (g *Google) Remove(bucket, name string) error {
	_, err := exchange(http.MethodDelete, "http://"+g.Address+"/storage/v1/b/"+bucket+"/o/"+url.PathEscape(name), nil)
	return err
}
