package remote

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
)

// An aisList is a list request; an aisPage is what answers it, in JSON where that is accepted.
type aisList struct {
	Action string       `json:"action"`
	Value  aisListValue `json:"value"`
}

type aisListValue struct {
	ID     string `json:"uuid"` // of the list, from the page before
	Props  string `json:"props"`
	Prefix string `json:"prefix"`
	Token  string `json:"continuation_token"`
	Size   int    `json:"pagesize"`
}

type aisPage struct {
	ID      string `json:"uuid"`
	Token   string `json:"continuation_token"`
	Entries []struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		Sum     string `json:"checksum"` // its value alone
		Custom  string `json:"custom-md"`
		Size    int64  `json:"size,string"`
		Flags   uint64 `json:"flags"`
	} `json:"entries"`
}

// aisProps are asked for of each object: an aisPin is made of them.
const aisProps = "name,size,version,checksum,custom"

// aisDirectory marks an entry that stands for many: apc.EntryIsDir.
const aisDirectory = 1 << 8

func (s *aisStore) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	n, bad := splitAIS(prefix, true)
	if bad != nil {
		return func(yield func(Object, error) bool) { yield(Object{}, bad) }
	}
	ask := aisList{"list", aisListValue{Props: aisProps, Prefix: n.object, Size: s.page}}
	return pages(prefix, strings.TrimSuffix(prefix, n.query), func(_, token string) (items []item, next string, err error) {
		ask.Value.Token = token
		var page aisPage
		if err := s.ask(ctx, prefix, s.address("buckets", n), ask, &page); err != nil {
			return nil, "", err
		}
		ask.Value.ID = page.ID
		for _, entry := range page.Entries {
			if entry.Flags&aisDirectory == 0 {
				o := Object{Size: entry.Size, Version: aisVersion(aisListPin(n.provider, entry.Version, entry.Sum, entry.Custom))}
				items = append(items, item{entry.Name, o})
			}
		}
		return items, page.Token, nil
	})
}

// ask sends a message to a bucket and decodes the JSON that answers it.
func (s *aisStore) ask(ctx context.Context, name, address string, message, into any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return &Error{URL: Redact(name), Kind: ErrURL, Err: err}
	}
	resp, err := s.do(ctx, name, http.MethodGet, address,
		http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return decode(ctx, name, resp, maxPage, json.Unmarshal, into)
}
