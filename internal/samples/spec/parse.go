package spec

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/ffconvert/ffconvert/internal/option"
)

// Parse parses a YAML file. The error for a mistake in the file has its line and column.
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
	s.Doubts = r.doubts()
	return s, nil
}

const hintSpec = "a specification begins with dataset: and a list of collections, each with shards:"

func (r *reader) spec(body ast.Node) *Spec {
	if body == nil {
		r.fail(nil, hintSpec, "the file is empty")
		return nil
	}
	s, d := &Spec{Asked: make(map[string]string)}, defaults{}
	var list *pair
	for _, p := range r.mapping(body, hintSpec, "prefix", "buckets", "dataset", "datasets", "seed", "shuffle") {
		switch p.key {
		case "prefix":
			d.prefix = r.text(p.value)
		case "buckets":
			d.bucket = r.bucket(p)
		case "seed", "random_seed":
			if seed := r.seed(p.value); seed != "" {
				s.Asked["seed"] = seed
			}
		case "shuffle", "random_shuffle":
			s.Asked["shuffle"] = r.boolean(p.value)
		default:
			if r.ignores(p, ignoredKeys) {
				continue
			}
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
	s.Collections = r.collections(list, d)
	return s
}

// defaults are the prefix and bucket for all collections.
type defaults struct{ prefix, bucket string }

func (r *reader) collections(list *pair, d defaults) []Collection {
	entries, ok := list.value.(*ast.SequenceNode)
	switch {
	case !ok || len(entries.Values) == 0:
		r.fail(list.at, hintSpec, "%s: not a list of collections", list.key)
		return nil
	case len(entries.Values) > MaxCollections:
		r.fail(list.at, "name the shards of several by one pattern", "more than %d collections", MaxCollections)
	}
	var all []Collection
	patterns := 0 // bytes of all patterns
	for _, entry := range entries.Values {
		c := r.collection(entry, d)
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

func (r *reader) collection(entry ast.Node, d defaults) *Collection {
	pairs := r.mapping(entry, "a collection is shards: and what is said of them", "name", "shards", "buckets", "format", "fraction", "subsample", "repeat", "fields", "extensions", "rename", "options")
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
			r.text(p.value) // a comment for people; not used
		case "shards":
			c.Shards = r.texts(p.value)
		case "buckets":
			d.bucket = r.bucket(p)
		case "format":
			c.Format = r.text(p.value)
		case "fraction", "subsample", "repeat":
			c.Times = r.times(p, c.at)
		case "fields":
			c.Fields = strings.Join(r.texts(p.value), ",")
		case "extensions":
			c.Fields = r.fieldsOf(p)
		case "rename":
			c.Rename = r.renames(p.value)
		case "options":
			r.options(c, p.value)
		default:
			r.ignores(p, ignoredOfCollections, ignoredKeys)
		}
	}
	if c.at["fields"] != nil && c.at["extensions"] != nil {
		r.fail(c.at["extensions"], "keep one of them", "fields: and extensions: exclude each other")
	}
	r.putBefore(c, d.prefix+d.bucket)
	if key, err := c.check(); err != nil {
		r.keep(c.Error(key, err))
	}
	return c
}

// times returns how often a collection is read. at has the keys of the collection parsed so far.
func (r *reader) times(p pair, at map[string]*token.Token) float64 {
	for _, other := range []string{"fraction", "subsample", "repeat"} {
		if other != p.key && at[other] != nil {
			r.fail(p.at, "keep one of them", "%s: and %s: exclude each other", other, p.key)
		}
	}
	times := r.number(p.value)
	if times <= 0 {
		r.fail(at[p.key], "leave out the collection that is not wanted", "%s: %v: want more than 0", p.key, times)
	} else if p.key != "repeat" && times > 1 {
		r.fail(at[p.key], "repeat: has samples more than once", "%s: %v: want 1 at most", p.key, times)
	}
	return times
}

// bucket returns the text between the prefix and the patterns. It ends in a slash, as with Python's os.path.join.
func (r *reader) bucket(p pair) string {
	buckets := r.texts(p.value)
	if len(buckets) != 1 {
		r.fail(p.valueAt(), "make a collection of each", "%d buckets: want one", len(buckets))
	}
	if bucket := strings.Join(buckets, ""); bucket != "" {
		return strings.TrimSuffix(bucket, "/") + "/"
	}
	return ""
}

// putBefore adds prefix, which includes the bucket, to each pattern.
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

// renames returns a list of NEW=OLD. v is a mapping NEW: OLD, or such a list.
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

// options sets c.Options to the text of each option of the format. A mapping has options that one flag sets.
func (r *reader) options(c *Collection, v ast.Node) {
	c.Options = make(map[string]string)
	set := func(name string, o pair) {
		if _, twice := c.Options[name]; twice {
			r.fail(o.at, "keep one of them", "the option %q appears twice", name)
		}
		c.at["options."+name] = o.valueAt()
		if _, list := o.value.(*ast.SequenceNode); list {
			c.lists = append(c.lists, name)
		}
		c.Options[name] = r.scalars(o.value)
	}
	for _, o := range r.mapping(v, "options: are those of the format, as header: true") {
		if !isMapping(o.value) || !option.IsMerged(o.key) {
			set(o.key, o)
			continue
		}
		for _, member := range r.mapping(o.value, "name: value") {
			set(option.Of(o.key, member.key), member)
		}
	}
}
