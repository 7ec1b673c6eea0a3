package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/converters/mix"
	"github.com/ffconvert/ffconvert/encode"
)

// A specification is what a file says of a dataset that is mixed. A plan keeps it as JSON:
// what decides the dataset, and nothing of how it was written down.
type specification struct {
	Seed        uint64       `json:"seed,omitempty"` // of what is drawn; 0 where nothing is
	Collections []collection `json:"dataset"`

	seed    *uint64 // what the file says; nil: nothing
	shuffle bool
}

// A collection is one entry of it.
type collection struct {
	Format  string            `json:"format"`
	Shards  []string          `json:"shards"`          // patterns, with the prefix and the bucket before them
	Times   float64           `json:"times,omitempty"` // of mix.Collection; 0: once
	Fields  string            `json:"fields,omitempty"`
	Rename  []string          `json:"rename,omitempty"`
	Options map[string]string `json:"options,omitempty"` // flags of the format that are set, as a plan has them

	where  string // it stands, for errors
	format format
	data   openable
	flags  *pflag.FlagSet // of the format
}

// maxCollections bounds the entries of a specification: each has the flags of its format,
// some 10 KiB.
const maxCollections = 1000

// maxPatterns bounds the patterns of a specification, bytes with what stands before them: a
// plan keeps them, and one long prefix stands before each.
const maxPatterns = 4 << 20

// settle looks up the format, sets its flags, and checks what is said of the collection.
// key is what an error is about: a key of the entry, or options.NAME.
func (c *collection) settle() (key string, err error) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == c.Format })
	if i < 0 {
		var names []string
		for _, f := range formats {
			names = append(names, f.name)
		}
		return "format", fmt.Errorf("%q is not a format here; there are %s", c.Format, strings.Join(names, ", "))
	}
	c.format = formats[i]
	c.flags = pflag.NewFlagSet(c.Format, pflag.ContinueOnError)
	c.data = c.format.flags(c.flags)
	for _, name := range slices.Sorted(maps.Keys(c.Options)) {
		if err := c.set(name, c.Options[name]); err != nil {
			return "options." + name, err
		}
	}
	c.Options = planOptions(c.flags)
	if len(c.Shards) == 0 {
		return "shards", errors.New("no shards are named")
	}
	if !(c.Times >= 0 && c.Times <= mix.MaxTimes) {
		return "repeat", fmt.Errorf("%v times: want more than 0, and %d at most", c.Times, mix.MaxTimes)
	}
	if c.Times == 1 {
		c.Times = 0 // one way to say it
	}
	if _, err := encode.Parse(encode.Options{Rename: c.Rename}); err != nil {
		return "rename", err
	}
	if _, err := encode.Parse(encode.Options{Fields: c.Fields}); err != nil {
		return "fields", err
	}
	return "", nil
}

// set sets a flag of the format. Limits are for the command line alone.
func (c *collection) set(name, text string) error {
	flag := c.flags.Lookup(name)
	if flag == nil {
		var names []string
		c.flags.VisitAll(func(f *pflag.Flag) {
			if !isLimit(f) {
				names = append(names, f.Name)
			}
		})
		return fmt.Errorf("ffconvert %s has no --%s; an entry may have %s", c.Format, name, strings.Join(names, ", "))
	}
	if isLimit(flag) {
		return fmt.Errorf("--%s is a limit: give it on the command line", name)
	}
	return valueError(c.flags.Set(name, text))
}

// moved takes the shards from a file that says the same of all collections but where they
// are.
func (s *specification) moved(name string) error {
	there, err := readSpecification(name)
	if err != nil {
		return err
	}
	if len(there.Collections) != len(s.Collections) {
		return fmt.Errorf("%s: the dataset was made of %d collections, not %d", name, len(s.Collections), len(there.Collections))
	}
	for i := range s.Collections {
		c, d := &s.Collections[i], &there.Collections[i]
		if !c.like(d) || c.Times != d.Times {
			return fmt.Errorf("%s: the dataset was made otherwise; change shards, buckets and prefix alone", d.where)
		}
		c.Shards, c.where = d.Shards, d.where
	}
	return nil
}

// drawn reports whether a share of a collection is drawn.
func (s *specification) drawn() bool {
	return slices.ContainsFunc(s.Collections, func(c collection) bool { return c.Times != float64(int(c.Times)) })
}
