package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// existing is the dataset in a directory, as its own files describe it. Files that they do not name
// belong to other programs and are never removed.
type existing struct {
	plan     *plan.Plan // begun here; of a manifest alone, all but its shards; nil: nothing was
	digest   string     // digest of the plan
	damage   error      // why the plan file cannot be read; nil: it can, or there is none
	other    error      // ErrManifestVersion of the manifest; nil: it has this version
	journal  *Journal
	manifest *Manifest       // nil: there is none, or a damaged one
	shards   []string        // names here that readers take for shards
	ours     map[string]bool // shards that plan, journal or manifest name
}

// readExisting reads the dataset in the directory.
func (o *Output) readExisting() (*existing, error) {
	c := &existing{}
	var err error
	if c.shards, err = o.Shards(); err != nil {
		return nil, err
	}
	if c.journal, err = o.journals(); err != nil {
		return nil, err
	}
	if err := c.readManifest(o); err != nil {
		return nil, err
	}
	c.journal.learn(c.manifest)
	if err := c.readPlan(o.Root); err != nil {
		return nil, err
	}
	c.own()
	if c.plan != nil || c.manifest != nil || c.other != nil {
		return c, nil
	}
	begun, err := o.has(JournalName)
	if err == nil && !begun {
		err = o.foreignFiles()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (c *existing) readManifest(o *Output) error {
	m, err := o.Manifest()
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
	c.plan = &plan.Plan{Source: m.Source, Encode: m.Encode, Encodes: m.Encodes, Shuffle: m.Shuffle, Choice: m.Choice, Parts: m.Sources}
	c.digest = m.PlanDigest
	return nil
}

func (c *existing) readPlan(root *os.Root) error {
	f, err := openKept(root, PlanName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := plan.Read(f)
	if errors.Is(err, plan.ErrDamaged) || errors.Is(err, plan.ErrVersion) {
		c.damage = err
		return nil
	}
	if err != nil {
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

// refused names the first file here that readers take for a shard and that must be moved away before
// anything is written: one that is not ours, or, unless all are to be replaced, not a regular file.
func (c *existing) refused(o *Output, overwrite bool) error {
	for _, name := range c.shards {
		if !c.ours[name] {
			return o.foreign(name)
		}
		st, err := o.Lookup(name)
		if err == nil && st != nil && !overwrite {
			err = notRegular(o.Path(name), st, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreignFiles refuses a directory without a dataset of ours in which a file has a name that a
// conversion uses.
func (o *Output) foreignFiles() error {
	for _, name := range []string{ManifestName, SignatureName, MetaName, IndexDir} {
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
	return fmt.Errorf("%s: %w: no plan or manifest there names its %s; move it away", o.Name(), ErrOccupied, name)
}

// existing returns the dataset that was begun here, and refuses one that is not ours to go on with or to
// replace.
func (o *Output) existing(overwrite bool) (*existing, error) {
	c, err := o.readExisting()
	if err != nil {
		return nil, err
	}
	if c.other != nil && !overwrite {
		return nil, c.other
	}
	if c.damage != nil && !overwrite && (c.plan == nil || errors.Is(c.damage, plan.ErrVersion)) {
		return nil, o.badPlan(c.damage, false)
	}
	if err := c.refused(o, overwrite); err != nil {
		return nil, err
	}
	if c.plan == nil && len(c.shards) > 0 && !overwrite {
		return nil, o.occupied("its plan is missing")
	}
	return c, nil
}

func (o *Output) occupied(why string) error {
	because := &place.OptionsError{Text: fmt.Sprintf("%v: %s", ErrOccupied, why), Err: ErrOccupied}
	return &place.Error{Where: o.Name(), Off: -1, Err: because, Hint: "WriteOptions.Overwrite replaces it", Kind: place.Usage}
}

// clear removes a dataset: its manifest first, so that it is at no time half there and
// taken for whole; its plan last, so that the rest is known as ours.
func (o *Output) clear(c *existing) error {
	if err := o.RemoveManifest(); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(o.Root, "."); err != nil {
		return err
	}
	names := []string{MetaName, KeysName}
	for _, name := range slices.Sorted(maps.Keys(c.ours)) {
		names = append(names, name, IndexName(name), path.Join(DoneDir, name))
	}
	if err := o.erase(names...); err != nil {
		return err
	}
	o.Root.Remove(IndexDir) // unless there is more in it
	if err := atomicfile.SyncDir(o.Root, "."); err != nil {
		return err
	}
	return o.removePlan()
}

// Shards lists the names here that readers take for shards.
func (o *Output) Shards() ([]string, error) {
	names, err := readNames(o.Root, ".")
	if err != nil {
		return nil, err
	}
	if o.Objects != nil {
		names = append(names, o.Objects.Names("")...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, record.Ext) || strings.Contains(name, "/") }), nil
}
