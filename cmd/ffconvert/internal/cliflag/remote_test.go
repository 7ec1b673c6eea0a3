package cliflag

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/store"
)

func TestRemoteFlags(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args string
		want func(o *Place) bool // nil: refused
	}{
		{"", func(o *Place) bool {
			return !o.allowPipe && o.rewrite == nil && o.service.S3 == (store.S3Options{}) && o.pathStyle.Value == "auto" && !o.service.Anonymous &&
				o.service.Connections == store.DefaultConnections && o.service.Retries == store.DefaultRetries && o.service.Patience == store.DefaultPatience
		}},
		{"--allow-pipe --anonymous --rewrite a=b,c --rewrite d=e", func(o *Place) bool {
			return o.allowPipe && o.service.Anonymous && len(o.rewrite) == 2 && o.rewrite[0] == "a=b,c"
		}},
		{"--s3-endpoint localhost:9000 --s3-region r --s3-profile p --s3-path-style path", func(o *Place) bool {
			return o.service.S3 == store.S3Options{Endpoint: "localhost:9000", Region: "r", Profile: "p"} && o.pathStyle.Value == "path"
		}},
		{"--connections 1 --retries 0 --fetch-timeout 90s", func(o *Place) bool {
			return o.service.Connections == 1 && o.service.Retries == 0 && o.service.Patience == 90*time.Second
		}},
		{"--s3-path-style other", nil}, {"--connections 0", nil}, {"--connections 513", nil}, {"--retries -1", nil}, {"--retries x", nil},
		{"--fetch-timeout 0", nil}, {"--fetch-timeout -1s", nil}, {"--fetch-timeout 90", nil},
	} {
		o := NewPlace()
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		o.AddSources(flags, true)
		err := flags.Parse(strings.Fields(row.args))
		if (err == nil) != (row.want != nil) || err == nil && !row.want(&o) {
			t.Errorf("%s: %+v, %v", row.args, o, err)
		}
	}
}

func TestRemoteApply(t *testing.T) {
	t.Parallel()
	o := NewConversion()
	o.Place.allowPipe, o.Place.rewrite = true, []string{"a=b"}
	in := o.Staging()
	if !in.AllowPipe || in.Rewrite == nil || in.Remote == nil {
		t.Errorf("%+v", in)
	}
}

// No format has a flag of these names: a plan would keep it.
func TestSecurityRemoteFlagsAreInNoPlan(t *testing.T) {
	t.Parallel()
	o := NewPlace()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddSources(flags, true)
	for _, name := range format.Names() {
		f, _ := format.Named(name)
		for _, opt := range f.Reader().Set.All() {
			if flags.Lookup(opt.Name) != nil {
				t.Errorf("%s has --%s", f.Name, opt.Name)
			}
		}
	}
}

func TestGraceFlag(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0": 0, "90s": 90 * time.Second, "15m": 15 * time.Minute, "90": -1, "-1s": -1, "": -1, "long": -1} {
		var d time.Duration
		if err := Period(&d).Set(text); (err == nil) != (want >= 0) || err == nil && d != want {
			t.Errorf("%q: %v, %v", text, d, err)
		}
	}
}
