// What callers of read.c give it, as ffconvert/native.py has it.

#include <stdint.h>

struct shard {
	int64_t n;                   // samples
	const unsigned char *header; // the file from its first byte on; NULL until ffconvert_open has mapped it
	const char *path;
	int64_t identity[4]; // device, inode, size, time of change in ns, which is -1 where any time is right
	int64_t fd;          // as ffconvert_open was given it
};

struct table {
	int64_t shards;
	struct shard *shard;
	const int64_t *starts; // shards + 1: the number of the first sample of each, and of all
};

// Where a sample lies, as ffconvert_find has found it.
struct sample {
	int64_t offset; // in its file
	int64_t end;    // in memory, where samples lie one behind another
	uint32_t crc, shard;
};

int64_t ffconvert_version(void);
int64_t ffconvert_crc32(const void *data, int64_t n, int64_t before);
int64_t ffconvert_open(struct shard *, int64_t fd);
int64_t ffconvert_close(struct table *);
int64_t ffconvert_find(const struct table *, const int64_t *numbers, int64_t n, int64_t from, struct sample *found);
int64_t ffconvert_read(const struct table *, const struct sample *found, int64_t n, unsigned char *memory, int64_t checked);
