package spec

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Parse reads a YAML file. An error that is a mistake in it is an [*Error].
func Parse(name string, data []byte) (*Spec, error) {
	body, err := parse(name, data)
	if err != nil {
		return nil, err
	}
	r := &reader{name: name}
	s := r.spec(body)
	if r.err != nil {
		return nil, r.err
	}
	return s, nil
}

const hintSpec = "a specification begins with dataset: and a list of collections, each with shards:"

func (r *reader) spec(body ast.Node) *Spec {
	if body == nil {
		r.fail(nil, hintSpec, "the file is empty")
		return nil
	}
	s, prefix := &Spec{}, ""
	var list *pair
	for _, p := range r.mapping(body, hintSpec, "prefix", "dataset", "datasets", "seed", "shuffle") {
		switch p.key {
		case "prefix":
			prefix = r.text(p.value)
		case "seed":
			s.SeedGiven = new(r.seed(p.value))
		case "shuffle":
			s.Shuffle = r.boolean(p.value)
		default:
			if list != nil {
				r.fail(p.at, "keep one of them", "both dataset: and datasets: are given")
			}
			list = &p
		}
	}
	if list == nil {
		r.fail(nil, hintSpec, "there is no dataset:")
		return nil
	}
	s.Collections = r.collections(list, prefix)
	return s
}

func (r *reader) collections(list *pair, prefix string) []Collection {
	entries, ok := list.value.(*ast.SequenceNode)
	switch {
	case !ok || len(entries.Values) == 0:
		r.fail(list.at, hintSpec, "%s: not a list of collections", list.key)
		return nil
	case len(entries.Values) > MaxCollections:
		r.fail(list.at, "name the shards of several by one pattern", "more than %d collections", MaxCollections)
	}
	var all []Collection
	patterns := 0 // bytes
	for _, entry := range entries.Values {
		c := r.collection(entry, prefix)
		if r.err != nil {
			return nil
		}
		for _, shard := range c.Shards {
			patterns += len(shard)
		}
		if patterns > maxPatterns {
			r.fail(list.at, hintPatterns, "the patterns have more than %d bytes with what stands before each", maxPatterns)
		}
		all = append(all, *c)
	}
	return all
}

func (r *reader) collection(entry ast.Node, prefix string) *Collection {
	pairs := r.mapping(entry, "a collection is shards: and what is said of them", "name", "shards", "buckets", "format", "fraction", "repeat", "fields", "rename", "options")
	if pairs == nil {
		return nil
	}
	begin := pairs[0].at
	c := &Collection{Format: "tar", where: fmt.Sprintf("%s:%d:%d", r.name, begin.Position.Line, begin.Position.Column)}
	c.file, c.at = r.name, map[string]*token.Token{"shards": begin}
	for _, p := range pairs {
		c.at[p.key] = p.valueAt()
		switch p.key {
		case "name":
			r.text(p.value) // for people
		case "shards":
			c.Shards = r.texts(p.value)
		case "buckets":
			buckets := r.texts(p.value)
			if len(buckets) != 1 {
				r.fail(c.at[p.key], "make a collection of each", "%d buckets: want one", len(buckets))
			}
			prefix += strings.Join(buckets, "")
		case "format":
			c.Format = r.text(p.value)
		case "fraction", "repeat":
			c.Times = r.times(p, c.at)
		case "fields":
			c.Fields = strings.Join(r.texts(p.value), ",")
		case "rename":
			c.Rename = r.renames(p.value)
		case "options":
			r.options(c, p.value)
		}
	}
	r.putBefore(c, prefix)
	if key, err := c.check(); err != nil {
		r.keep(c.Error(key, err))
	}
	return c
}

// times returns how often a collection is read. at has the keys of the collection read so far.
func (r *reader) times(p pair, at map[string]*token.Token) float64 {
	if at["fraction"] != nil && at["repeat"] != nil {
		r.fail(p.at, "keep one of them", "fraction: and repeat: exclude each other")
	}
	times := r.number(p.value)
	if times <= 0 {
		r.fail(at[p.key], "leave out the collection that is not wanted", "%s: %v: want more than 0", p.key, times)
	} else if p.key == "fraction" && times > 1 {
		r.fail(at[p.key], "repeat: has samples more than once", "fraction: %v: want 1 at most", times)
	}
	return times
}

// putBefore adds the prefix, which includes the bucket, to each pattern.
func (r *reader) putBefore(c *Collection, prefix string) {
	at := c.at["shards"]
	if len(prefix)*len(c.Shards) > maxPatterns {
		r.fail(at, hintPatterns, "%d patterns with %d bytes before each", len(c.Shards), len(prefix))
		return
	}
	for i, shard := range c.Shards {
		if shard == "-" || shard == "@-" {
			r.fail(at, "write it to a file first", "%q: a specification takes nothing from standard input", shard)
		}
		if prefix != "" && strings.Contains(shard, "::") {
			r.fail(at, "make a list of it: [a.tar, b.tar]", "%q: prefix and buckets stand before the first of patterns joined by :: alone", shard)
		}
		c.Shards[i] = prefix + shard
	}
}

// renames returns a list of NEW=OLD. The value is a mapping NEW: OLD, or such a list.
func (r *reader) renames(v ast.Node) []string {
	if !isMapping(v) {
		return r.texts(v)
	}
	var list []string
	for _, p := range r.mapping(v, "new: old") {
		list = append(list, p.key+"="+r.text(p.value))
		if strings.Contains(p.key, "=") {
			r.fail(p.at, "", "rename: a field cannot be named %q", p.key)
		}
	}
	return list
}

// options sets c.Options to the text of each option of the format.
func (r *reader) options(c *Collection, v ast.Node) {
	c.Options = make(map[string]string)
	for _, o := range r.mapping(v, "options: are those of the format, as header: true") {
		c.at["options."+o.key] = o.valueAt()
		if _, list := o.value.(*ast.SequenceNode); list {
			c.lists = append(c.lists, o.key)
		}
		c.Options[o.key] = r.scalars(o.value)
	}
}
