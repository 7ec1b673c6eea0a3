package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/ffconvert/ffconvert/convert/option"
)

// Parse reads a YAML file. What is wrong with it is told by line and column.
func Parse(name string, data []byte) (*Spec, error) {
	f := yamlFile{name}
	body, err := f.parse(data)
	if err != nil {
		return nil, err
	}
	const hint = "a specification begins with dataset: and a list of collections, each with shards:"
	if body == nil {
		return nil, f.fail(nil, hint, "the file is empty")
	}
	top, err := f.mapping(body, hint, "prefix", "dataset", "datasets", "seed", "shuffle")
	if err != nil {
		return nil, err
	}
	s := &Spec{}
	prefix := ""
	var list *pair
	for i := range top {
		p := &top[i]
		switch p.key {
		case "prefix":
			prefix, err = f.text(p.value)
		case "seed":
			s.SeedGiven = new(uint64)
			*s.SeedGiven, err = f.seed(p.value)
		case "shuffle":
			s.Shuffle, err = f.boolean(p.value)
		default:
			if list != nil {
				err = f.fail(p.at, "keep one of them", "both dataset: and datasets: are given")
			}
			list = p
		}
		if err != nil {
			return nil, err
		}
	}
	if list == nil {
		return nil, f.fail(nil, hint, "there is no dataset:")
	}
	entries, ok := list.value.(*ast.SequenceNode)
	switch {
	case !ok || len(entries.Values) == 0:
		return nil, f.fail(list.at, hint, "%s: not a list of collections", list.key)
	case len(entries.Values) > MaxCollections:
		return nil, f.fail(list.at, "name the shards of several by one pattern", "more than %d collections", MaxCollections)
	}
	patterns := 0
	for _, entry := range entries.Values {
		c, err := f.collection(entry, prefix)
		if err != nil {
			return nil, err
		}
		for _, shard := range c.Shards {
			patterns += len(shard)
		}
		if patterns > maxPatterns {
			return nil, f.fail(list.at, "name shards by patterns: {000..009}", "the patterns have more than %d bytes with what stands before each", maxPatterns)
		}
		s.Collections = append(s.Collections, *c)
	}
	return s, nil
}

// drawsAnew reports whether a key is one of WebDataset's that draw shards while a dataset is
// read. They are known, to say what to write in their place.
func drawsAnew(key string) bool {
	return slices.Contains([]string{"resample", "choose", "perepoch"}, key)
}

// hintDraw says what.
const hintDraw = "fraction: 0.5 draws half of the samples, once and for all; repeat: 2 has each twice"

func (f yamlFile) collection(entry ast.Node, prefix string) (*Collection, error) {
	pairs, err := f.mapping(entry, "a collection is shards: and what is said of them", "name", "shards", "buckets", "format", "fraction", "repeat", "fields", "rename", "options", "resample", "choose", "perepoch")
	if err != nil {
		return nil, err
	}
	begin := pairs[0].at
	c := &Collection{Format: "tar", file: f, where: fmt.Sprintf("%s:%d:%d", f.name, begin.Position.Line, begin.Position.Column)}
	at := map[string]*token.Token{"shards": begin}
	var options []pair
	for _, p := range pairs {
		at[p.key] = valueToken(p)
		switch p.key {
		case "name":
			_, err = f.text(p.value) // for people
		case "shards":
			c.Shards, err = f.texts(p.value)
		case "buckets":
			var buckets []string
			if buckets, err = f.texts(p.value); err == nil && len(buckets) != 1 {
				err = f.fail(at[p.key], "make a collection of each", "%d buckets: want one", len(buckets))
			} else if err == nil {
				prefix += buckets[0]
			}
		case "format":
			c.Format, err = f.text(p.value)
		case "fraction", "repeat":
			if at["fraction"] != nil && at["repeat"] != nil {
				err = f.fail(p.at, "keep one of them", "fraction: and repeat: exclude each other")
				break
			}
			if c.Times, err = f.number(p.value); err == nil && c.Times <= 0 {
				err = f.fail(at[p.key], "leave out the collection that is not wanted", "%s: %v: want more than 0", p.key, c.Times)
			} else if err == nil && p.key == "fraction" && c.Times > 1 {
				err = f.fail(at[p.key], "repeat: has samples more than once", "fraction: %v: want 1 at most", c.Times)
			}
		case "fields":
			var names []string
			names, err = f.texts(p.value)
			c.Fields = strings.Join(names, ",")
		case "rename":
			c.Rename, err = f.renames(p.value)
		case "options":
			if options, err = f.options(p.value); err == nil {
				c.Options = make(map[string]string)
			}
			for _, o := range options {
				at["options."+o.key] = valueToken(o)
				if err == nil {
					c.Options[o.key], err = f.optionText(o.value)
				}
			}
		default:
			err = f.fail(p.at, hintDraw, "%s: draws shards anew each epoch, and a dataset that is written is drawn once", p.key)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(prefix)*len(c.Shards) > maxPatterns {
		return nil, f.fail(at["shards"], "name shards by patterns: {000..009}", "%d patterns with %d bytes before each", len(c.Shards), len(prefix))
	}
	for i, shard := range c.Shards {
		if shard == "-" || shard == "@-" {
			return nil, f.fail(at["shards"], "write it to a file first", "%q: a specification takes nothing from standard input", shard)
		}
		if prefix != "" && strings.Contains(shard, "::") {
			return nil, f.fail(at["shards"], "make a list of it: [a.tar, b.tar]", "%q: prefix and buckets stand before the first of patterns joined by :: alone", shard)
		}
		c.Shards[i] = prefix + shard
	}
	for _, o := range options {
		_, list := o.value.(*ast.SequenceNode)
		if list {
			c.lists = append(c.lists, o.key)
		}
	}
	c.at = at
	if key, err := c.check(); err != nil {
		return nil, c.Error(key, err)
	}
	return c, nil
}

// renames takes image: jpg;png, or a list of image=jpg;png as the flag has them.
func (f yamlFile) renames(v ast.Node) ([]string, error) {
	if !isMapping(v) {
		return f.texts(v)
	}
	pairs, err := f.mapping(v, "new: old")
	var list []string
	for _, p := range pairs {
		text := ""
		if err == nil {
			text, err = f.text(p.value)
		}
		if err == nil && strings.Contains(p.key, "=") {
			err = f.fail(p.at, "", "rename: a field cannot be named %q", p.key)
		}
		list = append(list, p.key+"="+text)
	}
	return list, err
}

func (f yamlFile) options(v ast.Node) ([]pair, error) {
	return f.mapping(v, "options: are those of the format, as header: true")
}

// optionText is a value as a flag takes it.
func (f yamlFile) optionText(v ast.Node) (string, error) {
	list, ok := v.(*ast.SequenceNode)
	if !ok {
		return f.scalar(v)
	}
	var values []string
	for _, v := range list.Values {
		text, err := f.scalar(v)
		if err != nil {
			return "", err
		}
		values = append(values, text)
	}
	if len(values) == 0 || slices.Contains(values, "") {
		return "", f.fail(v.GetToken(), "leave the key out", "a list that is empty, or has an empty value")
	}
	return option.Join(values), nil
}
