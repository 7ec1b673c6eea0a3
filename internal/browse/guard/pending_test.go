package guard

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// Connections that send their headers slowly do not keep an honest request waiting.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := New(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	server := g.Server()
	server.ReadHeaderTimeout = time.Hour // they would stay, but for their number
	server.Handler = g.Wrap(http.NotFoundHandler())
	go server.Serve(Limit(l, Connections))
	defer server.Close()
	for range 200 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 3 {
		resp, err := client.Get("http://" + l.Addr().String() + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}
