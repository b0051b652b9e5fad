// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's calls: each result is checked against <linux/krdma.h>.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fuzz.h"
#include "session.h"

/* A call that waits is interrupted at this interval. */
#define INTERRUPT_MS	5

#define PAGE		4096

/* Value of the bytes around the structure. */
#define CANARY		0x5a

int fuzz_thread_begin(struct fuzz_thread *thread)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };

	event._sigev_un._tid = syscall(SYS_gettid);
	thread->shared->busy[thread->index].thread = event._sigev_un._tid;
	if (timer_create(CLOCK_MONOTONIC, &event, &thread->timer))
		return -errno;
	thread->page = fuzz_pages(FUZZ_AREA_THREAD + thread->index, 3 * PAGE,
				  PROT_READ | PROT_WRITE);
	if (!thread->page || mprotect(thread->page + 2 * PAGE, PAGE, PROT_NONE))
		return -ENOMEM;
	thread->cover = fuzz_cover_open();
	if (thread->cover)
		thread->shared->has_coverage = true;
	return 0;
}

void fuzz_fail(struct fuzz_thread *thread, const char *format, ...)
{
	va_list args;

	if (atomic_exchange(&thread->shared->failed, true))
		return;
	va_start(args, format);
	vsnprintf(thread->shared->failure, sizeof(thread->shared->failure), format, args);
	va_end(args);
}

static void interrupt_after(struct fuzz_thread *thread, long ms)
{
	struct itimerspec span = {
		.it_value.tv_nsec = ms * 1000000,
		.it_interval.tv_nsec = ms * 1000000,
	};

	timer_settime(thread->timer, 0, &span, NULL);
}

uint64_t fuzz_call_begin(struct fuzz_thread *thread, unsigned int call, bool waits)
{
	struct fuzz_busy *busy = &thread->shared->busy[thread->index];
	uint64_t now = now_ms();

	busy->call = call;
	busy->since_ms = now;
	if (waits)
		interrupt_after(thread, INTERRUPT_MS);
	if (thread->cover)
		fuzz_cover_begin(thread->cover);
	return now;
}

void fuzz_call_end(struct fuzz_thread *thread, unsigned int call, bool waits, uint64_t begun,
		   int ret)
{
	struct fuzz_shared *shared = thread->shared;
	unsigned int discovered = 0, took = now_ms() - begun;

	if (thread->cover)
		discovered = fuzz_cover_end(thread->cover, thread->map);
	if (waits)
		interrupt_after(thread, 0);
	shared->busy[thread->index].since_ms = 0;
	shared->calls[call]++;
	shared->successes[call] += ret >= 0;
	if (took > shared->slowest_ms[call])
		shared->slowest_ms[call] = took;
	fuzz_see(thread, call, ret);
	if (discovered)
		thread->fresh = true;
	if (discovered || fuzz_discover(shared, fuzz_mix(thread->last_call << 8 | call, ret)))
		thread->discovered = true;
	thread->last_call = call;
}

/*
 * Checking results
 */

/* Formats the structure as the program passed it, for a message. */
static void dump(char *text, size_t room, const unsigned char *bytes, uint32_t size)
{
	size_t at = 0;

	for (uint32_t i = 0; i < size && i < 200 && at + 3 < room; i++)
		at += snprintf(text + at, room - at, "%s%02x", i && i % 8 == 0 ? " " : "",
			       bytes[i]);
}

/* Undocumented errnos are reported at the end, because there may be more of them. */
static void note_strange(struct fuzz_thread *thread, const struct fuzz_request *request, int error,
			 const void *structure, uint32_t size)
{
	struct fuzz_shared *shared = thread->shared;
	char text[480] = "";
	unsigned int at;

	if (!fuzz_discover(shared, fuzz_mix(~0ULL - error, request->cmd)))
		return;
	at = atomic_fetch_add(&shared->strange_count, 1);
	dump(text, sizeof(text), structure, size);
	if (at < FUZZ_STRANGE)
		snprintf(shared->strange[at], sizeof(shared->strange[at]), "%s answered %s to %s",
			 request->name, strerror(error), text);
}

static bool may_answer(const struct fuzz_thread *thread, const struct fuzz_request *request,
		       int slot, int error)
{
	if (fuzz_listed(fuzz_common_errors, error) || fuzz_listed(request->errors, error))
		return true;
	/* Another thread may have closed or replaced the descriptor. */
	if (error == EBADF)
		return !thread->alone || slot < 0 || thread->pool->slots[slot].fd < 0;
	if (error == ENOTTY)
		return !thread->alone || slot < 0 ||
		       thread->pool->slots[slot].kind != request->kind;
	return false;
}

static void judge_entries(struct fuzz_thread *thread, const char *name, uint32_t asked,
			  uint32_t accepted, int error, bool all_or_error)
{
	bool all = accepted == asked;

	fuzz_see(thread, FUZZ_ENTRY, error);
	if (accepted > asked)
		fuzz_fail(thread, "%s accepted %u of %u", name, accepted, asked);
	if (error && !fuzz_listed(fuzz_entry_errors, -error))
		fuzz_fail(thread, "%s refused an entry with %d (%s), which no entry may get", name,
			  error, strerror(-error));
	if (all_or_error && all != !error)
		fuzz_fail(thread, "%s accepted %u of %u with error %d", name, accepted, asked,
			  error);
}

/* Records statuses without checking them: other threads write to the program's memory too. */
static void see_completions(struct fuzz_thread *thread, const struct krdma_ring_reap_args *reap)
{
	const struct krdma_cqe *cqes = (const void *)(uintptr_t)reap->entries;
	uint64_t offset = reap->entries - (uintptr_t)thread->pool->arena;

	if (offset % 8 || offset + reap->reaped * sizeof(*cqes) > FUZZ_ARENA_SIZE)
		return;
	for (uint32_t i = 0; i < reap->reaped; i++)
		fuzz_see(thread, FUZZ_STATUS, cqes[i].status);
}

static void judge_success(struct fuzz_thread *thread, unsigned int index, const void *structure)
{
	const struct krdma_ring_enter_args *enter = structure;
	const struct krdma_ring_post_args *post = structure;
	const struct krdma_ring_reap_args *reap = structure;
	const struct krdma_conn_wait_args *wait = structure;

	switch (index) {
	case FUZZ_RING_ENTER:
		judge_entries(thread, fuzz_call_name(index), enter->to_submit, enter->submitted,
			      enter->error, false);
		break;
	case FUZZ_RING_POST:
	case FUZZ_SRQ_POST:
		judge_entries(thread, fuzz_call_name(index), post->count, post->accepted,
			      post->error, true);
		break;
	case FUZZ_RING_REAP:
		if (reap->reaped > reap->count)
			fuzz_fail(thread, "RING_REAP gave %u, asked for %u", reap->reaped,
				  reap->count);
		else
			see_completions(thread, reap);
		break;
	case FUZZ_CONN_WAIT:
		if (wait->state > KRDMA_CONN_CLOSED)
			fuzz_fail(thread, "CONN_WAIT says state %u", wait->state);
		else
			fuzz_see(thread, FUZZ_STATE, wait->state);
		break;
	}
}

/*
 * Adding objects to the pool
 */

static void map_ring(struct fuzz_thread *thread, int slot, uint64_t size)
{
	struct fuzz_pool *pool = thread->pool;
	void *window = fuzz_pool_ring(pool, slot), *header;

	if (!size || size > FUZZ_WINDOW)
		return;
	/*
	 * Map the ring elsewhere and move it into the window.  If another thread has replaced the
	 * ring, mmap() fails; in the window this could leave a hole, where other threads write.
	 */
	header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, pool->slots[slot].fd, 0);
	if (header == MAP_FAILED) {
		if (thread->alone)
			fuzz_fail(thread, "a ring of %llu bytes cannot be mapped: %s",
				  (unsigned long long)size, strerror(errno));
		return;
	}
	if (mremap(header, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, window) == MAP_FAILED) {
		fuzz_fail(thread, "a ring cannot be moved: %s", strerror(errno));
		return;
	}
	pool->slots[slot].header = size;
}

static void keep_memory(struct fuzz_thread *thread, const struct krdma_mr_register_args *reg,
			unsigned int session)
{
	struct fuzz_memory *mr =
		&thread->pool->memories[fuzz_below(&thread->random, FUZZ_MEMORIES)];
	uint64_t offset = reg->addr - (uintptr_t)thread->pool->arena;

	if (offset >= FUZZ_ARENA_SIZE || reg->length > FUZZ_ARENA_SIZE - offset)
		return;
	mr->length = 0;
	mr->offset = offset;
	mr->key = reg->rkey;
	mr->session = session;
	mr->id = reg->id;
	mr->length = reg->length;
}

static void keep_port(struct fuzz_thread *thread, const struct krdma_listen_args *listen)
{
	const unsigned char *bytes = (const void *)&listen->address;

	thread->pool->ports[fuzz_below(&thread->random, FUZZ_PORTS)] = bytes[2] << 8 | bytes[3];
}

static void take(struct fuzz_thread *thread, unsigned int index, int slot, const void *structure)
{
	const struct krdma_listener_next_args *next = structure;
	const struct krdma_ring_create_args *ring = structure;
	const struct krdma_conn_create_args *conn = structure;
	const struct krdma_srq_create_args *srq = structure;
	const struct krdma_listen_args *listen = structure;
	unsigned int session = slot < 0 ? 0 : thread->pool->slots[slot].session;

	switch (index) {
	case FUZZ_LISTEN:
		fuzz_keep(thread, listen->fd, FUZZ_LISTENER, 0, session);
		keep_port(thread, listen);
		break;
	case FUZZ_CONN_CREATE:
		fuzz_keep(thread, conn->fd, FUZZ_CONN, conn->id, session);
		break;
	case FUZZ_LISTENER_NEXT:
		fuzz_keep(thread, next->fd, FUZZ_CONN, next->id, session);
		break;
	case FUZZ_SRQ_CREATE:
		fuzz_keep(thread, srq->fd, FUZZ_SRQ, srq->id, session);
		break;
	case FUZZ_RING_CREATE:
		map_ring(thread, fuzz_keep(thread, ring->fd, FUZZ_QUEUE, 0, session),
			 ring->ring_size);
		break;
	case FUZZ_MR_REGISTER:
		keep_memory(thread, structure, session);
		break;
	}
}

/* Where to put the structure: before the end of accessible memory, across it, or anywhere. */
static unsigned char *place(struct fuzz_thread *thread, uint32_t size)
{
	unsigned char *end = thread->page + 2 * PAGE;

	if (size > 2 * PAGE)
		size = 2 * PAGE;
	if (fuzz_one_in(&thread->random, 200))
		return end - fuzz_below(&thread->random, size + 1);
	if (fuzz_one_in(&thread->random, 300))
		return thread->pool->forbidden + PAGE * fuzz_below(&thread->random, 2);
	if (fuzz_one_in(&thread->random, 300))
		return (unsigned char *)(uintptr_t)fuzz_next(&thread->random);
	return end - size - (fuzz_one_in(&thread->random, 4) ? fuzz_below(&thread->random, 64) : 0);
}

int fuzz_issue(struct fuzz_thread *thread, unsigned int index, int slot, void *structure,
	       uint32_t size)
{
	const struct fuzz_request *request = &fuzz_requests[index];
	unsigned char *at = place(thread, size), *end = thread->page + 2 * PAGE;
	bool safe = at >= thread->page && at + size <= end;
	int fd = slot < 0 ? -1 : atomic_load(&thread->pool->slots[slot].fd);
	uint32_t known = size < request->size ? size : request->size;
	uint64_t begun;
	int ret;

	memset(thread->page, fuzz_one_in(&thread->random, 2) ? 0 : CANARY, 2 * PAGE);
	if (safe)
		memcpy(at, structure, known);
	else if (at >= thread->page && at < end)
		memcpy(at, structure, end - at < known ? end - at : known);
	begun = fuzz_call_begin(thread, index, request->waits);
	ret = ioctl(fd, request->cmd, at) < 0 ? -errno : 0;
	fuzz_call_end(thread, index, request->waits, begun, ret);

	if (ret && !may_answer(thread, request, slot, -ret))
		note_strange(thread, request, -ret, structure, known);
	if (!ret && !safe)
		fuzz_fail(thread, "%s succeeded with a structure at %p", request->name, at);
	if (!safe || (ret && index != FUZZ_CONN_WAIT))
		return ret;
	/* The kernel must not change size and flags. */
	if (memcmp(at, structure, known < 8 ? known : 8))
		fuzz_fail(thread, "%s has changed size or flags", request->name);
	memcpy(structure, at, known);
	if (!ret && known == request->size) {
		judge_success(thread, index, structure);
		take(thread, index, slot, structure);
	}
	return ret;
}

/*
 * Slots
 */

static void unmap_ring(struct fuzz_pool *pool, int slot)
{
	if (!atomic_exchange(&pool->slots[slot].header, 0))
		return;
	/* Replace the mapping, and never remove it: another thread may be writing there. */
	mmap(fuzz_pool_ring(pool, slot), FUZZ_WINDOW, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void close_fd(struct fuzz_thread *thread, int fd)
{
	uint64_t begun = fuzz_call_begin(thread, FUZZ_CLOSE, false);
	int ret = close(fd) < 0 ? -errno : 0;

	fuzz_call_end(thread, FUZZ_CLOSE, false, begun, ret);
	/*
	 * fork() copies descriptors before memory.  Meanwhile other threads store new descriptors
	 * there, which the child does not have.
	 */
	if (ret && !(ret == -EBADF && thread->index == FUZZ_THREADS))
		fuzz_fail(thread, "close() answered %s", strerror(-ret));
}

void fuzz_close(struct fuzz_thread *thread, int slot)
{
	int fd = atomic_exchange(&thread->pool->slots[slot].fd, -1);

	if (fd < 0)
		return;
	/* A mapping keeps its ring alive, so sometimes it is the last reference. */
	if (!fuzz_one_in(&thread->random, 4))
		unmap_ring(thread->pool, slot);
	close_fd(thread, fd);
}

int fuzz_keep(struct fuzz_thread *thread, int fd, enum fuzz_kind kind, unsigned int id,
	      unsigned int session)
{
	struct fuzz_slot *slot;
	unsigned int start = fuzz_below(&thread->random, FUZZ_SLOTS), place = start;
	int former;

	for (unsigned int i = 0; i < FUZZ_SLOTS; i++) {
		place = (start + i) % FUZZ_SLOTS;
		if (thread->pool->slots[place].fd < 0)
			break;
	}
	slot = &thread->pool->slots[place];
	unmap_ring(thread->pool, place);
	slot->kind = kind;
	slot->id = id;
	slot->session = session;
	slot->ring = -1;
	former = atomic_exchange(&slot->fd, fd);
	if (former >= 0)
		close_fd(thread, former);
	return place;
}
