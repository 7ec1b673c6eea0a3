// Threads that open one file in one table and read it, for the sanitizers: stress FILE SECONDS THREADS. Of 0 threads that of the program reads.

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
static int fd;
static unsigned char *whole; // the file
static time_t until;

static void *work(void *seed) {
	unsigned state = (unsigned)(uintptr_t)seed;
	int64_t n = table.starts[1], reads = 0;
	while (time(NULL) < until) {
		int64_t numbers[64], some = 0, done = 0;
		struct sample found[64];
		for (int64_t i = rand_r(&state) % n; i < n && some < 64; i += 1 + rand_r(&state) % 5)
			numbers[some++] = i;
		while ((done = ffconvert_find(&table, numbers, some, done, found)) < some)
			if (done < 0 || ffconvert_open(table.shard, fd))
				return "find, or open";
		unsigned char *memory = malloc(found[some - 1].end + 1);
		if (ffconvert_read(&table, found, some, memory, 1))
			return "read";
		for (int64_t i = 0, at = 0; i < some; at = found[i++].end)
			if (memcmp(memory + at, whole + found[i].offset, found[i].end - at))
				return "other bytes";
		free(memory);
		reads++;
	}
	return reads ? NULL : "no reads";
}

int main(int argc, char **argv) {
	struct stat s;
	fd = argc == 4 && atoi(argv[3]) <= MOST ? open(argv[1], O_RDONLY) : -1;
	if (fd < 0 || fstat(fd, &s))
		return perror("stress FILE SECONDS THREADS"), 1;
	int64_t n;
	whole = malloc(s.st_size);
	if (pread(fd, whole, s.st_size, 0) != s.st_size)
		return perror(argv[1]), 1;
	memcpy(&n, whole + 4, sizeof n);
	struct shard shard = {n, NULL, argv[1], {s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec}, -1};
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
	ffconvert_close(&table);
	free(whole);
	return failed;
}
