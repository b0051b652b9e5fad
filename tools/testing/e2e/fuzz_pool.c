// SPDX-License-Identifier: GPL-2.0
/*
 * Objects of an episode of the fuzzer: descriptors, memory regions, rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

/*
 * Each area has a fixed address, with nothing else anywhere near.  A fuzzed address is an address
 * in these areas with some bytes changed, or a random one.  If it could hit the program's own
 * variables and stacks, the kernel would write there, and the checks would use what it wrote.
 */
void *fuzz_pages(unsigned int area, size_t size, int protection)
{
	uintptr_t at = 0x0a1a1a1a0000 + area * (uintptr_t)0x010101010000;
	void *pages = mmap((void *)at, size, protection,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

int fuzz_pool_begin(struct fuzz_pool *pool)
{
	size_t page = sysconf(_SC_PAGESIZE);

	for (int i = 0; i < FUZZ_SLOTS; i++) {
		pool->slots[i].fd = -1;
		pool->slots[i].ring = -1;
	}
	pool->arena = fuzz_pages(FUZZ_AREA_ARENA, FUZZ_ARENA_SIZE, PROT_READ | PROT_WRITE);
	pool->windows = fuzz_pages(FUZZ_AREA_WINDOWS, (size_t)FUZZ_SLOTS * FUZZ_WINDOW,
				   PROT_READ | PROT_WRITE);
	pool->forbidden = fuzz_pages(FUZZ_AREA_FORBIDDEN, 2 * page, PROT_READ);
	if (!pool->arena || !pool->windows || !pool->forbidden ||
	    mprotect(pool->forbidden + page, page, PROT_NONE))
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

struct krdma_ring_header *fuzz_pool_ring(struct fuzz_pool *pool, int slot)
{
	return (void *)(pool->windows + (size_t)slot * FUZZ_WINDOW);
}
