// Package convert is the engine of the program: it finds and stages the sources of a dataset, plans
// and writes its shards, and completes, resumes or repairs a dataset. A Go program converts with it as the
// commands do, also remote sources:
//
//	tar, _ := format.Named("tar")
//	c := convert.Conversion{
//		Reader:  tar.Reader(),
//		Sources: []string{"s3://bucket/train-{000000..000146}.tar"},
//		Out:     "out",
//		Options: convert.Options{Tool: "mine 1.0"},
//	}
//	c.Input.Remote = convert.NewRemote() // services, with the settings of the environment
//	c.Input.CacheDir = "/scratch/cache"
//	err := c.Reader.Set.Set("on-duplicate-key", "keep")
//	…
//	done, err := c.Write(ctx) // the same call resumes one that was interrupted
//	fmt.Println(done.Samples, "samples in", done.Shards, "shards")
//
// [Conversion.Plan] writes only the plan. Any number of processes then write the shards with
// [Conversion.Run], each one slice, and [Conversion.Finish] completes the dataset. [Conversion.Repair]
// rewrites damaged shards. These three need no Reader: the plan has the format.
//
// A call computes five values, each from the one before:
//
//	Conversion   what the caller wants
//	request      with the formats, the program and the encoding, from the caller or from a plan
//	inputs       with the names of the files, objects and directories that the sources match
//	work         with the output, the cache, and open files: inputs.work closes them
//	survey       with the open source and the index of its parts; stagedParts, if shards are part-aligned
//
// Package format has the table of formats. Their options are named texts of package option; plans,
// specifications and flags use the same names. Conversion.Spec combines several collections into one dataset;
// [ReadSpec] reads it from YAML.
//
// The package prints nothing and does not know flags. Errors end with what to do next, and name
// options there, as in "option exact".
package convert
