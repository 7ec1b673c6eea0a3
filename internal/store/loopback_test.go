package store

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

// noMachine keeps the libraries from looking for the machine's own role.
var noMachine = map[string]string{"AWS_EC2_METADATA_DISABLED": "true", "NO_GCE_CHECK": "true"}

// environment is a LookupEnv of nothing but vars and noMachine.
func environment(vars map[string]string) func(string) (string, bool) {
	all := maps.Clone(noMachine)
	maps.Copy(all, vars)
	return func(key string) (string, bool) {
		v, ok := all[key]
		return v, ok
	}
}

// loopbackClient is the client of a Client, but for one thing: it fails the test that wants to
// leave this machine, be it for a name service or for the address of a machine's metadata.
// What other addresses a test needs it leads to elsewhere.
func loopbackClient(t *testing.T, elsewhere map[string]string) *http.Client {
	t.Helper()
	var mu sync.Mutex
	over := false
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	})
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	base := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			if to, ok := elsewhere[addr]; ok {
				addr = to
			}
			host, _, err := net.SplitHostPort(addr)
			if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
				mu.Lock()
				defer mu.Unlock()
				if !over {
					t.Errorf("a connection to %s", addr)
				}
				return nil, fmt.Errorf("the test refuses to connect to %s", addr)
			}
			return dialer.DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: base, CheckRedirect: redirect}
}

// hostOf is the host:port of a server's URL.
func hostOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// objectsOf is the list of a store, which is asked once for each page.
func objectsOf(ctx context.Context, s service, prefix string) iter.Seq2[Object, error] {
	c := New(Options{Retries: -1})
	c.made[schemeOf(prefix)] = s
	return c.List(ctx, prefix)
}

func s3StoreOf(opts Options, hc *http.Client) (*s3Store, error) {
	s, err := newS3(opts, hc)
	if err != nil {
		return nil, err
	}
	return s.(*s3Store), nil
}
