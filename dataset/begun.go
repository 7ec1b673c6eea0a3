package dataset

import (
	"cmp"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Resumable returns the plan of whole parts that was begun here, if it is the one that
// [plan.NewAligned] makes of these parts and options, whatever the first part shows, and how
// the parts of a mixture are encoded, which its source decides: nothing needs to be fetched to
// know it. Where the encoding is not known yet (""), it is not
// compared. nil: there is none, or another one.
func (o *Output) Resumable(parts []converters.Part, opts plan.Options) (*plan.Plan, error) {
	c, err := o.existing(false)
	if err != nil {
		return nil, err
	}
	begun := c.plan
	if begun == nil || !begun.Whole {
		return nil, nil
	}
	if planned, err := o.has(PlanName); err != nil || !planned {
		return nil, err
	}
	want, err := plan.NewAligned(parts, nil, opts)
	if err != nil {
		return nil, err
	}
	want.Columns, want.Dataset, want.Encodes = begun.Columns, begun.Dataset, begun.Encodes
	for i := range min(len(want.Parts), len(begun.Parts)) {
		want.Parts[i].Encode = begun.Parts[i].Encode
	}
	want.Encode.Encoding = cmp.Or(want.Encode.Encoding, begun.Encode.Encoding)
	if digest, err := want.Digest(); err != nil || digest != c.digest {
		return nil, err
	}
	return begun, nil
}

// Rollback leaves the directory as it was before a plan was begun of which no shard is finished.
func (o *Output) Rollback(plan *plan.Plan) error {
	shards, err := o.shards()
	if err != nil || len(shards) > 0 {
		return err // of another dataset, or of this one from before its journal was lost
	}
	if complete, err := o.has(ManifestName); err != nil || complete {
		return err
	}
	for i := range plan.Shards {
		if err := o.Remove(IndexName(plan.Shards[i].Name)); err != nil {
			return err
		}
	}
	o.Root.Remove(IndexDir) // unless there is more in it
	o.began = false
	return o.removePlan()
}

// removePlan removes the journals and the plan; the plan last, because it shows that the rest is ours.
func (o *Output) removePlan() error {
	if err := o.Root.RemoveAll(JournalsDir); err != nil {
		return err
	}
	for _, name := range []string{JournalName, PlanName} {
		if err := o.Remove(name); err != nil {
			return err
		}
	}
	return nil
}
