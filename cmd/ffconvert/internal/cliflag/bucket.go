package cliflag

import (
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Bucket are the flags for a dataset in an object store.
type Bucket struct {
	scratch  string
	size     int64 // 0: bucket.DefaultSize
	readBack option.Choice
}

func newBucket() Bucket {
	return Bucket{readBack: option.Choice{Value: "checksum", Words: []string{"checksum", "read"}}}
}

// addScratch registers the flags of commands that read and write.
func (o *Bucket) addScratch(flags *pflag.FlagSet) {
	flags.StringVar(&o.scratch, "scratch-dir", "", "of an OUT in an object store: where its files lie while they are written or read (default ffconvert/scratch in the user's cache)")
	flags.Var(option.MaxSize(&o.size, bucket.DefaultSize), "scratch-size", "most bytes of shards in scratch-dir at once")
}

// AddUpload registers the flags of commands that write.
func (o *Bucket) AddUpload(flags *pflag.FlagSet) {
	o.addScratch(flags)
	flags.Var(&o.readBack, "verify-remote", "how an upload is proven: checksum, which the service compares; or read, all bytes are read back, too")
}

// options returns the options that the flags give to package bucket. warn prints a line about objects that could not be removed.
func (o *Bucket) options(client store.Store, warn func(string)) bucket.Options {
	return bucket.Options{Client: client, Scratch: o.scratch, Size: o.size, ReadBack: o.readBack.Value == "read", Warn: warn}
}

// A Place is the flags of a command whose OUT may be in an object store, and which has no sources.
type Place struct {
	Remote
	Bucket
}

// NewPlace returns the defaults.
func NewPlace() Place { return Place{newRemote(), newBucket()} }

// AddPlace registers the flags.
func (o *Place) AddPlace(flags *pflag.FlagSet) {
	o.addScratch(flags)
	o.AddConnection(flags)
}

// Options returns the options that the flags give to package bucket.
func (o *Place) Options(warn func(string)) bucket.Options { return o.options(o.client(), warn) }
