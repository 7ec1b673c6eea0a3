package verify

// A Proof describes what was compared beyond the checksums of a dataset. The caller that has read its manifest sets it.
type Proof struct {
	SHA256   bool    `json:"sha256"`                // of each file that was read, with the manifest
	SignedBy string  `json:"signed_by,omitempty"`   // ID of the key that has signed the manifest
	Root     string  `json:"root_sha256,omitempty"` // of the manifest; "": there are several datasets
	Read     int     `json:"shards_read"`           // from their first byte to their last
	Of       int     `json:"shards_of"`             // shards of the manifest
	Seed     *uint64 `json:"seed,omitempty"`        // that the shards to read were drawn by; nil: all were read
}

// merge returns the proof of two datasets together, nil if one of them has none.
func (p *Proof) merge(o *Proof) *Proof {
	if p == nil || o == nil {
		return nil
	}
	both := *p
	both.Root, both.Read, both.Of = "", p.Read+o.Read, p.Of+o.Of
	return &both
}

// Complete reports whether all shards were wanted: of those that are missing a report has problems.
func (p *Proof) Complete() bool { return p.Seed == nil || p.Read >= p.Of }
