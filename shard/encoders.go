package shard

import (
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// encoders holds the encoders of one reader, one for each encoding, made on first use.
type encoders struct {
	specs []*encode.Spec
	made  []*encode.Encoder
}

func newEncoders(specs ...*encode.Spec) *encoders {
	return &encoders{specs, make([]*encode.Encoder, len(specs))}
}

func (e *encoders) of(part *plan.Part) *encode.Encoder {
	if e.made[part.Encode] == nil {
		e.made[part.Encode] = e.specs[part.Encode].NewEncoder()
	}
	return e.made[part.Encode]
}
