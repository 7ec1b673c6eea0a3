package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/audit"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
)

// proofOptions are the flags of verify that ask for more than checksums.
type proofOptions struct {
	key    cliflag.Name
	sha256 bool
	sample sampleValue
	seed   uint64
	seeded bool
}

func (o *proofOptions) add(flags *pflag.FlagSet) {
	flags.Var(&o.key, "key", "public key of minisign, or its file: the manifest must be signed by it, and the SHA-256 of all files be those of the manifest")
	flags.BoolVar(&o.sha256, "sha256", false, "compare the SHA-256 of all files with the manifest, signed or not")
	flags.Var(&o.sample, "sample", "read a share of the shards, drawn at random, or so many of them: 1%, 20 (default all)")
	flags.Uint64Var(&o.seed, "seed", 0, "what --sample draws from, to read the same shards again (default random)")
	for _, name := range []string{"key", "sample", "seed"} {
		help.MarkProof(flags, name)
	}
}

func (o *proofOptions) check(flags *pflag.FlagSet) error {
	if o.seeded = flags.Changed("seed"); o.seeded && o.sample.text == "" {
		return fmt.Errorf("--seed %d: nothing is drawn without --sample", o.seed)
	}
	return nil
}

// want returns what is compared. It reads the key.
func (o *proofOptions) want() (audit.Want, error) {
	want := audit.Want{SHA256: o.sha256}
	if o.sample.text != "" {
		want.Sample = &dataset.Sample{Percent: o.sample.percent, Shards: o.sample.shards, Seed: o.seed}
		if !o.seeded {
			want.Sample.Seed = uint64(rand.Uint32())
		}
	}
	if o.key == "" {
		return want, nil
	}
	key, err := signature.ReadPublicKey(string(o.key))
	want.Key = key
	return want, err
}

// A sampleValue is the value of --sample.
type sampleValue struct {
	text    string
	percent float64 // 0: shards is set
	shards  int
}

func (v *sampleValue) String() string { return v.text }
func (v *sampleValue) Type() string   { return "number|percent" }

func (v *sampleValue) Set(text string) error {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0 && percent <= 100) || strings.ContainsAny(number, "xXpP_") {
			return errSample
		}
		*v = sampleValue{text: text, percent: percent}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errSample
	}
	*v = sampleValue{text: text, shards: n}
	return nil
}

var errSample = errors.New("want a share above 0%, as in 1%, 100% at most, or a number of shards")
