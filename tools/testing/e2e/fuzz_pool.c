// SPDX-License-Identifier: GPL-2.0
/*
 * What an episode of the fuzzer has: descriptors, memory, rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

static void *pages(size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int fuzz_pool_begin(struct fuzz_pool *pool)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < FUZZ_SLOTS; i++) {
		pool->slots[i].fd = -1;
		pool->slots[i].queue = -1;
	}
	pool->arena = pages(FUZZ_ARENA_SIZE, PROT_READ | PROT_WRITE);
	pool->windows = pages((size_t)FUZZ_SLOTS * FUZZ_WINDOW, PROT_READ | PROT_WRITE);
	pool->forbidden = pages(2 * page, PROT_READ);
	if (pool->arena == MAP_FAILED || pool->windows == MAP_FAILED ||
	    pool->forbidden == MAP_FAILED || mprotect(pool->forbidden + page, page, PROT_NONE))
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pool->mail))
		return -errno;
	pool->stranger = open("/dev/null", O_RDWR | O_CLOEXEC);
	return pool->stranger < 0 ? -errno : 0;
}

int fuzz_pool_find(struct fuzz_pool *pool, struct fuzz_random *random, enum fuzz_kind kind,
		   unsigned int session)
{
	unsigned int start = fuzz_below(random, FUZZ_SLOTS);

	for (unsigned int i = 0; i < FUZZ_SLOTS; i++) {
		struct fuzz_slot *slot = &pool->slots[(start + i) % FUZZ_SLOTS];

		if (slot->fd >= 0 && slot->kind == kind && (!session || slot->session == session))
			return (start + i) % FUZZ_SLOTS;
	}
	return -1;
}

struct krdma_ring *fuzz_pool_ring(struct fuzz_pool *pool, int slot)
{
	return (void *)(pool->windows + (size_t)slot * FUZZ_WINDOW);
}
