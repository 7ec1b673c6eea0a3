package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// An occupant is the dataset that a directory holds, as its own files tell of it. What
// they do not name is somebody else's and is never removed.
type occupant struct {
	plan     *Plan  // begun here; of a manifest alone, all but its shards; nil: nothing was
	digest   string // of the plan
	damage   error  // of the plan file; nil: none
	other    error  // the manifest is of another version; nil: it is not
	journal  *journal
	manifest *Manifest       // nil: there is none, or a damaged one
	shards   []string        // names here that readers take for shards
	ours     map[string]bool // shards that plan, journal or manifest name
}

// occupant reads what is here.
func (o *Output) occupant() (*occupant, error) {
	c := &occupant{}
	var err error
	if c.shards, err = o.shards(); err != nil {
		return nil, err
	}
	if c.journal, err = o.journals(); err != nil {
		return nil, err
	}
	if err := c.readManifest(o); err != nil {
		return nil, err
	}
	if err := c.readPlan(o.root); err != nil {
		return nil, err
	}
	c.own()
	if c.plan != nil || c.manifest != nil || c.other != nil {
		return c, nil
	}
	begun, err := o.has(journalName)
	if err == nil && !begun {
		err = o.strangers()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *occupant) readManifest(o *Output) error {
	m, err := o.manifest()
	switch {
	case errors.Is(err, ErrManifest):
		return nil // the plan and the journal tell more
	case errors.Is(err, ErrManifestVersion):
		c.other = err
		return nil
	}
	if err != nil || m == nil {
		return err
	}
	c.manifest = m
	c.plan = &Plan{Source: m.Source, Encode: m.Encode, Encodes: m.Encodes, Shuffle: m.Shuffle, Parts: m.Sources}
	c.digest = m.PlanDigest
	return nil
}

func (c *occupant) readPlan(root *os.Root) error {
	f, err := openKept(root, PlanName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	plan, err := ReadPlan(f)
	if errors.Is(err, ErrPlan) || errors.Is(err, ErrPlanVersion) {
		c.damage = err
		return nil
	}
	if err != nil {
		return err
	}
	c.plan = plan
	c.digest, err = plan.Digest()
	return err
}

// own enters the shards that plan, journal and manifest name.
func (c *occupant) own() {
	c.ours = make(map[string]bool)
	for name := range c.journal.was {
		c.ours[name] = true
	}
	if c.manifest != nil {
		for _, s := range c.manifest.Shards {
			c.ours[s.Name] = true
		}
	}
	if c.plan != nil {
		for i := range c.plan.Shards {
			c.ours[c.plan.Shards[i].Name] = true
		}
	}
}

// refused names the first file here that readers take for a shard and that must be moved away before
// anything is written: one that is not ours, or, unless all are to be replaced, not a regular file.
func (c *occupant) refused(o *Output, overwrite bool) error {
	for _, name := range c.shards {
		if !c.ours[name] {
			return o.foreign(name)
		}
		st, err := o.Lookup(name)
		if err == nil && st != nil && !overwrite {
			err = notRegular(o.path(name), st, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// strangers refuses a directory without a dataset of ours that holds files whose names a
// conversion would take.
func (o *Output) strangers() error {
	for _, name := range []string{ManifestName, metaName, indexDir} {
		there, err := o.has(name)
		if err != nil {
			return err
		}
		if there {
			return o.foreign(name)
		}
	}
	return nil
}

func (o *Output) foreign(name string) error {
	return fmt.Errorf("%s: %w: no plan or manifest there names its %s; move it away", o.dir, ErrOccupied, name)
}

// vacancy returns what is begun here, and refuses what is not ours to go on with or to
// replace.
func (o *Output) vacancy(overwrite bool) (*occupant, error) {
	c, err := o.occupant()
	if err != nil {
		return nil, err
	}
	if c.other != nil && !overwrite {
		return nil, c.other
	}
	if err := c.refused(o, overwrite); err != nil {
		return nil, err
	}
	if errors.Is(c.damage, ErrPlanVersion) && !overwrite {
		return nil, fmt.Errorf("%s: %w", o.dir, c.damage)
	}
	if c.plan == nil && c.damage != nil && !overwrite {
		return nil, o.occupied(c.damage.Error())
	}
	if c.plan == nil && len(c.shards) > 0 && !overwrite {
		return nil, o.occupied("its plan is missing")
	}
	return c, nil
}

func (o *Output) occupied(why string) error {
	return fmt.Errorf("%s: %w: %s; --overwrite replaces it", o.dir, ErrOccupied, why)
}

// clear removes a dataset: its manifest first, so that it is at no time half there and
// taken for whole; its plan last, so that what is left of it is known as ours.
func (o *Output) clear(c *occupant) error {
	if err := o.remove(ManifestName); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(o.root, "."); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.ours)) {
		for _, name := range []string{name, indexName(name)} {
			if err := o.remove(name); err != nil {
				return err
			}
		}
	}
	if err := o.remove(metaName); err != nil {
		return err
	}
	o.root.Remove(indexDir) // unless there is more in it
	if err := atomicfile.SyncDir(o.root, "."); err != nil {
		return err
	}
	if err := o.root.RemoveAll(journalsDir); err != nil {
		return err
	}
	for _, name := range []string{journalName, PlanName} {
		if err := o.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// shards lists the names here that readers take for shards.
func (o *Output) shards() ([]string, error) {
	names, err := readNames(o.root, ".")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, record.Ext) }), nil
}
