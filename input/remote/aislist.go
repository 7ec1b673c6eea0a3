package remote

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
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
	return func(yield func(Object, error) bool) {
		n, bad := splitAIS(prefix, true)
		if bad != nil {
			yield(Object{}, bad)
			return
		}
		ask := aisList{"list", aisListValue{Props: aisProps, Prefix: n.object, Size: s.page}}
		var order sequence
		for empty := 0; ; {
			var page aisPage
			if err := s.ask(ctx, prefix, s.address("buckets", n), ask, &page); err != nil {
				yield(Object{}, err)
				return
			}
			for _, entry := range page.Entries {
				if entry.Flags&aisDirectory != 0 {
					continue
				}
				if err := order.next(n.object, entry.Name); err != nil {
					yield(Object{}, noList(prefix, err))
					return
				}
				empty = 0
				o := Object{URL: n.scheme + "://" + n.bucket + "/" + entry.Name + n.query, Size: entry.Size}
				o.Version = aisVersion(aisListPin(n.provider, entry.Version, entry.Sum, entry.Custom))
				if !yield(o, nil) {
					return
				}
			}
			if page.Token == "" {
				return
			}
			if empty++; empty > maxEmptyPages {
				yield(Object{}, noList(prefix, errEndless))
				return
			}
			ask.Value.ID, ask.Value.Token = page.ID, page.Token
		}
	}
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
	return decode(ctx, name, resp, maxPage, into)
}
