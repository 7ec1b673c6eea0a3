// Package filter passes the samples of a source through a program: map, drop, one to many.
//
//	f := filter.New(filter.Options{Command: command, Processes: 8, CacheDir: dir})
//	src := f.Source(inner, spec, answered)
//	…
//	err := f.Finish(ctx) // all programs have ended with status 0
//	err = f.Close()
//
// The program reads samples from its standard input and writes one answer to each, in order, to its standard
// output; docs/plugins.md has the protocol. Both are sequences of CBOR items (RFC 8742):
//
//	sample   map        as records of the encoding cbor are
//	answer   map        one sample
//	         [map …]    samples; [] if it is dropped
//
// The answers determine the number of samples and their sizes, so the program runs once per part, when the part is
// indexed, and the samples are kept in the cache: a CBOR sequence, which package converters/cbor then reads. One
// process answers a whole part. A process that answers all samples before the end of its input gets the next part; any
// other process is started again for each part. So an answer must depend on its sample alone, not on earlier samples.
package filter
