package dataset

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// existing is the dataset in a directory, as its plan, journal and manifest describe it. Files that none of them names
// belong to other programs and are never removed.
type existing struct {
	of       *Dataset
	plan     *plan.Plan // begun here; of a manifest alone, all but its shards; nil: nothing was
	digest   string     // digest of the plan
	damage   error      // why the plan file cannot be read; nil: it can, or there is none
	other    error      // ErrManifestVersion of the manifest; nil: it has this version
	journal  *Journal
	manifest *Manifest       // nil: there is none, or a damaged one
	shards   []string        // names here that readers take for shards
	ours     map[string]bool // shards that plan, journal or manifest name
}

// readExisting reads the dataset in a directory.
func readExisting(d *Dataset) (*existing, error) {
	c := &existing{of: d}
	var err error
	if c.shards, err = d.Shards(); err != nil {
		return nil, err
	}
	if c.journal, err = readJournal(d.Dir, "", 0, 0, maxShards); err != nil {
		return nil, err
	}
	if err := c.readManifest(); err != nil {
		return nil, err
	}
	if m := c.manifest; m != nil && m.PlanDigest == c.journal.head.Plan {
		c.journal.Learn(m.Shards)
	}
	if err := c.readPlan(); err != nil {
		return nil, err
	}
	c.own()
	if c.plan != nil || c.manifest != nil || c.other != nil {
		return c, nil
	}
	begun, err := d.has(JournalName)
	if err == nil && !begun {
		err = c.foreignFiles()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *existing) readManifest() error {
	m, err := c.of.Manifest()
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
	c.plan = &plan.Plan{Recipe: m.Recipe, Parts: m.Sources}
	c.digest = m.PlanDigest
	return nil
}

func (c *existing) readPlan() error {
	var p *plan.Plan
	err := usePlan(c.of.Root, func(f *plan.File) (err error) {
		p, err = f.Plan()
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, plan.ErrDamaged), errors.Is(err, plan.ErrVersion):
		c.damage = err
		return nil
	case err != nil:
		return err
	}
	c.plan = p
	c.digest, err = p.Digest()
	return err
}

// own enters the shards that plan, journal and manifest name.
func (c *existing) own() {
	c.ours = make(map[string]bool)
	for name := range c.journal.Was {
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

// refused returns an error for the first name in .ffr that no plan, journal or manifest names or, unless overwrite is
// set, that is not a regular file: the user must move it away before anything is written.
func (c *existing) refused(overwrite bool) error {
	for _, name := range c.shards {
		if !c.ours[name] {
			return c.foreign(name)
		}
		st, err := c.of.Lookup(name)
		if err == nil && st != nil && !overwrite {
			err = notRegular(c.of.Path(name), st, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreignFiles refuses a directory without a dataset in which a file has a name that a conversion would use.
func (c *existing) foreignFiles() error {
	for _, name := range []string{ManifestName, SignatureName, MetaName, IndexDir} {
		there, err := c.of.has(name)
		if err != nil {
			return err
		}
		if there {
			return c.foreign(name)
		}
	}
	return nil
}

func (c *existing) foreign(name string) error {
	return fmt.Errorf("%s: %w: no plan or manifest there names its %s; move it away", c.of.Name(), ErrOccupied, name)
}

// existing returns the dataset that was begun here. It refuses one that this process cannot continue or, with overwrite,
// replace.
func (t *Task) existing(overwrite bool) (*existing, error) {
	c, err := readExisting(t.Dataset)
	if err != nil {
		return nil, err
	}
	t.SHA256 = t.SHA256 || !overwrite && (c.journal.summed() || c.manifest != nil && c.manifest.Root != "")
	if c.other != nil && !overwrite {
		return nil, c.other
	}
	if c.damage != nil && !overwrite && (c.plan == nil || errors.Is(c.damage, plan.ErrVersion)) {
		return nil, t.badPlan(c.damage, false)
	}
	if err := c.refused(overwrite); err != nil {
		return nil, err
	}
	if c.plan == nil && len(c.shards) > 0 && !overwrite {
		return nil, c.occupied("its plan is missing")
	}
	return c, nil
}

func (c *existing) occupied(why string) error {
	return &place.Error{Where: c.of.Name(), Off: -1, Err: place.Options("%w: %s", ErrOccupied, why), Hint: "option overwrite replaces it", Kind: place.Usage}
}
