// Threads that read one file by one table, for the sanitizers: stress FILE SECONDS THREADS. Of 0 threads that of the program reads.

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "read.h"

enum { MOST = 64 }; // threads

static struct table table;
static unsigned char *whole; // the samples of the file
static time_t until;

static void *work(void *seed) {
	unsigned state = (unsigned)(uintptr_t)seed;
	int64_t n = table.starts[1], reads = 0;
	while (time(NULL) < until) {
		int64_t numbers[64], ends[64], some = 0;
		for (int64_t i = rand_r(&state) % n; i < n && some < 64; i += 1 + rand_r(&state) % 5)
			numbers[some++] = i;
		if (ffconvert_sizes(&table, numbers, some, ends))
			return "sizes";
		unsigned char *memory = malloc(ends[some - 1] ? ends[some - 1] : 1), *at = memory;
		if (ffconvert_read(&table, numbers, some, memory, 1))
			return "read";
		for (int64_t i = 0; i < some; i++) {
			const int64_t *offset = table.shard->offsets + numbers[i];
			if (memcmp(at, whole + offset[0] - table.shard->offsets[0], offset[1] - offset[0]))
				return "other bytes";
			at = memory + ends[i];
		}
		free(memory);
		reads++;
	}
	return reads ? NULL : "no reads";
}

int main(int argc, char **argv) {
	struct stat found;
	int fd = argc == 4 && atoi(argv[3]) <= MOST ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &found))
		return perror("stress FILE SECONDS THREADS"), 1;
	int64_t n, *offsets;
	uint32_t *crcs;
	if (pread(fd, &n, 8, 4) != 8 || !(crcs = malloc(4 * n)) || !(offsets = malloc(8 * n + 8)) || pread(fd, crcs, 4 * n, 12) != 4 * n ||
	    pread(fd, offsets, 8 * n, 12 + 4 * n) != 8 * n)
		return perror(argv[1]), 1;
	offsets[n] = found.st_size;
	whole = malloc(found.st_size);
	if (pread(fd, whole, found.st_size, offsets[0]) != found.st_size - offsets[0])
		return perror(argv[1]), 1;
	struct shard shard = {n, crcs, offsets, argv[1], {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec}, fd};
	int64_t starts[2] = {0, n};
	table = (struct table){1, &shard, starts};
	until = time(NULL) + atoi(argv[2]);
	int n_threads = atoi(argv[3]), failed = 0;
	pthread_t threads[MOST];
	for (intptr_t i = 0; i < n_threads; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)))
			return perror("pthread_create"), 1;
	for (int i = 0; i < n_threads || i == 0; i++) {
		void *why;
		if (n_threads)
			pthread_join(threads[i], &why);
		else
			why = work(NULL);
		if (why) {
			fprintf(stderr, "thread %d: %s\n", i, (char *)why);
			failed = 1;
		}
	}
	free(crcs), free(offsets), free(whole);
	return failed;
}
