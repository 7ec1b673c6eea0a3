package dataset

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"strings"

	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// Kinds of problems with the plan, the journal and the manifest.
const (
	BadPlan     verify.Kind = "plan"     // the plan or the journal is damaged, or of another dataset
	BadManifest verify.Kind = "manifest" // the manifest says something else than the plan and the journal
)

// A Repairable tells whether plan, journal and manifest suffice for a repair. The sources are needed, too.
type Repairable struct {
	Out      string    `json:"out"`
	Possible bool      `json:"possible"`
	Reason   string    `json:"reason,omitempty"` // why not, or what else a repair needs
	Plan     fileState `json:"plan"`
	Journal  fileState `json:"journal"`

	Named    []string         `json:"-"` // the sources as the user named them, if the journal is sound
	Problems []verify.Problem `json:"-"`
}

// A fileState is the state of the plan or the journal.
type fileState string

var errJournal = errors.New("journal is damaged")

// The states of a file. One that is absent is not a problem: a dataset that was copied without its
// working directory is whole, and cannot be repaired.
const (
	isSound   fileState = "sound"
	isMissing fileState = "missing"
	isDamaged fileState = "damaged"
	isUnknown fileState = "unknown" // it could not be read
)

// checkKept compares the plan and the journal of a dataset with its manifest: the digest of the
// plan, the checksum of every line, each shard, and every member of the manifest that follows from
// the two. It reads no shard and changes nothing.
func (d *Dataset) checkKept(m *Manifest) (*Repairable, error) {
	r := &Repairable{Out: d.Name()}
	if err := d.ownDirs(WorkDir); err != nil {
		r.problem(d.Path(WorkDir), WorkDir, verify.Unreadable, err)
		r.Plan, r.Journal, r.Reason = isUnknown, isUnknown, err.Error()
		return r, nil
	}
	plan, err := d.outline(m)
	r.Plan = r.look(d.Path(PlanName), PlanName, err)
	j, err := d.checkedJournal(m)
	if r.Journal = r.look(d.Path(JournalName), JournalName, err); r.Journal == isSound {
		r.Named = j.head.Named
	}
	c := &existing{of: d, plan: plan, journal: j, manifest: m}
	if c.shards, err = d.Shards(); err != nil {
		return nil, err
	}
	c.own()
	refused := cmp.Or(d.ownFiles(), c.refused(false))
	r.Possible = r.Plan == isSound && r.Journal != isUnknown && refused == nil
	switch {
	case r.Plan != isSound:
		r.Reason = "the plan is " + string(r.Plan)
	case refused != nil:
		r.Reason = refused.Error()
	case r.Journal == isUnknown:
		r.Reason = "the journal is unknown"
	case r.Journal != isSound:
		r.Reason = fmt.Sprintf("the journal is %s, so name the sources", r.Journal)
	}
	if plan != nil {
		if name := m.contradicts(plan, j); name != "" {
			r.problem(d.Path(ManifestName), ManifestName, BadManifest, fmt.Errorf("its %q is not what the plan and the journal say", name))
		}
	}
	return r, nil
}

// look returns the state of a checked file, and enters its problem.
func (r *Repairable) look(path, name string, err error) fileState {
	switch {
	case err == nil:
		return isSound
	case errors.Is(err, fs.ErrNotExist):
		return isMissing
	case errors.Is(err, fs.ErrPermission):
		return isUnknown
	case errors.Is(err, plan.ErrDamaged), errors.Is(err, plan.ErrVersion), errors.Is(err, errJournal):
		r.problem(path, name, BadPlan, err)
		return isDamaged
	}
	r.problem(path, name, verify.Unreadable, err)
	return isUnknown
}

func (r *Repairable) problem(path, name string, kind verify.Kind, err error) {
	r.Problems = append(r.Problems, verify.NewProblem(path, name, kind, err))
}

// outline reads the plan of a manifest, all but the runs of its shards. The digest proves that each
// line is the one that the conversion wrote; one that differs is [plan.ErrDamaged].
func (d *Dataset) outline(m *Manifest) (p *plan.Plan, err error) {
	err = usePlan(d.Root, func(f *plan.File) (err error) {
		p, err = f.Outline(m.PlanDigest)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// checkedJournal reads the journal of a manifest, which must have a line of each of its shards. One
// that differs is [plan.ErrDamaged]; what can be read of it is returned all the same.
func (d *Dataset) checkedJournal(m *Manifest) (*Journal, error) {
	j := newJournal(d.Dir)
	data, err := readKept(d.Root, JournalName)
	if err != nil {
		return j, err
	}
	if whole := j.read(data); whole < int64(len(data)) {
		return j, fmt.Errorf("%w: line %d differs from its CRC, or is cut", errJournal, lineAt(data, whole))
	}
	if j.head.Plan != m.PlanDigest || len(j.head.Pins) != len(m.Sources) {
		return newJournal(d.Dir), fmt.Errorf("%w: it is of another plan than the manifest's", errJournal)
	}
	for _, s := range m.Shards {
		switch was, ok := j.Was[s.Name]; {
		case !ok:
			return j, fmt.Errorf("%w: it has no line of %s", errJournal, s.Name)
		case !was.is(s):
			return j, fmt.Errorf("%w: it has another %s than the manifest", errJournal, s.Name)
		}
	}
	return j, nil
}

// contradicts compares a manifest with the one that the plan and the journal make, and returns the first member that
// differs, "" for none. Shards that the journal has no line of are taken as the manifest has them.
func (m *Manifest) contradicts(plan *plan.Plan, j *Journal) string {
	if len(plan.Shards) != len(m.Shards) {
		return "shards"
	}
	done, known := maps.Clone(j.Was), true
	for i, s := range m.Shards {
		if was, ok := done[s.Name]; ok && was.is(s) {
			was.ManifestShard = s // with the sums that the manifest has
			done[s.Name] = was
			continue
		}
		f := Finished{ManifestShard: s, Verified: m.Verified, From: m.VerifiedFrom}
		if first, n := plan.Shards[i].First, plan.Shards[i].Parts; plan.Whole && len(m.Sources) == len(plan.Parts) {
			f.Parts = m.Sources[first : first+n]
		}
		done[s.Name], known = f, known && !plan.Whole
	}
	want := newManifest(plan.WithParts(partsOf(done)), &Journal{head: journalHead{Plan: m.PlanDigest}, Done: done}, m.Tool)
	want.Created = m.Created
	is := m.Meta
	if known { // else the fields of the samples are not
		meta, err := encodeJSON(newMeta(plan.WithParts(partsOf(done))))
		if err != nil {
			return "meta"
		}
		is = sumOf(meta)
	}
	want.describe(is)
	has, must := reflect.ValueOf(*m), reflect.ValueOf(*want)
	for _, f := range reflect.VisibleFields(has.Type()) {
		if f.Anonymous {
			continue
		}
		a, _ := encodeJSON(has.FieldByIndex(f.Index).Interface())
		if b, err := encodeJSON(must.FieldByIndex(f.Index).Interface()); err != nil || !bytes.Equal(a, b) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name
		}
	}
	return ""
}
