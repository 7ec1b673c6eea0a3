// Package spec reads specifications: YAML files that name the collections of which one dataset is
// made. A plan keeps what decides the dataset, as JSON. The package knows no formats: whoever does
// refuses what a collection says of its own by [Collection.Error], which has the place.
//
//	s, err := spec.Read("dataset.yaml")
//	for _, c := range s.Collections { … } // c.Format, c.Shards, c.Options
//
// What is read is bounded before it is parsed. Nothing in a file is resolved, and nothing expands.
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
	"github.com/ffconvert/ffconvert/converters/mix"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
)

// A Spec is what a file says of a dataset that is mixed. Its JSON is what decides the dataset,
// and nothing of how it was written down.
type Spec struct {
	Seed        uint64       `json:"seed,omitempty"` // of what is drawn; 0 where nothing is
	Collections []Collection `json:"dataset"`

	SeedGiven *uint64 `json:"-"` // what the file says; nil: nothing
	Shuffle   bool    `json:"-"` // the file says so
}

// A Collection is one entry of it.
type Collection struct {
	Format  string            `json:"format"`
	Shards  []string          `json:"shards"`          // patterns, with the prefix and the bucket before them
	Times   float64           `json:"times,omitempty"` // of mix.Collection; 0: once
	Fields  string            `json:"fields,omitempty"`
	Rename  []string          `json:"rename,omitempty"`
	Options map[string]string `json:"options,omitempty"` // of the format

	where string // it stands, for errors
	file  yamlFile
	at    map[string]*token.Token // of what is said of it, by key; nil: it comes from a plan
	lists []string                // options that the file has as lists
}

// Where is where the collection stands, for people.
func (c *Collection) Where() string { return c.where }

// IsList reports whether the file has an option as a list.
func (c *Collection) IsList(name string) bool { return slices.Contains(c.lists, name) }

// Passes is how often the collection is read.
func (c *Collection) Passes() int { return mix.Collection{Times: c.Times}.Passes() }

// Error places an error at what the collection says: a key of it, or options.NAME. "" is the
// collection itself, whose error is wrapped.
func (c *Collection) Error(key string, err error) error {
	switch {
	case key == "":
		return fmt.Errorf("%s: %w", c.where, err)
	case c.at == nil:
		return fmt.Errorf("%s: %s: %w", c.where, key, err)
	}
	return c.file.fail(c.at[key], "", "%s: %s", key, oneLine(err.Error()))
}

// MaxCollections bounds the entries of a specification: each has the options of its format,
// some 10 KiB.
const MaxCollections = 1000

// maxPatterns bounds the patterns of a specification, bytes with what stands before them: a
// plan keeps them, and one long prefix stands before each.
const maxPatterns = 4 << 20

// check refuses what no collection can say, and sets Times to the one way to say it. key is
// what an error is about.
func (c *Collection) check() (key string, err error) {
	if len(c.Shards) == 0 {
		return "shards", errors.New("no shards are named")
	}
	if !(c.Times >= 0 && c.Times <= mix.MaxTimes) {
		return "repeat", fmt.Errorf("%v times: want more than 0, and %d at most", c.Times, mix.MaxTimes)
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

// Drawn reports whether a share of a collection is drawn.
func (s *Spec) Drawn() bool {
	return slices.ContainsFunc(s.Collections, func(c Collection) bool { return c.Times != float64(int(c.Times)) })
}

// Move takes the shards of each collection from another specification of as many.
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

// Text is the specification as a plan keeps it: without the secrets of URLs.
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

// FromText reads what a plan keeps. It may be hostile: it is held to what a file is held to.
func FromText(text string) (*Spec, error) {
	if len(text) > 8*maxPatterns { // a byte may take six
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
