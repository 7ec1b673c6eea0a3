// Reads samples of FFRecord files and compares their checksums: docs/format.md has the file, ffconvert/shard.py the
// same in Python, and the words for what is wrong.
//
// There is no state but the maps of a table: a call uses its arguments and its stack. So threads may be in it at once,
// and a process may fork while they are. The kernel is called directly, and no C library is linked: one file serves
// any Linux of its machine. An error is a number; whoever gets one reads again in Python, which names it.

#include <asm/stat.h>
#include <asm/unistd.h>
#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

#include "read.h"

// As ffconvert/native.py has them. VERSION changes with what follows it.
enum { VERSION = 3 };
enum { OK, UNSORTED, CHANGED, DAMAGED, FAILED };

#define EXPORT __attribute__((visibility("default")))

enum {
	HEAD = 12,      // bytes before the checksums of samples
	GAP = 4096,     // samples less than this apart are read at once
	READ = 1 << 20, // bytes of one read of several samples
	BUFFERS = 512,  // of one read
	WILLNEED = 3,   // POSIX_FADV_WILLNEED
	AT_FDCWD = -100,
	EINTR = 4,
	PROT_READ = 1,
	MAP_SHARED = 1,
	SEEK_END = 2,
	ERRORS = 4096, // results of system calls from -ERRORS to -1
};

// Tests set these: a read that always has to wait, and one that comes in small parts.
#ifndef NOWAIT
#define NOWAIT 8         // RWF_NOWAIT: a read fails where it would wait for the device
#define ASK (64 << 20)   // bytes that the device is asked for before it is waited for
#define MOST 0x7ffff000l // bytes of a piece that one read gets, at least: the kernel returns no more
#endif

struct piece {
	void *base;
	size_t size;
};

static long call(long nr, long a, long b, long c, long d, long e, long f) {
#if defined __x86_64__
	long result;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "=a"(result) : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return result;
#elif defined __aarch64__
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
#error "a system that has 64 bits and Linux: x86_64 or aarch64"
#endif
}

// Threads may set it again meanwhile, to the same.
static long fd_of(const struct shard *s) {
	return __atomic_load_n(&s->fd, __ATOMIC_RELAXED);
}

static int64_t read_at(const struct shard *s, const struct piece *pieces, int n, int64_t offset, int flags) {
	long got;
	do
		got = call(flags ? __NR_preadv2 : __NR_preadv, fd_of(s), (long)pieces, n, offset, 0, flags); // kernels before 4.6 have one of them
	while (got == -EINTR);
	return got;
}

static size_t header_size(const struct shard *s) {
	return HEAD + 12 * s->n;
}

// Where the offset of a sample lies in the header of its shard, which is not aligned.
static int64_t offset_of(const struct shard *s, const unsigned char *header, int64_t number) {
	int64_t offset;
	__builtin_memcpy(&offset, header + HEAD + 4 * s->n + 8 * number, sizeof offset);
	return offset;
}

// The shard that has a sample, which is one of the table's.
static const struct shard *shard_of(const struct table *t, int64_t number) {
	int64_t lo = 0, hi = t->shards;
	while (hi - lo > 1) {
		int64_t middle = lo + (hi - lo) / 2;
		if (t->starts[middle] <= number)
			lo = middle;
		else
			hi = middle;
	}
	return t->shard + lo;
}

// Whether the name of a shard still leads to the file that was opened.
static int unchanged(const struct shard *s) {
	struct stat found;
	long failed = call(__NR_newfstatat, AT_FDCWD, (long)s->path, (long)&found, 0, 0, 0);
	return !failed && (int64_t)found.st_dev == s->identity[0] && (int64_t)found.st_ino == s->identity[1] && found.st_size == s->identity[2]
	       && (s->identity[3] == -1 || (int64_t)found.st_mtime * 1000000000 + (int64_t)found.st_mtime_nsec == s->identity[3]);
}

// Whether a file is as large as it was: a process that uses a map beyond the end of its file is killed. A seek costs a
// third of fstat, and no read is at the file's position.
static int whole(const struct shard *s) {
	return call(__NR_lseek, fd_of(s), 0, SEEK_END, 0, 0, 0) == s->identity[2];
}

// What a call reads.
struct batch {
	const struct table *table;
	const struct sample *found;
	int64_t n;
	unsigned char *memory;
	int check; // whether checksums are compared
};

// Where a sample of a batch begins in memory.
static int64_t begin(const struct batch *b, int64_t i) {
	return i ? b->found[i - 1].end : 0;
}

// A read of samples that lie near each other in one shard: those of a batch from first to end.
struct run {
	const struct shard *shard;
	int64_t first, end;
	int64_t from, to; // bytes of the file
	int pieces;
};

// Makes the run that begins with a sample.
static void plan(const struct batch *b, int64_t first, struct run *r, struct piece *pieces, unsigned char *between) {
	*r = (struct run){b->table->shard + b->found[first].shard, first, first, b->found[first].offset, b->found[first].offset, 0};
	for (; r->end < b->n && b->found[r->end].shard == b->found[first].shard; r->end++) {
		const struct sample *s = b->found + r->end;
		int64_t at = begin(b, r->end), size = s->end - at;
		if (r->end > first && (s->offset - r->to > GAP || s->offset + size - r->from > READ || r->pieces + 2 > BUFFERS))
			return;
		if (s->offset > r->to)
			pieces[r->pieces++] = (struct piece){between, s->offset - r->to};
		pieces[r->pieces++] = (struct piece){b->memory + at, size};
		r->to = s->offset + size;
	}
}

// Compares the checksums of the samples of a run.
static int check(const struct batch *b, const struct run *r) {
	for (int64_t i = r->first; b->check && i < r->end; i++)
		if (libdeflate_crc32(0, b->memory + begin(b, i), b->found[i].end - begin(b, i)) != b->found[i].crc)
			return DAMAGED;
	return OK;
}

// Reads a run, and waits for the device. A read of more than 2 GiB comes in parts.
static int read_run(const struct batch *b, const struct run *r, struct piece *pieces) {
	int64_t at = r->from;
	struct piece *p = pieces, *end = pieces + r->pieces;
	while (at < r->to) {
		struct piece part = {p->base, MOST};
		int64_t got = p->size > MOST ? read_at(r->shard, &part, 1, at, 0) : read_at(r->shard, p, end - p, at, 0);
		if (got <= 0)
			return FAILED;
		for (at += got; p < end && (size_t)got >= p->size; p++)
			got -= p->size;
		if (p < end) {
			p->base = (char *)p->base + got;
			p->size -= got;
		}
	}
	return check(b, r);
}

EXPORT int64_t ffconvert_version(void) {
	return VERSION;
}

// The CRC-32 of n bytes that follow bytes whose CRC-32 is before: that of zlib.
EXPORT int64_t ffconvert_crc32(const void *data, int64_t n, int64_t before) {
	return libdeflate_crc32(before, data, n);
}

// Maps the header of a shard, whose file is open and was checked; from then on ffconvert_find finds its samples. Threads
// may call it at once, with the same file.
EXPORT int64_t ffconvert_open(struct shard *s, int64_t fd) {
	long address = call(__NR_mmap, 0, header_size(s), PROT_READ, MAP_SHARED, fd, 0);
	if (address < 0 && address >= -ERRORS)
		return FAILED;
	__atomic_store_n(&s->fd, fd, __ATOMIC_RELAXED);
	const unsigned char *none = NULL;
	if (!__atomic_compare_exchange_n(&s->header, &none, (const unsigned char *)address, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		call(__NR_munmap, address, header_size(s), 0, 0, 0, 0);
	return OK;
}

// Takes the maps of all shards away. No other call may use the table, now or later.
EXPORT int64_t ffconvert_close(struct table *t) {
	for (struct shard *s = t->shard; s < t->shard + t->shards; s++)
		if (s->header)
			call(__NR_munmap, (long)s->header, header_size(s), 0, 0, 0, 0);
	return OK;
}

// Finds the samples of n numbers, of which those before from were found already. Returns how many were found in all: fewer
// than n if the shard of the next is not open; less than 0 if numbers do not ascend or are of no sample, if a file is not as
// large as it was, or if its header was changed to what none can be. It alone uses headers, each just after it has compared
// the size of the file.
EXPORT int64_t ffconvert_find(const struct table *t, const int64_t *numbers, int64_t n, int64_t from, struct sample *found) {
	const struct shard *s = NULL;
	const unsigned char *header = NULL;
	int64_t at = from ? found[from - 1].end : 0, before = from ? numbers[from - 1] : -1, least = 0;
	for (int64_t i = from; i < n; before = numbers[i++]) {
		if (numbers[i] <= before || numbers[i] >= t->starts[t->shards])
			return -UNSORTED;
		if (!s || numbers[i] >= t->starts[s - t->shard + 1]) {
			s = shard_of(t, numbers[i]);
			header = __atomic_load_n(&s->header, __ATOMIC_ACQUIRE);
			if (!header)
				return i;
			if (!whole(s))
				return -CHANGED;
			least = header_size(s);
		}
		int64_t number = numbers[i] - t->starts[s - t->shard];
		int64_t offset = offset_of(s, header, number), end = number + 1 < s->n ? offset_of(s, header, number + 1) : s->identity[2];
		if (offset < least || end < offset || end > s->identity[2] || __builtin_add_overflow(at, end - offset, &at))
			return -DAMAGED;
		least = end;
		found[i] = (struct sample){offset, at, 0, s - t->shard};
		__builtin_memcpy(&found[i].crc, header + HEAD + 4 * number, sizeof found[i].crc);
	}
	return n;
}

// Reads samples that ffconvert_find has found, one behind another into memory. What is cached is read at once; the device
// is asked for the rest before it is waited for.
EXPORT int64_t ffconvert_read(const struct table *t, const struct sample *found, int64_t n, unsigned char *memory, int64_t checked) {
	const struct batch b = {t, found, n, memory, checked != 0};
	struct piece pieces[BUFFERS];
	unsigned char between[GAP];
	struct run r;
	int64_t asked = 0, waiting = -1; // the first sample that is waited for
	int failed;
	for (int64_t i = 0; i < n; i = r.end) {
		plan(&b, i, &r, pieces, between);
		if (waiting < 0 && read_at(r.shard, pieces, r.pieces, r.from, NOWAIT) == r.to - r.from) {
			if ((failed = check(&b, &r)))
				return failed;
			continue;
		}
		if (waiting < 0)
			waiting = i;
		call(__NR_fadvise64, fd_of(r.shard), r.from, r.to - r.from, WILLNEED, 0, 0); // where it fails, the read is slower, and right
		asked += r.to - r.from;
		if (asked <= ASK && r.end < n)
			continue;
		for (int64_t end = r.end; waiting < end; waiting = r.end) {
			plan(&b, waiting, &r, pieces, between);
			if ((failed = read_run(&b, &r, pieces)))
				return failed;
		}
		waiting = -1;
		asked = 0;
	}
	for (int64_t i = 0; i < n; i++)
		if ((!i || found[i].shard != found[i - 1].shard) && !unchanged(t->shard + found[i].shard))
			return CHANGED;
	return OK;
}
