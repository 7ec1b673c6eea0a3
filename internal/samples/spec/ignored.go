package spec

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// ignoredKeys are keys that control how a dataset is read during training and do not affect its samples: the keys
// of WebDataset's specifications (MultiShardSample in shardlists.py, construct_dataset in dsspecs.py) and the
// attributes of OneFlow's OFRecord loader. A reason completes "it".
var ignoredKeys = map[string]string{
	"resample": drawsShards, "resampled": drawsShards, "choose": drawsShards, "perepoch": drawsShards,
	"epoch": readsSamples, "epoch_shuffle": readsSamples, "chunksize": readsSamples,
	"probability": weighs, "scale": weighs, "scaleprob": weighs,
	"split_by_node": divides, "split_by_worker": divides, "nworkers": divides,
	"cachedir": caches, "cachesize": caches, "cachename": caches, "cacheverbose": caches,
	"shuffle_buffer_size": shuffles, "shuffle_after_epoch": shuffles,
}

// ignoredOfCollections are keys that have a meaning only for the whole dataset.
var ignoredOfCollections = map[string]string{
	"shuffle": orders, "random_shuffle": orders, "seed": orders, "random_seed": orders,
}

const (
	drawsShards  = "draws shards anew each epoch, and a converted dataset has the samples of all; fraction: and repeat: draw once"
	readsSamples = "says how samples are read in training"
	weighs       = "weighs collections while they are read, and a converted dataset has the samples of all; fraction: and repeat: draw once"
	divides      = "divides the reading among processes"
	caches       = "says where a reader keeps copies; --cache-dir and --cache-size do for a conversion"
	shuffles     = "says how a reader shuffles; shuffle: puts all samples in random order, once"
	orders       = "is for the whole dataset; give it beside dataset:"
)

// An ignored is an ignored key that was found in a file.
type ignored struct {
	key, why string
	line     int // line of the first occurrence
	count    int
}

// ignores reports whether a key is ignored, and counts it.
func (r *reader) ignores(p pair, of ...map[string]string) bool {
	for _, keys := range of {
		why, known := keys[p.key]
		if !known {
			continue
		}
		for i := range r.ignored {
			if r.ignored[i].key == p.key && r.ignored[i].why == why {
				r.ignored[i].count++
				return true
			}
		}
		r.ignored = append(r.ignored, ignored{p.key, why, p.at.Position.Line, 1})
		return true
	}
	return false
}

func (r *reader) doubts() []converters.Doubt {
	var all []converters.Doubt
	for _, is := range r.ignored {
		times := ""
		if is.count > 1 {
			times = fmt.Sprintf(", and %d more", is.count-1)
		}
		all = append(all, converters.Doubt{Part: r.name, Off: -1,
			Text: fmt.Sprintf("%s (line %d%s) has no meaning for a converted dataset: it %s", is.key, is.line, times, is.why)})
	}
	return all
}

// fieldsOf returns the fields named by WebDataset's extensions: "jpg;png cls", or a list.
func (r *reader) fieldsOf(p pair) string {
	return strings.Join(strings.Fields(strings.Join(r.texts(p.value), " ")), ",")
}
