// Package browse serves finished datasets, and shards of other programs, as web pages on this machine.
//
//	s, err := browse.New([]browse.Dataset{{Dataset: d}}, browse.Options{Tool: "ffconvert 1.0"})
//	l, err := browse.Listen("127.0.0.1:0")
//	err = s.Serve(ctx, l, func(l browse.Link) error { fmt.Println(l.URL); return nil }) // until ctx ends
//
// A page is HTML from the templates, which escape all content of a dataset; scripts, styles and templates are in the
// binary. Samples are read when a page needs them, at their places in the shards, and compared with their CRC each
// time. Nothing is written.
//
// Every list of samples is a page of a [Query], the samples for which an expression of --where holds, of the dataset, of a
// shard or of a source part. A searcher finds them; it also has the command that makes a dataset of them.
//
// All requests together hold at most 128 MiB of records for pages, 128 MiB of records that are being sent, and 160 MiB
// for decoding pictures. SECURITY.md describes which requests are answered.
package browse
