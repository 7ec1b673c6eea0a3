package cliflag

import (
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A Place is the flags for names that are not local files: URLs and commands as sources, and an OUT in an object store. A plan
// does not keep them: they decide no byte of a shard, and only the command line may allow to run a program.
type Place struct {
	allowPipe bool
	rewrite   []string
	service   store.Options
	pathStyle option.Choice

	scratch  bucket.Options
	readBack option.Choice
}

// NewPlace returns the defaults.
func NewPlace() Place {
	return Place{
		pathStyle: option.Choice{Value: "auto", Words: []string{"auto", "path", "host"}},
		service:   store.Options{Connections: store.DefaultConnections, Retries: store.DefaultRetries, Patience: store.DefaultPatience},
		readBack:  option.Choice{Value: "checksum", Words: []string{"checksum", "read"}},
	}
}

// Connections sets the default of the flag connections.
func (o *Place) Connections(n int) { o.service.Connections = n }

// AddSources registers the flags of sources. Those of a format that reads directories are no pipes: a program cannot write a
// directory.
func (o *Place) AddSources(flags *pflag.FlagSet, pipes bool) {
	if pipes {
		flags.BoolVar(&o.allowPipe, "allow-pipe", false, "let names be pipe:COMMAND, which runs a program of yours and reads its output")
	}
	flags.StringArrayVar(&o.rewrite, "rewrite", nil, "change the start of names, REGEX=REPLACEMENT, before GOPEN_REWRITE and WDS_REWRITE; may be repeated, the first rule that changes a name counts")
	o.AddConnection(flags)
}

// AddConnection registers the flags that say how services are reached.
func (o *Place) AddConnection(flags *pflag.FlagSet) {
	flags.StringVar(&o.service.S3.Endpoint, "s3-endpoint", "", "URL of the S3 service (default AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's, Amazon's)")
	flags.StringVar(&o.service.S3.Region, "s3-region", "", "region of the S3 service (default AWS_REGION, the profile's, the bucket's own)")
	flags.StringVar(&o.service.S3.Profile, "s3-profile", "", "profile of ~/.aws whose credentials and settings are used (default AWS_PROFILE, or default)")
	flags.Var(&o.pathStyle, "s3-path-style", "where the bucket stands, path for endpoint/bucket, host for bucket.endpoint: auto, path or host")
	flags.BoolVar(&o.service.Anonymous, "anonymous", false, "ask services without credentials")
	flags.Var(option.Between(&o.service.Connections, 1, maxConnections), "connections", "ranges and parts that are fetched or uploaded at once, all objects together, 512 at most")
	flags.Var(option.AtLeast(&o.service.Retries, 0), "retries", "attempts in a row that may bring nothing before an object is given up")
	flags.Var(PeriodAbove(&o.service.Patience), "fetch-timeout", "how long an object may take beyond what it takes at 64 KiB a second")
}

// maxConnections bounds the memory of connections, 256 KiB each.
const maxConnections = 512

// addUpload registers the flags of an OUT.
func (o *Place) addUpload(flags *pflag.FlagSet, shards bool) {
	flags.StringVar(&o.scratch.Scratch, "scratch-dir", "", "of an OUT in an object store: where its files lie while they are written or read (default ffconvert/scratch in the user's cache)")
	flags.Var(option.MaxSize(&o.scratch.Size, bucket.DefaultSize), "scratch-size", "most bytes of shards in scratch-dir at once")
	if shards {
		flags.Var(&o.readBack, "verify-remote", "how an upload is proven: checksum, which the service compares; or read, all bytes are read back, too")
	}
}

// AddPlace registers the flags of a command that has an OUT and no sources; shards says whether it uploads any.
func (o *Place) AddPlace(flags *pflag.FlagSet, shards bool) {
	o.addUpload(flags, shards)
	o.AddConnection(flags)
}

// client returns a client of the services. It connects when the first object is read.
func (o *Place) client() *store.Client {
	how := o.service
	if o.pathStyle.Value != "auto" {
		how.S3.PathStyle = o.pathStyle.Value
	}
	if how.Retries == 0 {
		how.Retries = -1
	}
	return store.New(how)
}

// Options returns the options that the flags give to package bucket. warn is told of what stays behind.
func (o *Place) Options(warn func(string)) bucket.Options {
	opts := o.scratch
	opts.Client, opts.ReadBack, opts.Warn = o.client(), o.readBack.Value == "read", warn
	return opts
}
