package dataset

import (
	"cmp"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Resumable returns the part-aligned plan stored in this directory if [plan.NewAligned] would make it
// again from parts and opts, else nil. It does not compare the columns, the description and the
// encodings of a mixture, which only fetched parts show, nor an encoding that is not known yet ("").
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

// KeepForm gives p the indexes of the dataset that was begun here, if p would make it again with other
// ones: a plan made before plans had Columns.Alike has a row for every sample in its indexes. Run, finish
// and repair take the plan from the directory and need no KeepForm.
func (o *Output) KeepForm(p *plan.Plan) error {
	if !p.Columns.Alike {
		return nil
	}
	c, err := o.existing(false)
	if err != nil {
		return err
	}
	rows := *p
	rows.Columns.Alike = false
	digest, err := rows.Digest()
	if err == nil && digest == c.digest {
		p.Columns.Alike = false
	}
	return err
}

// Rollback removes a plan of which no shard is finished, and all that was made for it.
func (o *Output) Rollback(plan *plan.Plan) error {
	shards, err := o.Shards()
	if err != nil || len(shards) > 0 {
		return err // the shards may belong to another dataset, or the journal that named them was lost
	}
	if complete, err := o.has(ManifestName); err != nil || complete {
		return err
	}
	var names []string
	for i := range plan.Shards {
		names = append(names, IndexName(plan.Shards[i].Name))
	}
	if err := o.erase(names...); err != nil {
		return err
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
	if err := o.erase(JournalName); err != nil {
		return err
	}
	return o.erase(PlanName)
}
