package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A gsUploads is the writing side of a fakeGoogle, made up from the documentation, too.
type gsUploads struct {
	*fakeGoogle
	server *httptest.Server

	// before and after may answer in place of the service; true: it has. n counts the requests of that kind
	// (WHOLE, BEGIN, PIECE, QUERY, DELETE, END, GET) from 0. after is called when the service has acted.
	before, after func(w http.ResponseWriter, r *http.Request, kind string, n int) bool
	keep          int // most bytes of a piece that are kept; 0: all

	mu       sync.Mutex
	sessions map[string]*gsSessionState
	counts   map[string]int
	log      []string
}

type gsSessionState struct {
	name, crc string
	isNew     bool
	data      []byte
}

func newGSUploads(t *testing.T) *gsUploads {
	g := &gsUploads{fakeGoogle: newFakeGoogle(t), sessions: map[string]*gsSessionState{}, counts: map[string]int{}}
	g.server = start(t, http.HandlerFunc(g.serve))
	return g
}

func (g *gsUploads) client(t *testing.T, opts Options, vars map[string]string) *Client {
	env := map[string]string{"STORAGE_EMULATOR_HOST": hostOf(t, g.server.URL)}
	maps.Copy(env, vars)
	opts.LookupEnv = environment(env)
	if opts.part == 0 {
		opts.part = 1000
	}
	return client(t, opts)
}

func (g *gsUploads) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	kind := r.Method
	switch {
	case q.Get("uploadType") == "multipart":
		kind = "WHOLE"
	case r.Method == http.MethodPost:
		kind = "BEGIN"
	case r.Method == http.MethodPut && strings.HasPrefix(r.Header.Get("Content-Range"), "bytes */"):
		kind = "QUERY"
	case r.Method == http.MethodPut:
		kind = "PIECE"
	case q.Has("upload_id"):
		kind = "END"
	}
	g.mu.Lock()
	n := g.counts[kind]
	g.counts[kind]++
	g.log = append(g.log, kind)
	g.mu.Unlock()
	if g.before != nil && g.before(w, r, kind, n) {
		return
	}
	rec := httptest.NewRecorder()
	if kind == "GET" {
		g.fakeGoogle.ServeHTTP(rec, r)
	} else {
		g.act(rec, r, kind)
	}
	if g.after != nil && g.after(w, r, kind, n) {
		return
	}
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes())
}

func refuseGS(w http.ResponseWriter, status int, message string) {
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"code": status, "message": message}})
}

func (g *gsUploads) act(w http.ResponseWriter, r *http.Request, kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.fakeGoogle.mu.Lock()
	defer g.fakeGoogle.mu.Unlock()
	q := r.URL.Query()
	var resource struct{ Name, Crc32c string }
	id := q.Get("upload_id")
	if s := g.sessions[id]; id != "" && s == nil {
		refuseGS(w, 410, "gone")
		return
	}
	switch kind {
	case "DELETE":
		name, _ := url.PathUnescape(r.URL.EscapedPath()[strings.Index(r.URL.EscapedPath(), "/o/")+3:])
		if o, ok := g.objects[name]; !ok {
			refuseGS(w, 404, "No such object: train-data/"+name)
		} else if v := q.Get("ifGenerationMatch"); v == "" || v == fmt.Sprint(o.generation) {
			delete(g.objects, name)
			w.WriteHeader(http.StatusNoContent)
		} else {
			refuseGS(w, 412, "another generation")
		}
	case "WHOLE":
		_, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		parts := multipart.NewReader(r.Body, params["boundary"])
		head, err := parts.NextPart()
		if err != nil {
			return
		}
		json.NewDecoder(head).Decode(&resource)
		part, err := parts.NextPart()
		if err != nil {
			return
		}
		data, err := io.ReadAll(part)
		if err == nil {
			g.make(w, &gsSessionState{resource.Name, resource.Crc32c, q.Get("ifGenerationMatch") == "0", data})
		}
	case "BEGIN":
		json.NewDecoder(r.Body).Decode(&resource)
		if _, there := g.objects[resource.Name]; there && q.Get("ifGenerationMatch") == "0" {
			refuseGS(w, 412, "it is there")
			return
		}
		id := fmt.Sprint("session-", g.counts[kind])
		g.sessions[id] = &gsSessionState{name: resource.Name, crc: resource.Crc32c, isNew: q.Get("ifGenerationMatch") == "0"}
		w.Header().Set("Location", "http://elsewhere.example/upload/storage/v1/b/train-data/o?uploadType=resumable&upload_id="+id)
	case "QUERY", "PIECE":
		g.piece(w, r, id)
	case "END":
		delete(g.sessions, id)
		w.WriteHeader(499)
	}
}

func (g *gsUploads) piece(w http.ResponseWriter, r *http.Request, id string) {
	s := g.sessions[id]
	if o, ok := g.objects[s.name]; ok && s.crc == o.crc() && len(s.data) == len(o.data) { // it is complete
		json.NewEncoder(w).Encode(o.resource(s.name))
		return
	}
	var from, to, size int
	fmt.Sscanf(r.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size)
	data, _ := io.ReadAll(r.Body) // of what was cut, too
	if size > 0 && from != len(s.data) {
		refuseGS(w, 400, "not from where it ends")
		return
	}
	if g.keep > 0 {
		data = data[:min(g.keep, len(data))]
	}
	if s.data = append(s.data, data...); size > 0 && len(s.data) == size {
		g.make(w, s)
		return
	}
	if len(s.data) > 0 {
		w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", len(s.data)-1))
	}
	w.WriteHeader(http.StatusPermanentRedirect)
}

func (g *gsUploads) make(w http.ResponseWriter, s *gsSessionState) {
	old, there := g.objects[s.name]
	o := fakeObject{data: s.data, generation: old.generation + 1}
	switch {
	case s.isNew && there:
		refuseGS(w, 412, "it is there")
	case s.crc != o.crc():
		refuseGS(w, 400, "Provided CRC32C \"x\" doesn't match calculated CRC32C \"y\".")
	default:
		g.objects[s.name] = o
		json.NewEncoder(w).Encode(o.resource(s.name))
	}
}

const gsPutURL = "gs://train-data/out/a #1+.ffr"
const gsPutName = "out/a #1+.ffr"

func TestGSPut(t *testing.T) {
	is := func(kinds ...string) func(kind string, n int) bool {
		return func(kind string, n int) bool { return slices.Contains(kinds, kind) }
	}
	writes := is("WHOLE", "BEGIN", "PIECE")
	refuse := func(status int, text string, when func(kind string, n int) bool) func(http.ResponseWriter, *http.Request, string, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, kind string, n int) bool {
			if when(kind, n) {
				refuseGS(w, status, text)
				return true
			}
			return false
		}
	}
	first := func(when func(string, int) bool) func(string, int) bool {
		return func(kind string, n int) bool { return n == 0 && when(kind, n) }
	}
	for _, row := range []struct {
		name          string
		before, after func(w http.ResponseWriter, r *http.Request, kind string, n int) bool
		keep          int
		sizes         []int // nil: 700 and 9500
		old, isNew    bool
		wrong         error
		text          string
		opts          Options
	}{
		{name: "good", sizes: []int{0, 1, 1000, 1001, 4000, 4001, 8000, 12345}},
		{name: "good, new", isNew: true},
		{name: "over another", old: true},
		{name: "exists", old: true, isNew: true, wrong: ErrExists},
		{name: "appears", isNew: true, wrong: ErrExists, before: refuse(412, "it is there", is("WHOLE", "PIECE"))},
		{name: "keeps less than it is sent", keep: 600, sizes: []int{9500}},
		{name: "busy", before: refuse(503, "Service Unavailable", first(writes))},
		{name: "too many", before: refuse(429, "slow down", first(writes))},
		{name: "replies lost", isNew: true, after: func(w http.ResponseWriter, _ *http.Request, kind string, n int) bool {
			return n%2 == 0 && writes(kind, n) && lose(w)
		}},
		{name: "cut while it sends", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if n < 2 && (kind == "WHOLE" || kind == "PIECE") {
				io.CopyN(io.Discard, r.Body, 300)
				return lose(w)
			}
			return false
		}},
		{name: "the session ends", sizes: []int{9500}, before: refuse(410, "gone", func(kind string, n int) bool { return kind == "PIECE" && n == 1 })},
		{name: "the session is gone with the last reply", sizes: []int{3500},
			after: func(w http.ResponseWriter, _ *http.Request, kind string, _ int) bool {
				return kind == "PIECE" && lose(w)
			},
			before: refuse(404, "gone", is("QUERY"))},
		{name: "no session lasts", sizes: []int{9500}, wrong: ErrUnavailable, text: "11 attempts in a row: it has ended the upload",
			before: refuse(404, "gone", is("PIECE"))},
		{name: "a query ends the session", sizes: []int{9500}, before: func(w http.ResponseWriter, _ *http.Request, kind string, n int) bool {
			busy := kind == "PIECE" && n < 5
			if busy {
				refuseGS(w, 503, "Service Unavailable")
			} else if kind == "QUERY" {
				refuseGS(w, 404, "gone")
			}
			return busy || kind == "QUERY"
		}},
		{name: "damaged on the way", before: refuse(400, "Provided CRC32C \"x\" doesn't match calculated CRC32C \"y\".", first(is("WHOLE", "PIECE")))},
		{name: "denied", wrong: ErrDenied, before: refuse(403, "you@project does not have storage.objects.create access", writes)},
		{name: "quota", wrong: ErrFull, text: "run again when there is room", before: refuse(403, "The quota of the project is used up", writes)},
		{name: "507", wrong: ErrFull, before: refuse(507, "full", writes)},
		{name: "a login", wrong: ErrPage, before: func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
			return true
		}},
		{name: "huge JSON", wrong: ErrUnavailable, opts: Options{Retries: 1}, before: func(w http.ResponseWriter, _ *http.Request, kind string, _ int) bool {
			if kind == "WHOLE" || kind == "PIECE" {
				io.WriteString(w, `{"name":"`+strings.Repeat("x", maxAnswer)+`"}`)
				return true
			}
			return false
		}},
		{name: "no service", wrong: ErrUnavailable, opts: Options{Retries: 1}, before: func(w http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
			io.WriteString(w, "{}")
			return true
		}},
		{name: "says that it has more", sizes: []int{9500}, wrong: ErrLength, before: func(w http.ResponseWriter, _ *http.Request, kind string, _ int) bool {
			if kind == "PIECE" {
				w.Header().Set("Range", "bytes=0-9400")
				w.WriteHeader(308)
				return true
			}
			return false
		}},
		{name: "never takes the last byte", sizes: []int{9500}, wrong: ErrUnavailable, opts: Options{Retries: 3}, before: func(w http.ResponseWriter, r *http.Request, kind string, _ int) bool {
			if kind == "PIECE" || kind == "QUERY" {
				_, end, _, _ := contentRange(r.Header.Get("Content-Range"))
				if end < 0 {
					end = 9500
				}
				w.Header().Set("Range", fmt.Sprintf("bytes=0-%d", end-1))
				w.WriteHeader(308)
				return true
			}
			return false
		}},
		{name: "another checksum comes back", wrong: ErrSum, opts: Options{Retries: 1}, after: func(w http.ResponseWriter, _ *http.Request, kind string, _ int) bool {
			if kind == "WHOLE" || kind == "PIECE" {
				io.WriteString(w, `{"generation":"1","size":"1","crc32c":"AAAAAA=="}`)
				return true
			}
			return false
		}},
	} {
		sizes := row.sizes
		if sizes == nil {
			sizes = []int{700, 9500}
		}
		for _, size := range sizes {
			t.Run(fmt.Sprint(row.name, " ", size), func(t *testing.T) {
				t.Parallel()
				g := newGSUploads(t)
				g.before, g.after, g.keep = row.before, row.after, row.keep
				var want []byte
				if row.old {
					want = []byte("old")
					g.put(t, gsPutName, "old")
				}
				data := random(size, uint64(size))
				o, err := putAll(t, g.client(t, row.opts, nil), gsPutURL, data, row.isNew)
				if row.wrong == nil {
					want = data
				}
				if !errors.Is(err, row.wrong) || row.wrong == nil && err != nil {
					t.Fatalf("%v: %v", err, strings.Join(g.log, " "))
				}
				if err != nil && !strings.Contains(err.Error(), row.text) {
					t.Error(err)
				}
				if sum := (Sum{"crc32c", hex.EncodeToString(sumOf("crc32c", string(data)))}); err == nil && o.Sum != sum {
					t.Errorf("%+v", o)
				}
				g.mu.Lock()
				defer g.mu.Unlock()
				if o, there := g.objects[gsPutName]; there != (want != nil) || there && !bytes.Equal(o.data, want) {
					t.Errorf("there: %v, %d bytes", there, len(o.data))
				}
				if err != nil && len(g.sessions) > 0 {
					t.Errorf("%d sessions are left", len(g.sessions))
				}
			})
		}
	}
}

func TestGSPutCancelled(t *testing.T) {
	g := newGSUploads(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	g.before = func(_ http.ResponseWriter, _ *http.Request, kind string, n int) bool {
		if kind == "PIECE" && n == 1 {
			cancel(errors.New("enough"))
		}
		return false
	}
	_, err := g.client(t, Options{}, nil).Put(ctx, &Upload{URL: gsPutURL, From: bytes.NewReader(random(9500, 1)), Size: 9500})
	if err == nil || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.sessions) != 0 || len(g.objects) != 0 {
		t.Errorf("%d sessions, %d objects are left", len(g.sessions), len(g.objects))
	}
}

// Neither the token nor bytes follow to another host.
func TestGSPutRedirected(t *testing.T) {
	other := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	g := newGSUploads(t)
	g.before = func(w http.ResponseWriter, r *http.Request, _ string, _ int) bool {
		http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		return true
	}
	for _, size := range []int{700, 9500} {
		if _, err := putAll(t, g.client(t, Options{}, nil), gsPutURL, random(size, 1), false); !errors.Is(err, ErrRedirect) {
			t.Error(err)
		}
	}
}

func TestGSRemove(t *testing.T) {
	g := newGSUploads(t)
	g.put(t, gsPutName, "text")
	c := g.client(t, Options{}, nil)
	for range 2 {
		must(t, c.Remove(t.Context(), Object{URL: gsPutURL}))
	}
	if len(g.objects) != 0 {
		t.Error("it is there")
	}
}

// Tokens for writing are asked for when something is written, and not before.
func TestGSWritingScope(t *testing.T) {
	var scopes []string
	accounts := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scopes = append(scopes, r.URL.Query().Get("scopes"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600,"token_type":"Bearer"}`, googleToken)
	}))
	g := newGSUploads(t)
	g.token = googleToken
	g.put(t, gsPutName, "text")
	t.Setenv("GCE_METADATA_HOST", hostOf(t, accounts.URL)) // the library's own
	env := environment(map[string]string{"NO_GCE_CHECK": "", "GCE_METADATA_HOST": hostOf(t, accounts.URL)})
	c := client(t, Options{LookupEnv: env})
	s, err := newGS(Options{LookupEnv: env}, c.hc)
	must(t, err)
	s.(*gsStore).endpoint = g.server.URL
	c.made["gs"] = s
	_, err = c.Stat(t.Context(), gsPutURL)
	must(t, err)
	if got := strings.Join(scopes, " "); strings.Contains(got, gsWriting) || !strings.Contains(got, gsReading) {
		t.Error(got)
	}
	_, err = putAll(t, c, gsPutURL, []byte("other"), false)
	must(t, err)
	if got := strings.Join(scopes, " "); !strings.Contains(got, gsWriting) {
		t.Error(got)
	}
}
