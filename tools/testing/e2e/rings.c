// SPDX-License-Identifier: GPL-2.0
/*
 * Queues, their rings, and registered memory, by nothing but the requests of
 * <linux/krdma.h>.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rings.h"
#include "session.h"

uint64_t deadline_in(unsigned int ms)
{
	struct timespec now;

	if (!ms)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec + (uint64_t)ms * 1000000;
}

int64_t deadline_past_us(uint64_t deadline_ns)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)deadline_ns) / 1000;
}

int64_t deadline_late_us(void)
{
	return rounds(10000, 100000);
}

/*
 * Queues
 */

int queue_adopt(int fd, size_t size, struct queue *queue)
{
	struct krdma_ring *ring;

	memset(queue, 0, sizeof(*queue));
	queue->fd = -1;
	ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return -errno;
	queue->fd = fd;
	queue->session = -1;
	queue->size = size;
	queue->ring = ring;
	queue->sq_entries = ring->sq_entries;
	queue->cq_entries = ring->cq_entries;
	queue->sqes = (void *)((char *)ring + ring->sqe_offset);
	queue->cqes = (void *)((char *)ring + ring->cqe_offset);
	return 0;
}

int queue_create(int session, const struct queue_options *options, struct queue *queue)
{
	struct krdma_queue_create create = { .size = sizeof(create) };
	int ret;

	memset(queue, 0, sizeof(*queue));
	queue->fd = -1;
	if (options) {
		create.flags = options->flags;
		create.device_id = options->device_id;
		create.sq_entries = options->sq_entries;
		create.cq_entries = options->cq_entries;
		create.vector = options->vector;
	}
	ret = session_request(session, KRDMA_QUEUE_CREATE, &create);
	if (ret)
		return ret;
	ret = queue_adopt(create.fd, create.ring_size, queue);
	if (ret)
		close(create.fd);
	else
		queue->session = session;
	return ret;
}

void queue_close(struct queue *queue)
{
	if (queue->ring)
		munmap(queue->ring, queue->size);
	if (queue->ring && queue->fd >= 0)
		close(queue->fd);
	queue->ring = NULL;
	queue->fd = -1;
}

int queue_put(struct queue *queue, const struct krdma_sqe *entries, uint32_t count)
{
	struct krdma_ring *ring = queue->ring;
	uint32_t tail = ring->sq_tail;

	if (count > queue->sq_entries - (tail - __atomic_load_n(&ring->sq_head, __ATOMIC_ACQUIRE)))
		return -ENOSPC;
	for (uint32_t i = 0; i < count; i++)
		queue->sqes[(tail + i) & (queue->sq_entries - 1)] = entries[i];
	__atomic_store_n(&ring->sq_tail, tail + count, __ATOMIC_RELEASE);
	return 0;
}

int queue_enter(struct queue *queue, uint32_t to_submit, uint32_t min_complete,
		uint64_t deadline_ns, struct krdma_queue_enter *enter)
{
	struct krdma_queue_enter own;

	if (!enter)
		enter = &own;
	memset(enter, 0, sizeof(*enter));
	enter->size = sizeof(*enter);
	enter->to_submit = to_submit;
	enter->min_complete = min_complete;
	enter->deadline_ns = deadline_ns;
	return session_request(queue->fd, KRDMA_QUEUE_ENTER, enter);
}

int queue_submit(struct queue *queue, const struct krdma_sqe *entries, uint32_t count,
		 uint32_t *accepted)
{
	struct krdma_queue_enter enter = {};
	uint32_t done = 0;
	int ret = 0;

	while (done < count && !ret) {
		uint32_t part = count - done < queue->sq_entries ? count - done : queue->sq_entries;

		ret = queue_put(queue, entries + done, part);
		if (ret)
			break;
		ret = queue_enter(queue, part, 0, 0, &enter);
		if (!ret) {
			done += enter.submitted;
			ret = enter.error;
			if (!ret && enter.submitted != part)
				ret = -EPROTO;
		}
		__atomic_store_n(&queue->ring->sq_tail,
				 __atomic_load_n(&queue->ring->sq_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	if (accepted)
		*accepted = done;
	return ret;
}

int queue_post(int queue, const struct krdma_sqe *entries, uint32_t count, uint32_t *accepted)
{
	struct krdma_queue_post post = {
		.size = sizeof(post),
		.entries = (uintptr_t)entries,
		.count = count,
	};
	int ret = session_request(queue, KRDMA_QUEUE_POST, &post);

	if (accepted)
		*accepted = ret ? 0 : post.accepted;
	if (ret)
		return ret;
	if (!post.error && post.accepted != count)
		return -EPROTO;
	return post.error;
}

int queue_take(struct queue *queue, struct krdma_cqe *cqe)
{
	struct krdma_ring *ring = queue->ring;
	uint32_t head = ring->cq_head;

	if (__atomic_load_n(&ring->cq_tail, __ATOMIC_ACQUIRE) == head)
		return -EAGAIN;
	*cqe = queue->cqes[head & (queue->cq_entries - 1)];
	__atomic_store_n(&ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return 0;
}

int queue_wait(struct queue *queue, struct krdma_cqe *cqe, unsigned int ms)
{
	uint64_t deadline = deadline_in(ms);
	int ret;

	while ((ret = queue_take(queue, cqe)) == -EAGAIN) {
		ret = queue_enter(queue, 0, 1, deadline, NULL);
		if (ret)
			return queue_take(queue, cqe) ? ret : 0;
	}
	return ret;
}

int queue_reap(int queue, struct krdma_cqe *cqes, uint32_t count, uint32_t min_complete,
	       uint64_t deadline_ns, uint32_t *reaped)
{
	struct krdma_queue_reap reap = {
		.size = sizeof(reap),
		.entries = (uintptr_t)cqes,
		.count = count,
		.min_complete = min_complete,
		.deadline_ns = deadline_ns,
	};
	int ret = session_request(queue, KRDMA_QUEUE_REAP, &reap);

	*reaped = ret ? 0 : reap.reaped;
	return ret;
}

int queue_confine(int queue, const uint32_t *ids, uint32_t count)
{
	struct krdma_queue_confine confine = {
		.size = sizeof(confine),
		.memory = (uintptr_t)ids,
		.count = count,
	};

	return session_request(queue, KRDMA_QUEUE_CONFINE, &confine);
}

int queue_query(int queue, struct krdma_queue_query *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	return session_request(queue, KRDMA_QUEUE_QUERY, query);
}

int poll_mask(int fd, short events, unsigned int ms)
{
	struct pollfd entry = { .fd = fd, .events = events };
	int ret = poll(&entry, 1, ms);

	return ret < 0 ? -errno : entry.revents;
}

/*
 * Memory
 */

int memory_register(int session, uint32_t device_id, void *data, size_t length, uint32_t access,
		    struct memory *memory)
{
	struct krdma_memory_register request = {
		.size = sizeof(request),
		.addr = (uintptr_t)data,
		.length = length,
		.device_id = device_id,
		.access = access,
	};
	int ret = session_request(session, KRDMA_MEMORY_REGISTER, &request);

	memset(memory, 0, sizeof(*memory));
	if (ret)
		return ret;
	memory->session = session;
	memory->id = request.id;
	memory->remote_key = request.remote_key;
	memory->remote_addr = request.remote_addr;
	memory->data = data;
	memory->length = length;
	return 0;
}

int memory_release(int session, uint32_t id, uint32_t flags)
{
	struct krdma_memory_release release = { .size = sizeof(release), .flags = flags, .id = id };

	return session_request(session, KRDMA_MEMORY_RELEASE, &release);
}

int memory_create(int session, uint32_t device_id, size_t length, uint32_t access,
		  struct memory *memory)
{
	void *data = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	memset(memory, 0, sizeof(*memory));
	if (data == MAP_FAILED)
		return -errno;
	ret = memory_register(session, device_id, data, length, access, memory);
	if (ret)
		munmap(data, length);
	return ret;
}

void memory_destroy(struct memory *memory)
{
	if (!memory->data)
		return;
	/* The session may be closed, and the memory with it. */
	memory_release(memory->session, memory->id, KRDMA_RELEASE_LATER);
	munmap(memory->data, memory->length);
	memory->data = NULL;
}

static unsigned char pattern(size_t place, unsigned int seed)
{
	return (place * 31 + (place >> 8) * 7 + seed * 57 + 1) | 1;
}

void fill(void *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		((unsigned char *)data)[i] = pattern(i, seed);
}

bool filled(const void *data, size_t length, unsigned int seed)
{
	for (size_t i = 0; i < length; i++)
		if (((const unsigned char *)data)[i] != pattern(i, seed))
			return false;
	return true;
}

bool zeroed(const void *data, size_t length)
{
	const unsigned char *bytes = data;

	/* Each byte is what the one before it is. */
	return !length || (!bytes[0] && !memcmp(bytes, bytes + 1, length - 1));
}

/*
 * Entries
 */

static struct krdma_sqe sqe(uint8_t opcode, uint32_t target, uint64_t cookie,
			    const struct memory *memory, size_t offset, uint32_t length)
{
	struct krdma_sqe entry = { .opcode = opcode, .target = target, .cookie = cookie };

	if (memory) {
		entry.piece_count = 1;
		entry.piece.addr = (uintptr_t)memory->data + offset;
		entry.piece.length = length;
		entry.piece.memory = memory->id;
	}
	return entry;
}

struct krdma_sqe sqe_receive(uint32_t target, uint64_t cookie, const struct memory *memory,
			     size_t offset, uint32_t length)
{
	return sqe(KRDMA_OP_RECEIVE, target, cookie, memory, offset, length);
}

struct krdma_sqe sqe_send(uint32_t target, uint64_t cookie, const struct memory *memory,
			  size_t offset, uint32_t length)
{
	return sqe(KRDMA_OP_SEND, target, cookie, memory, offset, length);
}

struct krdma_sqe sqe_remote(uint8_t opcode, uint32_t target, uint64_t cookie,
			    const struct memory *local, size_t offset, uint32_t length,
			    const struct memory *remote, size_t remote_offset)
{
	struct krdma_sqe entry = sqe(opcode, target, cookie, local, offset, length);

	entry.remote_addr = remote->remote_addr + remote_offset;
	entry.remote_key = remote->remote_key;
	if (opcode == KRDMA_OP_FLUSH) {
		entry.imm = KRDMA_FLUSH_GLOBAL;
		entry.operand = 8;
	}
	return entry;
}
