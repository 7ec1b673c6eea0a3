package remote

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Client reads objects. Its methods may be called concurrently.
type Client struct {
	opts Options
	hc   *http.Client

	slots slots // of all objects together

	mu     sync.Mutex
	stores map[string]store // by service, made when they are first needed
}

// New makes a client. Nothing is asked, or looked up, before an object is.
func New(opts Options) *Client {
	return &Client{opts: opts, hc: newHTTPClient(opts), slots: newSlots(opts.connections()), stores: make(map[string]store)}
}

// Close lets go of connections that are kept for the next request. The client may be used
// again.
func (c *Client) Close() { c.hc.CloseIdleConnections() }

// Connections is how many ranges are fetched at once, of all objects together.
func (c *Client) Connections() int { return cap(c.slots) }

// services are the makers of stores by scheme.
var services = map[string]func(opts Options, hc *http.Client) (store, error){
	"http": newHTTP, "https": newHTTP, "s3": newS3, "gs": newGS, "ais": newAIS,
}

// Supports tells the schemes whose objects a Client reads, such as "https".
func Supports(scheme string) bool { return services[strings.ToLower(scheme)] != nil }

// store finds who serves url.
func (c *Client) store(url string) (store, error) {
	service := schemeOf(url)
	if services[service] == nil {
		return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf("no such scheme"), Hint: "http, https, s3, gs, ais"}
	}
	if slices.Contains(c.opts.ais(), service) {
		service = "ais"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.stores[service]; s != nil {
		return s, nil
	}
	s, err := services[service](c.opts, c.hc)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok && e.URL == "" {
			e.URL = Redact(url)
		}
		return nil, err
	}
	c.stores[service] = s
	return s, nil
}

// ais are the schemes that an AIStore serves in place of their own services.
func (o Options) ais() []string {
	if o.AIS != nil {
		return o.AIS
	}
	schemes, _ := o.lookupEnv("USE_AIS_FOR") // of webdataset: gs:s3
	return strings.FieldsFunc(schemes, func(r rune) bool { return r == ':' || r == ',' || r == ' ' })
}
