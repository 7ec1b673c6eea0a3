package format

import (
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/internal/option"
)

func folderOptions(set *option.Set) Opener {
	var opts folder.Options
	var classes, list string
	var pairs []string
	var maxClasses int64
	set.Add("flat", "no classes: a record a file, its key the path", option.Bool(&opts.Flat))
	set.Add("group", "files of one directory with the same name up to the first dot are one sample", option.Bool(&opts.Group))
	set.Add("pair", `make one sample of files in different directories: REGEX=PATH of the partner, as images/(.*)\.jpg=masks/\1.png; FIELD:PATH names its field`, option.List(&pairs))
	set.Add(splitOption, "the first directory is the split, not the class; a dataset OUT/NAME of each of these: train,val", option.List(&opts.Splits))
	set.Add(onlyOption, "of the directories of --split convert this one alone, into OUT; all of them number the classes", option.Text(&opts.Only))
	set.Add("classes", "number the classes as this file does: one name a line, or the meta.json of another conversion", option.Text(&classes))
	set.Add("ext", "keep files that end in one of these alone: jpg,png (default all)", option.List(&opts.Ext))
	set.Add("list", "convert the files that this list names, on lines NAME SOURCE as tarp's recipes have them; a SOURCE is below DIR, or text:CONTENT", option.Text(&list))
	set.Add("hidden", "keep hidden files and directories", option.Bool(&opts.Hidden))
	set.Add("follow-outside", "follow symbolic links that lead out of the folder", option.Bool(&opts.FollowOutside))
	duplicates := duplicateOption(set, "directory")
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, folder.DefaultMaxSample))
	set.AddLimit("max-classes-size", "largest file of --classes accepted", option.MaxSize(&maxClasses, defaultMaxClasses))
	return Opener{Open: func(ctx context.Context, req OpenRequest) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.Value == "keep", loaded(req.Records)
		opts.Unmatched = set.Text("unmatched") == "true"
		if pairs != nil {
			if err := parsePairs(pairs, &opts, list != "" || classes != ""); err != nil {
				return nil, err
			}
		}
		if opts.Only != "" && !slices.Contains(opts.Splits, opts.Only) {
			return nil, &option.Error{Name: onlyOption, Text: opts.Only, Err: errors.New("it is not a directory of split")}
		}
		if list != "" {
			return openList(list, req.Parts, opts, classes != "")
		}
		if opts.Flat && (opts.Splits != nil || classes != "") {
			return nil, &option.Error{Name: "flat", Text: "true", Err: errors.New("it has no classes, so split and classes do not go with it")}
		}
		if classes != "" {
			var err error
			if opts.Classes, err = readClasses(classes, maxClasses); err != nil {
				return nil, err
			}
		}
		return folder.Open(ctx, req.Parts, opts)
	}}
}

// Options of folders whose top directories are splits.
const (
	splitOption = "split"
	onlyOption  = "only-split"
)

// Splits returns the directories of the source that become one dataset each; nil if there are none.
func (r *Reader) Splits() []string {
	var dirs []string
	if o := r.Set.Lookup(onlyOption); o == nil || o.String() != "" {
		return nil
	}
	if option.List(&dirs).Set(r.Set.Text(splitOption)) != nil || len(dirs) == 0 {
		return nil
	}
	return dirs
}

// OfSplit returns a reader of one split, with the classes of all splits.
func (r *Reader) OfSplit(name string) (*Reader, error) {
	one := r.Format.Reader()
	if err := r.Set.CopyTo(one.Set); err != nil {
		return nil, err
	}
	return one, one.Set.Set(onlyOption, name)
}

// parsePairs sets the rules of pairs. named means that a list has the names of the files, or of the classes.
func parsePairs(pairs []string, opts *folder.Options, named bool) error {
	if opts.Group || opts.Splits != nil || named {
		return &option.Error{Name: "pair", Text: option.Join(pairs), Err: errors.New("its rules say what is a sample, without classes, so group, split, classes and list do not go with it")}
	}
	opts.Pairs = nil
	for _, rule := range pairs {
		p, err := folder.ParsePair(rule)
		if err != nil {
			return &option.Error{Name: "pair", Text: rule, Err: err}
		}
		opts.Pairs = append(opts.Pairs, p)
	}
	return nil
}

// openList opens the files of one folder that are in a list.
func openList(name string, roots []converters.Part, opts folder.Options, classes bool) (converters.Source, error) {
	refuse := func(why string) error {
		return &option.Error{Name: "list", Text: name, Err: errors.New(why)}
	}
	switch {
	case len(roots) != 1:
		return nil, refuse("its sources are below one folder")
	case opts.Flat || opts.Group || opts.Splits != nil || opts.Ext != nil || opts.Hidden || opts.FollowOutside || classes:
		return nil, refuse("it names files and samples, so flat, group, split, ext, hidden, follow-outside and classes do not go with it")
	}
	f, err := openNamed(name, "list")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return folder.OpenList(f, name, roots[0].Path, opts)
}
