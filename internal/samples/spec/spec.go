// Package spec reads specifications: YAML files that list the collections of a dataset. A plan stores the content
// as JSON, without settings that do not affect the dataset. The package knows no formats: the caller checks format
// and options, and adds the place to its errors with [Collection.Error].
//
//	s, err := spec.Read("dataset.yaml")
//	for _, c := range s.Collections { … } // c.Format, c.Shards, c.Options
//
// Input is limited before it is parsed. Anchors, aliases and tags are refused, so nothing expands.
package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/goccy/go-yaml/token"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/wrap"
)

// A Spec is the content of a file. Its JSON has the fields that decide the bytes of the dataset,
// independent of how the YAML was written.
type Spec struct {
	Seed        uint64       `json:"seed,omitempty"` // of the random draw; 0 if all samples are read
	Collections []Collection `json:"dataset"`

	Asked  map[string]string  `json:"-"` // options of the whole dataset that the file sets: seed, shuffle
	Doubts []converters.Doubt `json:"-"` // for the ignored keys of the file
}

// A Collection is one entry of dataset:.
type Collection struct {
	Format  string            `json:"format"`
	Shards  []string          `json:"shards"`          // patterns, each beginning with the prefix and the bucket
	Times   float64           `json:"times,omitempty"` // see wrap.Collection; 0: once
	Fields  string            `json:"fields,omitempty"`
	Rename  []string          `json:"rename,omitempty"`
	Options map[string]string `json:"options,omitempty"` // of the format

	where string // file, line and column of the entry, for errors
	file  string
	at    map[string]*token.Token // position of each value, by key; nil if the collection was read from a plan
	lists []string                // names of the options that have a list as their value in the file
}

// Where returns the file, line and column of the collection, for messages.
func (c *Collection) Where() string { return c.where }

// IsList reports whether the value of an option is a list in the file.
func (c *Collection) IsList(name string) bool { return slices.Contains(c.lists, name) }

// Passes returns how many times the collection is read.
func (c *Collection) Passes() int { return wrap.Collection{Times: c.Times}.Passes() }

// Error adds to err the place of a key of the collection, or of options.NAME. The key "" means the whole
// collection; err is wrapped then.
func (c *Collection) Error(key string, err error) error {
	switch {
	case key == "":
		return fmt.Errorf("%s: %w", c.where, err)
	case c.at == nil:
		return fmt.Errorf("%s: %s: %w", c.where, key, err)
	}
	return fail(c.file, c.at[key], "", "%s: %s", key, oneLine(err.Error()))
}

// MaxCollections limits the entries of a specification. Each takes some 10 KiB for the options of its format.
const MaxCollections = 1000

// maxPatterns limits the patterns of a specification, in bytes including the prefix of each: a plan
// stores them.
const maxPatterns = 4 << 20

// check returns an error, and the key with the mistake, if a value is out of range. It stores a Times of 1 as 0,
// so that equal collections have equal JSON.
func (c *Collection) check() (key string, err error) {
	if len(c.Shards) == 0 {
		return "shards", errors.New("no shards are named")
	}
	if !(c.Times >= 0 && c.Times <= wrap.MaxTimes) {
		return "repeat", fmt.Errorf("%v times: want more than 0, and %d at most", c.Times, wrap.MaxTimes)
	}
	if c.Times == 1 {
		c.Times = 0
	}
	if _, err := encode.Parse(encode.Options{Rename: c.Rename}); err != nil {
		return "rename", err
	}
	if _, err := encode.Parse(encode.Options{Fields: c.Fields}); err != nil {
		return "fields", err
	}
	return "", nil
}

// Drawn reports whether any collection is read in part, as a random share.
func (s *Spec) Drawn() bool {
	return slices.ContainsFunc(s.Collections, func(c Collection) bool { return c.Times != float64(int(c.Times)) })
}

// Move copies the shards of each collection from another specification with the same number of collections.
func (s *Spec) Move(to *Spec) {
	for i := range s.Collections {
		s.Collections[i].Shards, s.Collections[i].where = to.Collections[i].Shards, to.Collections[i].where
	}
}

// Read reads a YAML file.
func Read(name string) (*Spec, error) {
	refuse := func(err error) error { return &converters.Error{Where: name, Off: -1, Err: err} }
	f, err := os.Open(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, refuse(failed.Err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, refuse(fmt.Errorf("%w: a directory, where a YAML file is wanted", converters.ErrUnsupported))
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	return Parse(name, data)
}

// Text returns the JSON for a plan, with secrets of URLs redacted.
func (s *Spec) Text() (string, error) {
	kept := *s
	kept.Collections = slices.Clone(s.Collections)
	for i := range kept.Collections {
		c := &kept.Collections[i]
		c.Shards = slices.Clone(c.Shards)
		for j, name := range c.Shards {
			c.Shards[j] = input.Shown(name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(&kept)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// FromText parses the JSON of a plan. The plan may be hostile, so the limits of a file apply.
func FromText(text string) (*Spec, error) {
	if len(text) > 8*maxPatterns { // JSON may need six bytes for one
		return nil, errors.New("its specification is too large")
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	s := &Spec{}
	if err := dec.Decode(s); err != nil {
		return nil, err
	}
	if n := len(s.Collections); n == 0 || n > MaxCollections || dec.More() {
		return nil, fmt.Errorf("its specification has %d collections", n)
	}
	for i := range s.Collections {
		c := &s.Collections[i]
		c.where = fmt.Sprintf("collection %d", i+1)
		if key, err := c.check(); err != nil {
			return nil, c.Error(key, err)
		}
	}
	return s, nil
}
