// Package cache keeps staged copies in a directory: least recently used out first, under a quota
// that processes share.
//
//	c, err := cache.Open(dir, 100<<30, cache.Options{})
//	lease, err := c.Reserve(ctx, []cache.Request{{Keys: []string{key}, Size: 1 << 20}})
//	copied, err := lease.Copy(ctx, 0) // nil: the cache has none
//	w := lease.Writer(0)              // write it…
//	copied, err = w.Commit()          // …and read copied.Path
//	err = lease.Release()             // the copy may be evicted from now on
//	err = c.Close()
//
// The directory has mode 0700, its files 0600:
//
//	<64 hex digits: the key>-<bytes>-<16 hex digits: digest>.staged   a copy
//	<64 hex digits>-<bytes>-<16 hex digits>.once.staged               a copy that serves one run
//	<64 hex digits>.<random>.tmp                                      a copy in the making
//	<64 hex digits>.<random>.tree                                     a directory; the .tmp of that name is its size
//	lock                                                              empty
//
// # Quota
//
// The account is the sum of the sizes of all files. A file in the making is as long as the room
// reserved for it, so any process sees it. Before a file is made or grows, the process locks the
// account, adds up the sizes, and evicts copies without a lease until there is room: least recently
// used first, by access time, which [Lease.Release] sets. Where that is not enough the error is a
// [Shortage]. The sum never exceeds the quota.
//
// Within one process [Cache.Reserve] waits for other leases to be released. It counts what they
// are expected to grow by as taken; only the process itself knows that. No process waits for
// another one: where another one has the room, the [Shortage] says so.
//
// # Leases
//
// A lease on a file is a lock on one byte of the file lock (F_OFD_SETLK), which the kernel drops
// when the process ends, however it ends. Any number of leases costs one descriptor.
//
//	byte 0                          exclusive: this process counts, reserves or evicts
//	byte 1                          shared: this process has the directory open
//	byte 2^62 + hash of file name   shared: in use; exclusive: being written or removed
//
// Where there are no such locks (other systems than Linux, some network file systems) nothing is
// evicted and no debris is removed, since nothing tells what other processes use. Two processes
// together may then exceed the quota.
//
// # Damage
//
// A copy gets its name by a rename, once it is complete. A process that is killed leaves its .tmp,
// .tree and .once.staged files without a lease: no process reads them, and the next one that opens
// the cache or needs the room removes them.
//
// Each block of a copy has a checksum (package blocksum), computed as it is written and kept in
// memory; readers compare blocks through [Copy.Sums]. Copies are not synced: most are never read
// after a power failure. The digest in the name is of the checksums, and a copy that this [Cache]
// has neither written nor read before is read through and compared with it. A copy that differs is
// removed.
package cache
