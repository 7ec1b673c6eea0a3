package store

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fakeGoogle is a small server of the JSON API of Google Cloud Storage, made up from its
// documentation (https://cloud.google.com/storage/docs/json_api/v1), since the service itself
// cannot be run here: what these tests show is that we hold to what is written there.
type fakeGoogle struct {
	*httptest.Server
	token string // that requests must bear; "": none is needed

	mu      sync.Mutex
	objects map[string]fakeObject // of the bucket train-data
	asked   []string
}

type fakeObject struct {
	data       []byte
	generation int
	gzip       bool // contentEncoding
}

func newFakeGoogle(t *testing.T) *fakeGoogle {
	g := &fakeGoogle{objects: map[string]fakeObject{}}
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func (g *fakeGoogle) put(t *testing.T, name, text string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.objects[name] = fakeObject{data: []byte(text), generation: g.objects[name].generation + 1}
}

func (g *fakeGoogle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, r.URL.RequestURI())
	refuse := func(status int, message string) {
		if r.URL.Query().Get("alt") == "media" { // as the service does
			w.Header().Set("Content-Type", "text/html; charset=UTF-8")
			w.WriteHeader(status)
			fmt.Fprint(w, message)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message}})
	}
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/storage/v1/b/")
	bucket, rest, _ := strings.Cut(rest, "/o")
	switch {
	case !ok:
		refuse(http.StatusNotFound, "Not Found")
		return
	case g.token != "" && r.Header.Get("Authorization") == "":
		refuse(http.StatusUnauthorized, "Anonymous caller does not have storage.objects.get access to the Google Cloud Storage object.")
		return
	case g.token != "" && r.Header.Get("Authorization") != "Bearer "+g.token:
		refuse(http.StatusForbidden, "reader@project does not have storage.objects.get access to the Google Cloud Storage object.")
		return
	case bucket != "train-data":
		refuse(http.StatusNotFound, "The specified bucket does not exist.")
		return
	case rest == "":
		g.list(w, r.URL.Query())
		return
	}
	name, _ := url.PathUnescape(strings.TrimPrefix(rest, "/"))
	o, ok := g.objects[name]
	if !ok {
		refuse(http.StatusNotFound, "No such object: train-data/"+name)
		return
	}
	if r.URL.Query().Get("alt") != "media" {
		json.NewEncoder(w).Encode(o.resource(name))
		return
	}
	if want := r.URL.Query().Get("ifGenerationMatch"); want != "" && want != strconv.Itoa(o.generation) {
		refuse(http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
		return
	}
	w.Header().Set("X-Goog-Generation", strconv.Itoa(o.generation))
	w.Header().Set("X-Goog-Hash", "crc32c="+o.crc())
	w.Header().Set("Content-Type", "application/octet-stream")
	if o.gzip && !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		z, _ := gzip.NewReader(bytes.NewReader(o.data))
		var plain bytes.Buffer
		plain.ReadFrom(z)
		w.Write(plain.Bytes())
		return
	}
	if o.gzip {
		w.Header().Set("Content-Encoding", "gzip")
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(o.data))
}

func (g *fakeGoogle) list(w http.ResponseWriter, query url.Values) {
	var names []string
	for name := range g.objects {
		if strings.HasPrefix(name, query.Get("prefix")) && name > query.Get("pageToken") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	page := map[string]any{"kind": "storage#objects"}
	if most, _ := strconv.Atoi(query.Get("maxResults")); most > 0 && len(names) > most {
		names = names[:most]
		page["nextPageToken"] = names[most-1]
	}
	var items []any
	for _, name := range names {
		items = append(items, g.objects[name].resource(name))
	}
	if items != nil {
		page["items"] = items
	}
	json.NewEncoder(w).Encode(page)
}

func (o fakeObject) crc() string {
	return base64.StdEncoding.EncodeToString(sumOf("crc32c", string(o.data)))
}

func (o fakeObject) resource(name string) map[string]any {
	return map[string]any{
		"name": name, "size": strconv.Itoa(len(o.data)), "generation": strconv.Itoa(o.generation),
		"updated": "2024-05-06T07:08:09.123Z", "crc32c": o.crc(),
	}
}
