// Package browse shows finished datasets, and other people's shards, as pages on this machine.
//
//	s, err := browse.New([]*lookup.Dataset{d}, browse.Options{Tool: "ffconvert 1.0"})
//	l, err := browse.Listen("127.0.0.1:0")
//	err = s.Serve(ctx, l, func(l browse.Link) error { fmt.Println(l.URL); return nil }) // until ctx ends
//
// A page is HTML from the templates, which escape whatever a dataset holds; scripts, styles and templates are in the
// binary. Samples are read when a page asks for them, at their places in the shards, and compared with their CRC each
// time. Nothing is written but the table of keys, see package lookup.
//
// All requests together hold at most 128 MiB of records for pages, 128 MiB of records that are being sent, and 160 MiB for
// decoding pictures. SECURITY.md says what a request must have to be answered.
package browse
