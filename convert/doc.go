// Package convert is the engine of the program: it finds and stages the sources of a dataset, plans
// and writes its shards, and completes, resumes or repairs a dataset. A Go program can do with it all
// that the commands do, also with remote sources:
//
//	tar, _ := format.Named("tar")
//	c := convert.Conversion{
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
// [Conversion.Plan] writes only the plan. Any number of processes then write the shards with
// [Conversion.Run], a slice each, and [Conversion.Finish] completes the dataset. [Conversion.Repair]
// writes damaged shards again. These three need no Reader: the plan says it.
//
// A call goes through five states, each a value that is made of the one before:
//
//	Conversion   what the caller wants
//	request      with the formats, the program and the encoding; or what a plan says of these
//	inputs       with the names that the sources stand for
//	work         with the output, the cache, and what is open: see inputs.work, which ends it
//	survey       with the open source and the index of its parts; stagedParts, where shards are part-aligned
//
// Package format has the table of formats. Their options are named texts of package option; plans,
// specifications and flags have the same. Conversion.Spec makes one dataset of several collections; package
// spec reads it from YAML.
//
// The package prints nothing and does not know flags. An [AdvisedError] says what helps against an
// error.
package convert
