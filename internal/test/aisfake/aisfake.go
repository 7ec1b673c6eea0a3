// Package aisfake serves HEAD and GET of objects and lists on loopback as AIStore does, by its
// documentation and its source. Like a cluster it reports different properties for its own buckets
// and for buckets of a cloud, and more after an object was read once. Only tests import it.
//
//	ais := aisfake.Start(t)
//	ais.Bucket("train", aisfake.Bucket{Versions: true, Checksum: true})
//	ais.Put("train", "000.tar", data)
package aisfake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// A Bucket selects the properties that the server reports for objects. The zero value is their names
// and sizes only.
type Bucket struct {
	Provider string // "" means ais
	Versions bool   // a number that starts at 1 for a new object
	Checksum bool   // xxhash; for a bucket of a cloud, after the object was read once
	ETag     bool
	Modified bool
}

// A Server is a running server. Its methods may be called concurrently.
type Server struct {
	*httptest.Server

	mu      sync.Mutex
	buckets map[string]*bucket // by provider and name
	now     time.Time          // of the next Put
}

type bucket struct {
	Bucket
	objects map[string]*object
}

type object struct {
	data     []byte
	version  int
	modified time.Time
	read     bool
}

// Start starts a server, which stops at the end of the test, and sets AIS_ENDPOINT to its URL.
func Start(t testing.TB) *Server {
	s := &Server{buckets: make(map[string]*bucket), now: time.Unix(1_700_000_000, 0)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Bucket creates an empty bucket.
func (s *Server) Bucket(name string, b Bucket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.Provider == "" {
		b.Provider = "ais"
	}
	s.buckets[b.Provider+"/"+name] = &bucket{b, make(map[string]*object)}
}

// Pass advances the clock for the times of later objects.
func (s *Server) Pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// Put stores an object in the bucket of a name. No two providers may have a bucket of that name.
func (s *Server) Put(name, key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bucket(name)
	o := &object{data: data, version: 1, modified: s.now}
	if before := b.objects[key]; before != nil {
		o.version = before.version + 1
	}
	b.objects[key] = o
}

// Delete removes an object.
func (s *Server) Delete(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.bucket(name).objects, key)
}

func (s *Server) bucket(name string) *bucket {
	for path, b := range s.buckets {
		if strings.HasSuffix(path, "/"+name) {
			return b
		}
	}
	panic("aisfake: no bucket " + name)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	name, key, _ := strings.Cut(path, "/")
	b := s.buckets[r.URL.Query().Get("provider")+"/"+name]
	switch {
	case b == nil:
		refuse(w, http.StatusNotFound, "bucket does not exist")
	case kind == "buckets":
		b.list(w, r)
	case kind == "objects" && b.objects[key] != nil:
		b.serve(w, r, b.objects[key])
	default:
		refuse(w, http.StatusNotFound, "object does not exist")
	}
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Hdr-Error", fmt.Sprintf(`{"message":%q,"status":%d}`, message, status))
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message":%q,"status":%d}`, message, status)
}

func (b *bucket) cloud() bool { return b.Provider != "ais" }

func (o *object) etag() string {
	h := fnv.New128a()
	h.Write(o.data)
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (o *object) sum() string { return fmt.Sprintf("%016x", xxhash.Sum64(o.data)) }

// serve answers HEAD and GET.
func (b *bucket) serve(w http.ResponseWriter, r *http.Request, o *object) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	if b.Versions {
		h.Set("Ais-Version", fmt.Sprint(o.version))
	}
	if b.Checksum && (!b.cloud() || o.read) && r.Header.Get("Range") == "" {
		h.Set("Ais-Checksum-Type", "xxhash")
		h.Set("Ais-Checksum-Value", o.sum())
	}
	if b.cloud() {
		h.Add("Ais-Custom-Md", "source="+b.Provider)
	}
	if b.ETag {
		h.Set("Etag", `"`+o.etag()+`"`)
		h.Add("Ais-Custom-Md", "ETag="+o.etag())
	}
	if b.Modified {
		h.Add("Ais-Custom-Md", "LastModified="+o.modified.UTC().Format(time.RFC3339))
	}
	o.read = o.read || r.Method == http.MethodGet
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(o.data))
}

// list answers with all objects with the prefix, on one page.
func (b *bucket) list(w http.ResponseWriter, r *http.Request) {
	var ask struct {
		Value struct{ Props, Prefix string }
	}
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	props := strings.Split(ask.Value.Props, ",")
	type entry struct {
		Name     string `json:"name"`
		Checksum string `json:"checksum,omitempty"`
		Version  string `json:"version,omitempty"`
		Custom   string `json:"custom-md,omitempty"`
		Size     int64  `json:"size,string,omitempty"`
	}
	all := []entry{}
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if !strings.HasPrefix(key, ask.Value.Prefix) {
			continue
		}
		o := b.objects[key]
		e := entry{Name: key, Size: int64(len(o.data))}
		if b.Versions && slices.Contains(props, "version") {
			e.Version = fmt.Sprint(o.version)
		}
		if b.Checksum && !b.cloud() && slices.Contains(props, "checksum") {
			e.Checksum = o.sum()
		}
		if slices.Contains(props, "custom") {
			e.Custom = b.custom(o)
		}
		all = append(all, e)
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"uuid": "list", "continuation_token": "", "entries": all, "flags": 0})
}

func (b *bucket) custom(o *object) string {
	var all []string
	if b.ETag {
		all = append(all, "ETag:"+o.etag())
	}
	if b.Modified {
		all = append(all, "LastModified:"+o.modified.UTC().Format(time.RFC3339))
	}
	return "[" + strings.Join(all, " ") + "]"
}
