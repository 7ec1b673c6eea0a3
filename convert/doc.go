// Package convert is the engine of the program: it finds and stages the sources of a dataset, plans
// and writes its shards, and completes, resumes or repairs a dataset. A Go program can do with it all
// that the commands do, also with remote sources:
//
//	tar, _ := format.Named("tar")
//	c := &convert.Conversion{
//		Reader:  tar.Reader(),
//		Sources: []string{"s3://bucket/train-{000000..000146}.tar"},
//		Out:     "out",
//		Options: convert.Options{
//			Input: stage.Options{Options: input.Options{Remote: store.New(store.Options{})}},
//			Tool:  "mine 1.0",
//		},
//	}
//	err := c.Reader.Set.Set("on-duplicate-key", "keep")
//	…
//	done, err := c.Write(ctx) // the same call resumes one that was interrupted
//	fmt.Println(done.Samples, "samples in", done.Shards, "shards")
//
// [Conversion.Plan] writes only the plan. Any number of processes then write the shards with [Run], a
// slice each, and [Finish] completes the dataset. [Repair] writes damaged shards again.
//
// Package format has the table of formats. Their options are named texts of package option; plans,
// specifications and flags have the same. A [Mixture] makes one dataset of several collections; package
// spec reads it from YAML.
//
// The package prints nothing and does not know flags. An [AdvisedError] says what helps against an
// error.
package convert
