package testproxy

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Far starts a proxy that a service seems to lie behind a round trip away: what a client sends, and its connection, come
// that much later. It passes bytes on as they are, with little work. It runs until the test ends.
func Far(t testing.TB, service string, roundTrip time.Duration) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	t.Cleanup(work.Wait)
	t.Cleanup(func() { listener.Close() })
	work.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer client.Close()
				time.Sleep(roundTrip)
				server, err := net.Dial("tcp", service)
				if err != nil {
					return
				}
				defer server.Close()
				work.Go(func() {
					defer client.Close() // and so the other direction ends
					io.Copy(client, server)
				})
				sendLater(server, client, roundTrip)
			})
		}
	})
	return listener.Addr().String()
}

// sendLater passes on what is read, each time a time later.
func sendLater(to io.Writer, from io.Reader, later time.Duration) {
	var data [64 << 10]byte
	for {
		n, err := from.Read(data[:])
		if err != nil {
			return
		}
		time.Sleep(later)
		if _, err := to.Write(data[:n]); err != nil {
			return
		}
	}
}
