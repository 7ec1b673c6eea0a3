package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
)

// ReadManifest reads the manifest of a dataset. Names in it are local: they cannot lead
// out of the directory.
func ReadManifest(dir string) (*Manifest, error) {
	f, err := openPath(filepath.Join(dir, ManifestName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := decodeManifest(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Name(), ErrManifest, err)
	}
	return m, nil
}

// manifest reads the manifest of the output, nil where there is none. The error is [ErrManifest]
// where the file is damaged.
func (o *Output) manifest() (*Manifest, error) {
	f, err := openKept(o.root, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := decodeManifest(f)
	if errno := syscall.Errno(0); err == nil || errors.As(err, &errno) {
		return m, err
	}
	return nil, fmt.Errorf("%s: %w: %w", o.path(ManifestName), ErrManifest, err)
}

// maxManifestHead bounds what a manifest says beside its shards and sources, in bytes.
const maxManifestHead = 16 << 20

// decodeManifest reads a manifest that may be hostile. Its lists are taken entry by entry,
// and the first that is not one of ours ends it: a list of empty entries would take sixty
// times the memory that it has bytes.
func decodeManifest(r io.Reader) (*Manifest, error) {
	var m Manifest
	dec := json.NewDecoder(io.LimitReader(r, maxKept))
	if err := expectDelim(dec, '{'); err != nil {
		return nil, err
	}
	head := make(map[string]json.RawMessage)
	size := 0
	seen := make(map[string]bool)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // it is one: the decoder knows objects
		if seen["."+name] {
			return nil, fmt.Errorf("%q stands there twice", name)
		}
		seen["."+name] = true
		switch name {
		case "shards":
			err = m.decodeShards(dec)
		case "sources":
			err = m.decodeSources(dec)
		default:
			var value json.RawMessage
			err = dec.Decode(&value)
			head[name] = value
			if size += len(name) + len(value); err == nil && size > maxManifestHead {
				err = fmt.Errorf("%q has too many bytes", name)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if err := expectDelim(dec, '}'); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more behind its end")
	}
	text, err := json.Marshal(head)
	if err == nil {
		err = json.Unmarshal(text, &struct {
			*Manifest
			Shards  json.RawMessage `json:"shards"` // by any other spelling that JSON takes for theirs
			Sources json.RawMessage `json:"sources"`
		}{Manifest: &m})
	}
	if err != nil {
		return nil, err
	}
	if m.Version != manifestVersion {
		return nil, fmt.Errorf("version %d, this program reads %d", m.Version, manifestVersion)
	}
	return &m, nil
}

func (m *Manifest) decodeShards(dec *json.Decoder) error {
	seen := make(map[string]bool)
	return decodeList(dec, func() error {
		var s ManifestShard
		if err := dec.Decode(&s); err != nil {
			return err
		}
		if !shardName.MatchString(s.Name) {
			return fmt.Errorf("%q is no name of a shard", s.Name)
		}
		if seen[s.Name] {
			return fmt.Errorf("shard %q stands there twice", s.Name)
		}
		if s.Samples < 1 || s.Fields < 0 || s.Bytes < 1 || s.Index.Bytes < 0 {
			return fmt.Errorf("shard %q has %d samples in %d bytes", s.Name, s.Samples, s.Bytes)
		}
		seen[s.Name] = true
		m.Shards = append(m.Shards, s)
		return nil
	})
}

func (m *Manifest) decodeSources(dec *json.Decoder) error {
	return decodeList(dec, func() error {
		var s struct {
			Part
			Account *Account `json:"account"`
		}
		if err := dec.Decode(&s); err != nil {
			return err
		}
		if s.Name == "" || s.Account == nil {
			return errors.New("a source without a name or an account")
		}
		s.Part.Account = *s.Account
		m.Sources = append(m.Sources, s.Part)
		return nil
	})
}

// decodeList decodes an array, null being an empty one.
func decodeList(dec *json.Decoder, each func() error) error {
	open, err := dec.Token()
	if err != nil || open == nil {
		return err
	}
	if open != json.Delim('[') {
		return fmt.Errorf("%v in place of a list", open)
	}
	for dec.More() {
		if err := each(); err != nil {
			return err
		}
	}
	return expectDelim(dec, ']')
}

func expectDelim(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%v in place of %v", got, want)
	}
	return err
}
