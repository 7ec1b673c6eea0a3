// Package cache keeps staged copies in a directory, under a quota that processes share. It evicts the
// least recently used copies first.
//
//	c, err := cache.Open(dir, 100<<30, cache.Options{})
//	leases, err := c.Reserve(ctx, []cache.Request{{Keys: []string{key}, Size: 1 << 20}})
//	l := leases[0]
//	copied, err := l.Copy(ctx) // nil: the cache has none,
//	l.Write(…)                 // so write it,
//	copied, err = l.Commit()   // then read copied.Path
//	err = l.Release()          // from here on the copy may be evicted
//	err = c.Close()
//
// The directory has mode 0700, its files 0600:
//
//	<64 hex digits: the key>-<bytes>-<16 hex digits: digest>.staged   a copy
//	<64 hex digits>-<bytes>-<16 hex digits>.once.staged               a copy that serves one run
//	<64 hex digits>.<random>.tmp                                      an unfinished copy
//	<64 hex digits>.<random>.tree                                     a directory; the length of the .tmp of that name is its size
//	lock                                                              empty; carries the locks below
//
// # Quota
//
// The account is the sum of the sizes of all files. An unfinished file has the length of the room reserved
// for it, so that all processes count that room. Before a process creates or extends a file it locks the account,
// adds up the sizes, and evicts copies without a lease until there is room: least recently used first, by
// access time, which [Lease.Release] sets. If that does not suffice the error is [ErrQuota], with the bytes
// available and the bytes that other processes use. The sum never exceeds the quota. [Cache.Reserve] does not wait
// for room: a caller may call it again after another lease has ended.
//
// # Leases
//
// A lease on a file is a lock on one byte of the file lock (F_OFD_SETLK), which the kernel drops
// when the process ends for any reason. All leases of a cache share one descriptor.
//
//	byte 0                          exclusive: this process counts, reserves or evicts
//	byte 1                          shared: this process has the directory open
//	byte 2^62 + hash of file name   shared: in use; exclusive: being written or removed
//
// Without such locks (other systems than Linux, some network file systems) a process cannot know which
// files other processes use. It evicts nothing and removes no files of killed processes, and two processes
// together may exceed the quota.
//
// # Damage
//
// A copy is renamed to its name when it is complete. A process that is killed leaves its .tmp, .tree
// and .once.staged files without a lease. No process reads them; the next process that opens the
// cache or needs the room removes them.
//
// Each block of a copy has a checksum (package checksum), computed when the block is written and stored
// in memory; readers compare blocks through [Copy.Sums]. Copies are not synced: most are never read
// after a power failure. The digest in the name is that of the checksums. Before a [Cache] returns a copy that it
// has not written, it reads it once; it removes a copy that differs from its digest.
package cache
