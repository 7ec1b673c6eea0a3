// What callers of read.c give it, as ffconvert/native.py has it.

#include <stdint.h>

struct shard {
	int64_t n;              // samples
	const uint32_t *crcs;   // n
	const int64_t *offsets; // n + 1: where samples begin, and the end of the file
	const char *path;
	int64_t identity[4]; // device, inode, size, time of change in ns, when it was opened
	int64_t fd;
};

struct table {
	int64_t shards;
	const struct shard *shard;
	const int64_t *starts; // shards + 1: the number of the first sample of each, and of all
};

int64_t ffconvert_version(void);
int64_t ffconvert_crc32(const void *data, int64_t n, int64_t before);
int64_t ffconvert_sizes(const struct table *, const int64_t *numbers, int64_t n, int64_t *ends);
int64_t ffconvert_read(const struct table *, const int64_t *numbers, int64_t n, unsigned char *memory, int64_t checked);
