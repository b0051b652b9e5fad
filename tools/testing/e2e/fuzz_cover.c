// SPDX-License-Identifier: GPL-2.0
/*
 * What the fuzzer has reached: sights and, on a kernel with KCOV, edges: transitions from one
 * place in the module to another.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz.h"

#define KCOV_WORDS	(16u << 10)

struct fuzz_cover {
	int fd;
	unsigned long *words;
};

static bool is_new(atomic_uchar *bits, uint64_t what)
{
	uint32_t bit = fuzz_mix(what, 0) & ((1u << FUZZ_EDGE_BITS) - 1);
	unsigned char mask = 1 << (bit & 7);

	/*
	 * Reading first avoids a write: the bit is nearly always set, and other threads read the
	 * same cache line.
	 */
	if (atomic_load_explicit(&bits[bit >> 3], memory_order_relaxed) & mask)
		return false;
	return !(atomic_fetch_or(&bits[bit >> 3], mask) & mask);
}

bool fuzz_discover(struct fuzz_shared *shared, uint64_t what)
{
	return is_new(shared->seen, what);
}

void fuzz_see(struct fuzz_thread *thread, unsigned int what, int value)
{
	/* Descriptors and lengths count as success. */
	if (what < FUZZ_CALLS && value > 0)
		value = 0;
	value = value < 0 ? -value : value;
	if (value >= FUZZ_VALUES)
		value = FUZZ_VALUES - 1;
	if (atomic_load_explicit(&thread->map->sights[what][value], memory_order_relaxed) ||
	    atomic_exchange(&thread->map->sights[what][value], 1))
		return;
	thread->map->sight_count++;
	thread->discovered = true;
	thread->fresh = true;
}

struct fuzz_cover *fuzz_cover_open(void)
{
	struct fuzz_cover *cover = calloc(1, sizeof(*cover));

	if (!cover)
		return NULL;
	cover->fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (cover->fd < 0)
		goto free_cover;
	if (ioctl(cover->fd, KCOV_INIT_TRACE, (unsigned long)KCOV_WORDS))
		goto close_file;
	cover->words = mmap(NULL, KCOV_WORDS * sizeof(*cover->words), PROT_READ | PROT_WRITE,
			    MAP_SHARED, cover->fd, 0);
	if (cover->words == MAP_FAILED)
		goto close_file;
	if (ioctl(cover->fd, KCOV_ENABLE, KCOV_TRACE_PC))
		goto unmap;
	return cover;

unmap:
	munmap(cover->words, KCOV_WORDS * sizeof(*cover->words));
close_file:
	close(cover->fd);
free_cover:
	free(cover);
	return NULL;
}

void fuzz_cover_begin(struct fuzz_cover *cover)
{
	__atomic_store_n(&cover->words[0], 0, __ATOMIC_RELAXED);
}

unsigned int fuzz_cover_end(struct fuzz_cover *cover, struct fuzz_map *map)
{
	unsigned long count = __atomic_load_n(&cover->words[0], __ATOMIC_RELAXED);
	unsigned int discovered = 0;
	uint64_t from = 0;

	/* The first word is the number of addresses that follow. */
	for (unsigned long i = 1; i <= count && i < KCOV_WORDS; i++) {
		uint64_t to = cover->words[i];

		discovered += is_new(map->edges, fuzz_mix(from, to));
		from = to;
	}
	map->edge_count += discovered;
	return discovered;
}
