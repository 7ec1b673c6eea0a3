package testproxy

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
)

// Omit leaves a share of the entries out of each listing, by a seed: an entry that one listing has, the next may lack.
func Omit(seed uint64, share float64) func(n int, key string) bool {
	return func(n int, key string) bool {
		h := fnv.New64a()
		io.WriteString(h, key)
		return rand.New(rand.NewPCG(seed, uint64(n)^h.Sum64())).Float64() < share
	}
}

// isListing reports whether a request lists objects, on S3 or Google Cloud Storage.
func isListing(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Query().Get("list-type") == "2" || strings.HasPrefix(r.URL.Path, "/storage/v1/b/") && strings.HasSuffix(r.URL.Path, "/o"))
}

var (
	entryXML = regexp.MustCompile(`(?s)<Contents>.*?</Contents>`)
	keyXML   = regexp.MustCompile(`<Key>(.*?)</Key>`)
)

// omit takes entries out of a listing.
func (p *Proxy) omit(n int, resp *http.Response) error {
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		text, err = p.omitJSON(n, text)
	} else {
		text = entryXML.ReplaceAllFunc(text, func(entry []byte) []byte {
			if key := keyXML.FindSubmatch(entry); key != nil && p.opts.Omit(n, string(key[1])) {
				return nil
			}
			return entry
		})
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Del("Content-Length")
	return err
}

func (p *Proxy) omitJSON(n int, text []byte) ([]byte, error) {
	var page map[string]json.RawMessage
	var items, kept []json.RawMessage
	if err := json.Unmarshal(text, &page); err != nil {
		return nil, err
	}
	if page["items"] == nil {
		return text, nil
	}
	if err := json.Unmarshal(page["items"], &items); err != nil {
		return nil, err
	}
	for _, item := range items {
		var object struct{ Name string }
		if err := json.Unmarshal(item, &object); err != nil {
			return nil, err
		}
		if !p.opts.Omit(n, object.Name) {
			kept = append(kept, item)
		}
	}
	var err error
	if page["items"], err = json.Marshal(kept); err != nil {
		return nil, err
	}
	return json.Marshal(page)
}
