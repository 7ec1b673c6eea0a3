// Package convert is the engine of the program: it finds and stages the sources of a dataset,
// plans its shards, writes them, and completes, resumes or repairs what is there. A Go program can
// do by it all that the commands do, remote sources included:
//
//	tar, _ := convert.FormatNamed("tar")
//	c := &convert.Conversion{
//		Reader:  tar.Reader(),
//		Sources: []string{"s3://bucket/train-{000000..000146}.tar"},
//		Out:     "out",
//		Options: convert.Options{
//			Input: stage.Options{Options: input.Options{Remote: remote.New(remote.Options{})}},
//			Tool:  "mine 1.0",
//		},
//	}
//	err := c.Reader.Set.Set("on-duplicate-key", "keep")
//	…
//	done, err := c.Write(ctx) // the same call resumes one that was interrupted
//	fmt.Println(done.Samples, "samples in", done.Shards, "shards")
//
// [Conversion.Plan] leaves a plan in place of shards. Any number of processes then write them by
// [Run], a slice each, and [Finish] completes the dataset. [Repair] writes damaged shards anew.
//
// Formats are the rows of one table, [FormatNamed]. Their options are text by name, of package
// option: what a plan keeps, a specification says and a command line has as flags. Several
// collections become one dataset by a [Mixture], which package spec reads from YAML.
//
// The package prints nothing and knows no flags. An error that something would help against is
// an [AdvisedError].
package convert
