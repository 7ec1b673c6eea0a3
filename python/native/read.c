// Reads samples of FFRecord files and compares their checksums: docs/format.md has the file, ffconvert/shard.py the
// same in Python, and the words for what is wrong.
//
// There is no state: a call uses its arguments and its stack. So threads may be in it at once, a process may fork while
// they are, and nothing has to be closed. The kernel is called directly, and no C library is linked: one file serves
// any Linux of its machine. An error is a number; whoever gets one reads again in Python, which names it.

#include <asm/stat.h>
#include <asm/unistd.h>
#include <libdeflate.h>
#include <stddef.h>
#include <stdint.h>

#include "read.h"

// As ffconvert/native.py has them. VERSION changes with what follows it.
enum { VERSION = 2 };
enum { OK, UNSORTED, CHANGED, DAMAGED, FAILED };

#define EXPORT __attribute__((visibility("default")))

enum {
	GAP = 4096,     // samples less than this apart are read at once
	READ = 1 << 20, // bytes of one read of several samples
	BUFFERS = 512,  // of one read
	WILLNEED = 3,   // POSIX_FADV_WILLNEED
	AT_FDCWD = -100,
	EINTR = 4,
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

static int64_t read_at(const struct shard *s, const struct piece *pieces, int n, int64_t offset, int flags) {
	long got;
	do
		got = call(flags ? __NR_preadv2 : __NR_preadv, s->fd, (long)pieces, n, offset, 0, flags); // kernels before 4.6 have one of them
	while (got == -EINTR);
	return got;
}

// The shard that has a sample, which is one of the table's.
static const struct shard *shard_of(const struct table *t, int64_t number, const struct shard *last) {
	if (last && number < t->starts[last - t->shard + 1])
		return last; // numbers ascend
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

// A read of samples that lie near each other in one shard: the numbers from first to end of those that are wanted.
struct run {
	const struct shard *shard;
	int64_t first, end;  // of numbers
	int64_t from, to;    // bytes of the file
	unsigned char *data; // where its first sample goes
	int pieces;
};

// What a call is asked for.
struct wanted {
	const struct table *table;
	const int64_t *numbers; // of samples, ascending
	int64_t n;
	int check; // whether checksums are compared
};

// Makes the run that begins with a number, and whose samples go to data.
static void plan(const struct wanted *w, int64_t first, const struct shard *last, unsigned char *data, struct run *r, struct piece *pieces,
                 unsigned char *between) {
	const struct table *t = w->table;
	r->shard = shard_of(t, w->numbers[first], last);
	r->first = r->end = first;
	r->data = data;
	r->pieces = 0;
	int64_t start = t->starts[r->shard - t->shard], stop = t->starts[r->shard - t->shard + 1];
	for (; r->end < w->n && w->numbers[r->end] < stop; r->end++) {
		const int64_t *offset = r->shard->offsets + (w->numbers[r->end] - start);
		if (r->end == first)
			r->from = r->to = offset[0];
		else if (offset[0] - r->to > GAP || offset[1] - r->from > READ || r->pieces + 2 > BUFFERS)
			return;
		if (offset[0] > r->to)
			pieces[r->pieces++] = (struct piece){between, offset[0] - r->to};
		pieces[r->pieces++] = (struct piece){data, offset[1] - offset[0]};
		data += offset[1] - offset[0];
		r->to = offset[1];
	}
}

// Compares the checksums of the samples of a run.
static int check(const struct wanted *w, const struct run *r) {
	if (!w->check)
		return OK;
	int64_t start = w->table->starts[r->shard - w->table->shard];
	const unsigned char *data = r->data;
	for (int64_t i = r->first; i < r->end; i++) {
		int64_t number = w->numbers[i] - start;
		size_t size = r->shard->offsets[number + 1] - r->shard->offsets[number];
		if (libdeflate_crc32(0, data, size) != r->shard->crcs[number])
			return DAMAGED;
		data += size;
	}
	return OK;
}

// Reads a run, and waits for the device. A read of more than 2 GiB comes in parts.
static int read_run(const struct wanted *w, const struct run *r, struct piece *pieces) {
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
	return check(w, r);
}

static unsigned char *behind(const struct run *r, const struct wanted *w) {
	unsigned char *data = r->data;
	int64_t start = w->table->starts[r->shard - w->table->shard];
	for (int64_t i = r->first; i < r->end; i++)
		data += r->shard->offsets[w->numbers[i] - start + 1] - r->shard->offsets[w->numbers[i] - start];
	return data;
}

// Whether the name of a shard still leads to the file that was opened.
static int unchanged(const struct shard *s) {
	struct stat found;
	long failed = call(__NR_newfstatat, AT_FDCWD, (long)s->path, (long)&found, 0, 0, 0);
	return !failed && (int64_t)found.st_dev == s->identity[0] && (int64_t)found.st_ino == s->identity[1] && found.st_size == s->identity[2]
	       && (int64_t)found.st_mtime * 1000000000 + (int64_t)found.st_mtime_nsec == s->identity[3];
}

EXPORT int64_t ffconvert_version(void) {
	return VERSION;
}

// The CRC-32 of n bytes that follow bytes whose CRC-32 is before: that of zlib.
EXPORT int64_t ffconvert_crc32(const void *data, int64_t n, int64_t before) {
	return libdeflate_crc32(before, data, n);
}

// Writes where the samples of numbers end, each behind the one before, into ends. UNSORTED if numbers do not ascend, or are of
// no sample.
EXPORT int64_t ffconvert_sizes(const struct table *t, const int64_t *numbers, int64_t n, int64_t *ends) {
	const struct shard *s = NULL;
	int64_t at = 0, before = -1;
	for (int64_t i = 0; i < n; before = numbers[i++]) {
		if (numbers[i] <= before || numbers[i] >= t->starts[t->shards])
			return UNSORTED;
		s = shard_of(t, numbers[i], s);
		const int64_t *offset = s->offsets + (numbers[i] - t->starts[s - t->shard]);
		ends[i] = at += offset[1] - offset[0];
	}
	return OK;
}

// Reads the samples of numbers, which ffconvert_sizes has accepted, one behind another into memory. What is cached is read at once; the device
// is asked for the rest before it is waited for.
EXPORT int64_t ffconvert_read(const struct table *t, const int64_t *numbers, int64_t n, unsigned char *memory, int64_t checked) {
	const struct wanted w = {t, numbers, n, checked != 0};
	struct piece pieces[BUFFERS];
	unsigned char between[GAP];
	struct run r = {0}, first; // first is the one that waits longest
	int64_t asked = 0;
	int waiting = 0, failed;
	for (int64_t i = 0; i < n; i = r.end) {
		plan(&w, i, r.shard, memory, &r, pieces, between);
		memory = behind(&r, &w);
		if (!waiting && read_at(r.shard, pieces, r.pieces, r.from, NOWAIT) == r.to - r.from) {
			if ((failed = check(&w, &r)))
				return failed;
			continue;
		}
		if (!waiting)
			first = r;
		waiting = 1;
		call(__NR_fadvise64, r.shard->fd, r.from, r.to - r.from, WILLNEED, 0, 0); // where it fails, the read is slower, and right
		asked += r.to - r.from;
		if (asked <= ASK && r.end < n)
			continue;
		for (int64_t end = r.end; first.first < end;) {
			plan(&w, first.first, first.shard, first.data, &first, pieces, between);
			if ((failed = read_run(&w, &first, pieces)))
				return failed;
			first.data = behind(&first, &w);
			first.first = first.end;
		}
		waiting = asked = 0;
	}
	const struct shard *s = NULL;
	for (int64_t i = 0; i < n; i++) {
		const struct shard *of = shard_of(t, numbers[i], s);
		if (of != s && !unchanged(of))
			return CHANGED;
		s = of;
	}
	return OK;
}
