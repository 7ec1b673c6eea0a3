// Package cached keeps the samples of a dataset in an object store on the machine that trains on them.
//
//	c, err := cached.Open(ctx, "s3://bucket/data", cached.Options{Dir: "/nvme/cache", Size: 200e9, Store: client})
//	err = c.Read(ctx, []int64{3, 7}, memory) // their bytes behind one another, each compared with its CRC
//
// One process of a machine fetches, for all processes that have the dataset open: the server, for its users. It begins with
// the first of them and ends with the last, or when its own process does; then the next request of a user begins another.
// Users ask it by a Unix socket for samples that are not here, in the files of the cache; what is here they read from files.
//
// # The directory of a dataset
//
// A cache has a directory datasets/ID for each dataset, where ID is the start of the SHA-256 of its manifest. A dataset
// that is replaced has another one. In it are
//
//	manifest.json, meta.json, index/…   as in the bucket, compared with the manifest
//	PART_00000.copy   the header of a shard, and those of its samples that are here, at their places; sparse
//	PART_00000.have   a byte that is 1 if all samples are here, then a bit a sample, the lowest bit first
//	url, boot         where it came from, and the start of the machine in which the server wrote it
//	lock, socket      of the server
//	users             locked by all users together
//	log               what a server of its own process has to say
//
// Beside these directories, datasets/lock is locked by who reserves room, and has the bytes of all shards that are kept.
//
// A bit is set after the sample was compared with its CRC and written. After a loss of power a bit may be there without
// its sample: where boot is of an earlier start of the machine, all bits are cleared, and samples that are in a copy are
// compared again before they are fetched.
//
// # What is kept
//
// A shard is kept whole or, but for its header, not at all: when its first sample is asked for, room for all of it is
// reserved, if Options.Size allows that. Where the disk is full before that, what is there stays. Nothing is ever removed for something
// else, so there is no eviction to race with. What is not kept is fetched each time, before it is asked for where a user
// has said what comes.
package cached

import "github.com/ffconvert/ffconvert/internal/place"

// Ready is what a program prints, on a line, that [Start] has started: it serves.
const Ready = "ready"

// ErrChanged says that the bytes of the object store are not those that the manifest describes.
var ErrChanged = place.New(place.Corrupt, "differs from the manifest: it was replaced or damaged there")
