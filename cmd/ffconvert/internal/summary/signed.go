package summary

import (
	"fmt"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A signed is the closing line of sign.
type signed struct {
	Done   bool   `json:"done"`
	Out    string `json:"out"`
	Key    string `json:"key"`         // ID of the key
	Root   string `json:"root_sha256"` // of the manifest
	Shards int    `json:"shards"`
	Read   bool   `json:"read"` // all files were read for it
}

func NewSigned(dir string, m *dataset.Manifest, key string, read bool) signed {
	return signed{Done: true, Out: dir, Key: key, Root: m.Root.String(), Shards: len(m.Shards), Read: read}
}

func (s signed) String() string {
	read := "the sums are those of the manifest"
	if s.Read {
		read = "all files were read for their sums"
	}
	return fmt.Sprintf("%s: signed by the key %s: %s, root %s; %s", text.Name(s.Out), s.Key, terminal.Counted(int64(s.Shards), "shard"), s.Root, read)
}
