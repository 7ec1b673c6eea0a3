package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
)

// An occupant is the dataset that a directory holds, as its own files tell of it. What
// they do not name is somebody else's and is never removed.
type occupant struct {
	plan     *Plan           // begun here; of a manifest alone, all but its shards; nil: nothing was
	digest   string          // of the plan
	damage   error           // of the plan file; nil: none
	manifest *Manifest       // nil: there is none, or a damaged one
	shards   []string        // names here that readers take for shards
	ours     map[string]bool // shards that plan, journal or manifest name
}

// occupant reads what is here.
func (o *Output) occupant() (*occupant, error) {
	c := &occupant{ours: make(map[string]bool)}
	var err error
	if c.shards, err = o.shards(); err != nil {
		return nil, err
	}
	data, err := readJournal(o.root)
	if err != nil {
		return nil, err
	}
	j := newJournal()
	j.read(data)
	for name := range j.was {
		c.ours[name] = true
	}
	if err := c.readManifest(o.root); err != nil {
		return nil, err
	}
	if err := c.readPlan(o.root); err != nil {
		return nil, err
	}
	if c.plan == nil && c.manifest == nil && len(data) == 0 {
		return c, o.strangers()
	}
	return c, nil
}

func (c *occupant) readManifest(root *os.Root) error {
	f, err := openKept(root, ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	m, err := decodeManifest(f)
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return err
	}
	if err != nil {
		return nil // damaged: the plan and the journal tell more
	}
	c.manifest = m
	for _, s := range m.Shards {
		c.ours[s.Name] = true
	}
	c.plan = &Plan{Source: m.Source, Encode: m.Encode, Shuffle: m.Shuffle, Parts: m.Sources}
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
	if errors.Is(err, ErrPlan) {
		c.damage = err
		return nil
	}
	if err != nil {
		return err
	}
	for i := range plan.Shards {
		c.ours[plan.Shards[i].Name] = true
	}
	c.plan = plan
	c.digest, err = plan.Digest()
	return err
}

// strangers refuses a directory without a dataset of ours that holds files whose names a
// conversion would take.
func (o *Output) strangers() error {
	for _, name := range []string{ManifestName, metaName, indexDir} {
		if o.has(name) {
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
	for _, name := range c.shards {
		if !c.ours[name] {
			return nil, o.foreign(name)
		}
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

// Check says whether a dataset may be written here, from what is known of it before its
// sources are read: into a directory without one, or one where a conversion of the same
// sources with the same options was begun. Otherwise it is [ErrOccupied], unless
// overwrite is set. Where the sources (nil) or the encoding ("") are not known yet, they
// are not compared. Write checks the whole plan once more.
func (o *Output) Check(opts Options, sources []string, overwrite bool) error {
	c, err := o.vacancy(overwrite)
	if err != nil || c.plan == nil || overwrite {
		return err
	}
	want := &Plan{Source: opts.Source, Encode: opts.Encode, Shuffle: opts.Shuffle}
	if want.Encode.Encoding == "" {
		want.Encode.Encoding = c.plan.Encode.Encoding
	}
	if why := otherOptions(c.plan, want); why != "" {
		return o.occupied(why)
	}
	if sources == nil {
		return nil
	}
	for _, name := range sources {
		want.Parts = append(want.Parts, Part{Name: name})
	}
	if why := otherSources(c.plan, want); why != "" {
		return o.occupied(why)
	}
	return nil
}

// clash says why the dataset that was begun here is not the one that the plan makes:
// because of other options or sources, or because a source has changed.
func (o *Output) clash(begun, want *Plan) error {
	if why := otherOptions(begun, want); why != "" {
		return o.occupied(why)
	}
	if why := otherSources(begun, want); why != "" {
		return o.occupied(why)
	}
	for i := range want.Parts {
		was, is := begun.Parts[i], want.Parts[i]
		was.Account.Seen, is.Account.Seen, is.modified = nil, nil, 0
		switch {
		case reflect.DeepEqual(was, is):
		case was.Size != is.Size:
			return changed(is.Name, fmt.Sprintf("it had %d bytes when its conversion was begun, it has %d", was.Size, is.Size))
		case was.Account.Samples != is.Account.Samples:
			return changed(is.Name, fmt.Sprintf("it had %d samples when its conversion was begun, it has %d", was.Account.Samples, is.Account.Samples))
		default:
			return changed(is.Name, "it had other samples when its conversion was begun")
		}
	}
	if reflect.DeepEqual(begun.Dataset, want.Dataset) && samplesOf(begun) == samplesOf(want) {
		return o.occupied("it was made with other sizes of shards (--shards, --shard-size, --min-shard-size, --max-shards), or its samples have changed")
	}
	return o.occupied("its samples, classes or columns are others")
}

func samplesOf(p *Plan) int64 {
	n, _ := p.Totals()
	return n
}

// otherOptions names the first option in which two plans differ.
func otherOptions(begun, want *Plan) string {
	if begun.Source.Format != want.Source.Format {
		return fmt.Sprintf("it was made by ffconvert %s", begun.Source.Format)
	}
	a, b := begun.Source.Options, want.Source.Options
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if was, had := a[name]; !had {
			return fmt.Sprintf("it was made without --%s", name)
		} else if is, has := b[name]; !has || was != is {
			return fmt.Sprintf("it was made with --%s=%s", name, was)
		}
	}
	d, e := begun.Encode, want.Encode
	for _, option := range []struct {
		flag    string
		was, is any
	}{
		{"encode", d.Encoding, e.Encoding}, {"fields", d.Fields, e.Fields}, {"rename", strings.Join(d.Rename, " "), strings.Join(e.Rename, " ")},
		{"decode", d.Decode, e.Decode}, {"missing", d.Missing, e.Missing},
	} {
		if option.was != option.is {
			return fmt.Sprintf("it was made with --%s=%v", option.flag, option.was)
		}
	}
	switch {
	case reflect.DeepEqual(begun.Shuffle, want.Shuffle):
		return ""
	case begun.Shuffle == nil:
		return "it was made without --shuffle"
	default:
		return fmt.Sprintf("it was made with --shuffle --seed=%d", begun.Shuffle.Seed)
	}
}

// otherSources names the first source in which two plans differ.
func otherSources(begun, want *Plan) string {
	for i := range min(len(begun.Parts), len(want.Parts)) {
		if was := begun.Parts[i].Name; was != want.Parts[i].Name {
			return fmt.Sprintf("it was made of other sources: %q in place of %q", was, want.Parts[i].Name)
		}
	}
	if len(begun.Parts) != len(want.Parts) {
		return fmt.Sprintf("it was made of %d sources, not %d", len(begun.Parts), len(want.Parts))
	}
	return ""
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
	for name := range c.ours {
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
	for _, name := range []string{journalName, PlanName} {
		if err := o.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// shards lists the names here that readers take for shards.
func (o *Output) shards() ([]string, error) {
	d, err := o.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, record.Ext) }), nil
}
