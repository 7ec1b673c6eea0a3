package cliflag

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Remote are the flags for sources that are not files: URLs and commands. A plan does not keep
// them: they decide no byte of a shard, and only the command line may allow to run a program.
type Remote struct {
	allowPipe bool
	rewrite   []string

	s3          store.S3Options
	pathStyle   option.Choice
	anonymous   bool
	connections int
	retries     int
	patience    time.Duration
}

func newRemote() Remote {
	return Remote{
		pathStyle:   option.Choice{Value: "auto", Words: []string{"auto", "path", "host"}},
		connections: store.DefaultConnections,
		retries:     store.DefaultRetries,
		patience:    store.DefaultPatience,
	}
}

// Add registers the flags.
func (o *Remote) Add(flags *pflag.FlagSet) {
	flags.BoolVar(&o.allowPipe, "allow-pipe", false, "let names be pipe:COMMAND, which runs a program of yours and reads its output")
	o.AddServices(flags)
}

// AddServices registers the flags of services. Formats that read directories have no other flags of
// Remote, because a program cannot write a directory.
func (o *Remote) AddServices(flags *pflag.FlagSet) {
	flags.StringArrayVar(&o.rewrite, "rewrite", nil, "change the start of names, REGEX=REPLACEMENT, before GOPEN_REWRITE and WDS_REWRITE; may be repeated, the first rule that changes a name counts")
	o.AddConnection(flags)
}

// AddConnection registers the flags of the connection to services.
func (o *Remote) AddConnection(flags *pflag.FlagSet) {
	flags.StringVar(&o.s3.Endpoint, "s3-endpoint", "", "URL of the S3 service (default AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's, Amazon's)")
	flags.StringVar(&o.s3.Region, "s3-region", "", "region of the S3 service (default AWS_REGION, the profile's, the bucket's own)")
	flags.StringVar(&o.s3.Profile, "s3-profile", "", "profile of ~/.aws whose credentials and settings are used (default AWS_PROFILE, or default)")
	flags.Var(&o.pathStyle, "s3-path-style", "where the bucket stands, path for endpoint/bucket, host for bucket.endpoint: auto, path or host")
	flags.BoolVar(&o.anonymous, "anonymous", false, "ask services without credentials")
	flags.Var(option.Between(&o.connections, 1, maxConnections), "connections", "ranges and parts that are fetched or uploaded at once, all objects together, 512 at most")
	flags.Var(option.AtLeast(&o.retries, 0), "retries", "attempts in a row that may bring nothing before an object is given up")
	flags.Var(period{&o.patience, true}, "fetch-timeout", "how long an object may take beyond what it takes at 64 KiB a second")
}

// maxConnections bounds the memory of connections, 256 KiB each.
const maxConnections = 512

// client returns a client of the services. It connects when the first object is read.
func (o *Remote) client() *store.Client {
	how := store.Options{S3: o.s3, Anonymous: o.anonymous, Connections: o.connections, Retries: o.retries, Patience: o.patience}
	if o.pathStyle.Value != "auto" {
		how.S3.PathStyle = o.pathStyle.Value
	}
	if o.retries == 0 {
		how.Retries = -1
	}
	return store.New(how)
}

// apply sets the options of packages input and internal/stage.
func (o *Remote) apply(in *stage.Options) {
	in.AllowPipe, in.Rewrite, in.Remote, in.Fetches = o.allowPipe, o.rewrite, o.client(), o.connections
}
