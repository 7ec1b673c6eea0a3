// Package format has the table of the formats that can be converted, and opens datasets of them.
//
// A [Format] is a name, the kind of its sources, and its options. A [Reader] is a format with values for its
// options:
//
//	tar, _ := format.Named("tar")
//	r := tar.Reader()
//	err := r.Set.Set("on-duplicate-key", "keep")
//	src, err := r.Open(ctx, format.OpenRequest{Parts: parts}) // a converters.Source
//
// Package convert finds the sources of a dataset, makes their files local and opens them with a Reader. The
// options are flags of a command or settings of a specification, and are stored in plans. Every format also has
// the options that change keys and add fields.
//
// A new format needs a package below converters, which reads its files, a row in table.go, and a file here
// with its options and its [Opener]. docs/adding-a-format.md lists all steps.
package format
