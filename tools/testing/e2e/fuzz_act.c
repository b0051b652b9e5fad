// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's actions: each is drawn from one number.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest.h"
#include "fd_pass.h"
#include "fuzz.h"
#include "session.h"

/* The structure of any ioctl. */
union any_request {
	unsigned char bytes[1024];
	struct krdma_conn_resolve_args resolve;
	struct krdma_conn_create_qp_args create_qp;
	struct krdma_conn_param_args param;
	struct krdma_conn_wait_args wait;
	struct krdma_listener_next_args next;
	struct krdma_ring_enter_args enter;
	struct krdma_ring_post_args post;
	struct krdma_mr_register_args mr;
};

static unsigned int session_of(struct fuzz_thread *thread, int slot)
{
	return slot < 0 ? 0 : thread->pool->slots[slot].session;
}

static int find(struct fuzz_thread *thread, enum fuzz_kind kind, unsigned int session)
{
	return fuzz_pool_find(thread->pool, &thread->random, kind, session);
}

/* Makes an ioctl, as valid as possible. */
static int ask(struct fuzz_thread *thread, unsigned int index, int slot)
{
	union any_request room;

	fuzz_fill_right(thread, &fuzz_requests[index], &room, session_of(thread, slot));
	return fuzz_issue(thread, index, slot, &room, fuzz_requests[index].size);
}

/*
 * One number chooses.  Later ioctls have few of the numbers, and the others mean what they did, so
 * that the inputs of a corpus that is older reach what they did.
 */
static unsigned int some_request(struct fuzz_thread *thread)
{
	uint64_t number = fuzz_next(&thread->random);

	if (number % 32)
		return (number >> 32) * FUZZ_LATER >> 32;
	return FUZZ_LATER + number / 32 % (FUZZ_REQUESTS - FUZZ_LATER);
}

static void act_request(struct fuzz_thread *thread)
{
	unsigned int index = some_request(thread);
	const struct fuzz_request *request = &fuzz_requests[index];
	enum fuzz_kind kind = request->kind;
	union any_request room;
	uint32_t size;
	int slot;

	if (fuzz_one_in(&thread->random, 40))
		kind = fuzz_below(&thread->random, FUZZ_KINDS);
	slot = fuzz_one_in(&thread->random, 80) ? -1 : find(thread, kind, 0);
	/* Several values for one object, because mostly the values are invalid. */
	for (uint32_t i = fuzz_below(&thread->random, 6); i < 6; i++) {
		size = fuzz_fill(thread, request, &room, session_of(thread, slot));
		fuzz_issue(thread, index, slot, &room, size);
	}
}

static void act_open(struct fuzz_thread *thread)
{
	uint64_t begun = fuzz_call_begin(thread, FUZZ_OPEN, false);
	int fd = session_open(O_CLOEXEC | (fuzz_one_in(&thread->random, 2) ? O_NONBLOCK : 0));

	fuzz_call_end(thread, FUZZ_OPEN, false, begun, fd);
	if (fd >= 0)
		fuzz_keep(thread, fd, FUZZ_SESSION, 0, ++thread->pool->sessions);
	else if (fd != -EDQUOT && fd != -ENOMEM && fd != -EMFILE && fd != -ENFILE)
		fuzz_fail(thread, "open() answered %s", strerror(-fd));
}

/* Moves a connection to the next state, from the one that it is in. */
static void step(struct fuzz_thread *thread, int conn)
{
	struct fuzz_slot *slot = &thread->pool->slots[conn];
	union any_request room = { .wait = { .size = sizeof(room.wait) } };
	uint32_t state;
	int ring;

	if (fuzz_one_in(&thread->random, 3))
		room.wait.deadline_ns = fuzz_deadline(thread);
	fuzz_issue(thread, FUZZ_CONN_WAIT, conn, &room, sizeof(room.wait));
	state = room.wait.state;
	switch (state) {
	case KRDMA_CONN_NEW:
		ask(thread, FUZZ_CONN_RESOLVE, conn);
		break;
	case KRDMA_CONN_RESOLVED:
	case KRDMA_CONN_REQUESTED:
		ring = find(thread, FUZZ_QUEUE, slot->session);
		if (slot->ring < 0 && ring >= 0) {
			fuzz_fill_right(thread, &fuzz_requests[FUZZ_CONN_CREATE_QP], &room,
					slot->session);
			room.create_qp.ring_fd = thread->pool->slots[ring].fd;
			if (!fuzz_issue(thread, FUZZ_CONN_CREATE_QP, conn, &room,
					sizeof(room.create_qp)))
				slot->ring = ring;
		}
		if (fuzz_one_in(&thread->random, 20))
			ask(thread, FUZZ_CONN_REJECT, conn);
		ask(thread, state == KRDMA_CONN_RESOLVED ? FUZZ_CONN_CONNECT : FUZZ_CONN_ACCEPT,
		    conn);
		break;
	case KRDMA_CONN_CLOSED:
		fuzz_close(thread, conn);
		break;
	}
}

static void act_step(struct fuzz_thread *thread)
{
	int conn = find(thread, FUZZ_CONN, 0);

	if (conn >= 0)
		step(thread, conn);
}

/* Creates what two connected ends need and connects them; random choices can make steps fail. */
static void act_meet(struct fuzz_thread *thread)
{
	int session = find(thread, FUZZ_SESSION, 0), conn = -1;
	unsigned int number = session_of(thread, session);

	if (session < 0)
		return;
	if (find(thread, FUZZ_LISTENER, number) < 0)
		ask(thread, FUZZ_LISTEN, session);
	if (find(thread, FUZZ_QUEUE, number) < 0 || fuzz_one_in(&thread->random, 4))
		ask(thread, FUZZ_RING_CREATE, session);
	ask(thread, FUZZ_CONN_CREATE, session);
	ask(thread, FUZZ_MR_REGISTER, session);
	for (int i = 0; i < 12; i++) {
		int listener = find(thread, FUZZ_LISTENER, 0);

		conn = find(thread, FUZZ_CONN, number);
		if (conn >= 0)
			step(thread, conn);
		if (listener >= 0 && i > 3)
			ask(thread, FUZZ_LISTENER_NEXT, listener);
	}
}

static void submit(struct fuzz_thread *thread, int ring, const struct krdma_sqe *entries,
		   uint32_t count)
{
	struct krdma_ring_header *header = fuzz_pool_ring(thread->pool, ring);
	uint32_t bytes = thread->pool->slots[ring].header;
	union any_request room;

	fuzz_fill_right(thread, &fuzz_requests[FUZZ_RING_ENTER], &room, 0);
	room.enter.to_submit = count;
	/* The offsets in the header may be garbage, because other threads write there. */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (header->sq_tail + i) & (header->sq_entries - 1);
		uint64_t offset = (uint64_t)header->sqe_offset + (uint64_t)at * sizeof(*entries);

		if (offset + sizeof(*entries) <= bytes)
			memcpy((char *)header + offset, &entries[i], sizeof(*entries));
	}
	__atomic_store_n(&header->sq_tail, header->sq_tail + count, __ATOMIC_RELEASE);
	fuzz_issue(thread, FUZZ_RING_ENTER, ring, &room, sizeof(room.enter));
	/* Removes refused entries, which would stay in the SQ forever. */
	if (!fuzz_one_in(&thread->random, 16))
		__atomic_store_n(&header->sq_tail, header->sq_head, __ATOMIC_RELEASE);
}

static void act_traffic(struct fuzz_thread *thread)
{
	uint32_t count = 1 + fuzz_below(&thread->random, 8), offset;
	int conn = find(thread, FUZZ_CONN, 0), ring;
	struct krdma_sqe entries[8];
	union any_request room;

	if (conn < 0)
		return;
	ring = thread->pool->slots[conn].ring;
	if (ring < 0 || thread->pool->slots[ring].kind != FUZZ_QUEUE)
		return;
	for (uint32_t i = 0; i < count; i++)
		fuzz_entry(thread, thread->pool->slots[conn].id, &entries[i]);
	if (fuzz_one_in(&thread->random, 2)) {
		submit(thread, ring, entries, count);
	} else {
		offset = fuzz_below(&thread->random, FUZZ_ARENA_SIZE - sizeof(entries));
		memcpy(thread->pool->arena + offset, entries, sizeof(entries));
		fuzz_fill_right(thread, &fuzz_requests[FUZZ_RING_POST], &room, 0);
		room.post.entries = (uintptr_t)thread->pool->arena + offset;
		room.post.count = count;
		fuzz_issue(thread, FUZZ_RING_POST, ring, &room, sizeof(room.post));
	}
	/* There are completions to reap here, and hardly anywhere else. */
	if (fuzz_one_in(&thread->random, 3))
		ask(thread, FUZZ_RING_REAP, ring);
}

/* Mostly writes invalid values to a ring. */
static void act_ring(struct fuzz_thread *thread)
{
	int ring = find(thread, FUZZ_QUEUE, 0);
	uint32_t bytes = ring < 0 ? 0 : atomic_load(&thread->pool->slots[ring].header);
	struct krdma_ring_header *header;

	if (!bytes)
		return;
	header = fuzz_pool_ring(thread->pool, ring);
	switch (fuzz_below(&thread->random, 6)) {
	case 0:
		header->sq_tail = fuzz_next(&thread->random);
		break;
	case 1:
		header->cq_head = fuzz_next(&thread->random);
		break;
	case 2:
		((unsigned char *)header)[fuzz_below(&thread->random, bytes)] =
			fuzz_next(&thread->random);
		break;
	case 3:
		header->sq_tail = header->sq_head + fuzz_below(&thread->random, 300);
		break;
	default:
		/* The valid case: takes all completions and removes all entries. */
		header->cq_head = __atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE);
		header->sq_tail = header->sq_head;
	}
}

static void act_read(struct fuzz_thread *thread)
{
	static const uint32_t sizes[] = { 16, 16, 16, 64, 64, 4096, 0, 15, 17 };
	int slot = fuzz_below(&thread->random, FUZZ_SLOTS);
	int conn = find(thread, FUZZ_CONN, 0);
	uint32_t size = sizes[fuzz_below(&thread->random, ARRAY_SIZE(sizes))];
	struct krdma_event_record records[256];
	void *buffer = records;
	uint64_t begun;
	ssize_t got;

	if (conn >= 0 && !fuzz_one_in(&thread->random, 3))
		slot = conn;
	if (fuzz_one_in(&thread->random, 10))
		buffer = thread->pool->forbidden;
	begun = fuzz_call_begin(thread, FUZZ_READ, true);
	got = read(thread->pool->slots[slot].fd, buffer, size);
	if (got < 0)
		got = -errno;
	fuzz_call_end(thread, FUZZ_READ, true, begun, got);
	if (got > (ssize_t)size || (got > 0 && got % 16))
		fuzz_fail(thread, "read() of %u bytes gave %zd", size, got);
	for (ssize_t i = 0; buffer == records && i < got / 16; i++)
		if (!records[i].type || records[i].type > KRDMA_EVENT_CLOSED ||
		    records[i].size != sizeof(records[i]))
			fuzz_fail(thread, "read() gave a record of type %u and size %u",
				  records[i].type, records[i].size);
}

static void act_poll(struct fuzz_thread *thread)
{
	struct pollfd fds[4];
	uint64_t begun;
	int ret;

	for (int i = 0; i < 4; i++) {
		fds[i].fd = thread->pool->slots[fuzz_below(&thread->random, FUZZ_SLOTS)].fd;
		fds[i].events = fuzz_next(&thread->random);
	}
	begun = fuzz_call_begin(thread, FUZZ_POLL, true);
	ret = poll(fds, 4, fuzz_below(&thread->random, 4));
	fuzz_call_end(thread, FUZZ_POLL, true, begun, ret < 0 ? -errno : 0);
}

/* Makes a mapping, mostly an invalid one, and removes it again. */
static void act_map(struct fuzz_thread *thread)
{
	static const int protections[] = {
		PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE, PROT_READ | PROT_EXEC, PROT_WRITE,
	};
	int slot = find(thread, fuzz_one_in(&thread->random, 6) ? FUZZ_CONN : FUZZ_QUEUE, 0);
	size_t size = fuzz_one_in(&thread->random, 2) ? fuzz_below(&thread->random, 1 << 20) : 4096;
	off_t offset = fuzz_one_in(&thread->random, 2) ? 0 :
							 fuzz_next(&thread->random) & 0x7ffff000;
	int flags = fuzz_one_in(&thread->random, 4) ? MAP_PRIVATE : MAP_SHARED;
	uint64_t begun;
	char *at;

	if (slot < 0)
		return;
	if (fuzz_one_in(&thread->random, 2))
		size = thread->pool->slots[slot].header;
	begun = fuzz_call_begin(thread, FUZZ_MMAP, false);
	at = mmap(NULL, size, protections[fuzz_below(&thread->random, 5)], flags,
		  thread->pool->slots[slot].fd, offset);
	fuzz_call_end(thread, FUZZ_MMAP, false, begun, at == MAP_FAILED ? -errno : 0);
	if (at == MAP_FAILED)
		return;
	if (thread->alone && (offset || flags == MAP_PRIVATE))
		fuzz_fail(thread, "mmap() at offset %llx with flags %x succeeded",
			  (unsigned long long)offset, flags);
	if (size > 4096)
		munmap(at + 4096, size - 4096);
	munmap(at, 4096);
}

/* Replaces pages of the arena while they are in use. */
static void act_replace(struct fuzz_thread *thread)
{
	size_t size = 4096 * (1 + fuzz_below(&thread->random, 4));
	size_t offset = 4096 * fuzz_below(&thread->random, FUZZ_ARENA_SIZE / 4096 - 4);

	mmap(thread->pool->arena + offset, size, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void act_dup(struct fuzz_thread *thread)
{
	struct fuzz_slot *slot = &thread->pool->slots[fuzz_below(&thread->random, FUZZ_SLOTS)];
	unsigned int kind = slot->kind, id = slot->id, session = slot->session;
	int fd = fcntl(slot->fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		fuzz_keep(thread, fd, kind, id, session);
}

static void act_mail(struct fuzz_thread *thread)
{
	struct fuzz_slot *slot = &thread->pool->slots[fuzz_below(&thread->random, FUZZ_SLOTS)];
	int fd;

	if (fuzz_one_in(&thread->random, 2)) {
		if (slot->fd >= 0)
			fd_send(thread->pool->mail[0], slot->fd);
		return;
	}
	fd = fd_receive(thread->pool->mail[1]);
	/* Its kind is unknown, so ioctls on it may be of the wrong kind. */
	if (fd >= 0)
		fuzz_keep(thread, fd, FUZZ_STRANGER, 0, 0);
}

/* Numbers that are no ioctl of that file, or of any. */
static void act_unknown(struct fuzz_thread *thread)
{
	int fd = fuzz_one_in(&thread->random, 8) ?
			 thread->pool->stranger :
			 thread->pool->slots[fuzz_below(&thread->random, FUZZ_SLOTS)].fd;
	unsigned int cmd = fuzz_below(&thread->random, 2) ?
				   _IO(KRDMA_IOCTL_TYPE, 0x60 + fuzz_below(&thread->random, 0xa0)) :
				   _IOWR(KRDMA_IOCTL_TYPE, fuzz_below(&thread->random, 256), int);
	uint64_t begun = fuzz_call_begin(thread, FUZZ_UNKNOWN, false);
	int ret = ioctl(fd, cmd, thread->page) < 0 ? -errno : 0;

	fuzz_call_end(thread, FUZZ_UNKNOWN, false, begun, ret);
	if (ret != -ENOTTY && ret != -EBADF)
		fuzz_fail(thread, "request %#x answered %d instead of ENOTTY", cmd, ret);
}

/* A child makes a few calls with the objects of its parent, and exits. */
static void act_child(struct fuzz_thread *thread)
{
	pid_t child = fork();

	if (child == 0) {
		/* A child of fork() inherits neither timer nor coverage. */
		thread->cover = NULL;
		thread->alone = false;
		thread->index = FUZZ_THREADS;
		if (timer_create(CLOCK_MONOTONIC, NULL, &thread->timer))
			_exit(0);
		for (int i = 0; i < 6; i++)
			act_request(thread);
		act_traffic(thread);
		_exit(0);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

void fuzz_act(struct fuzz_thread *thread, uint64_t action)
{
	static const struct {
		unsigned int weight;
		void (*act)(struct fuzz_thread *thread);
	} actions[] = {
		{ 560, act_request }, { 120, act_step }, { 120, act_traffic }, { 50, act_ring },
		{ 24, act_read }, { 24, act_poll }, { 20, act_map }, { 20, act_replace },
		{ 15, act_dup }, { 10, act_mail }, { 12, act_unknown }, { 3, act_child },
		{ 8, act_open }, { 14, act_meet },
	};
	unsigned int at;

	thread->random.state = action;
	at = fuzz_below(&thread->random, 1024);
	for (unsigned int i = 0; i < ARRAY_SIZE(actions); i++) {
		if (at < actions[i].weight) {
			actions[i].act(thread);
			return;
		}
		at -= actions[i].weight;
	}
	fuzz_close(thread, fuzz_below(&thread->random, FUZZ_SLOTS));
}

void fuzz_prepare(struct fuzz_thread *thread)
{
	act_open(thread);
	act_open(thread);
	for (int i = 0; i < 3; i++)
		act_meet(thread);
}
