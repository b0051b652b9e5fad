// SPDX-License-Identifier: GPL-2.0
/*
 * Rings and MRs, by the ioctls of <linux/krdma.h> alone.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
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
 * Rings
 */

int ring_adopt(int fd, size_t size, struct ring *ring)
{
	struct krdma_ring_header *header;

	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
	header = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return -errno;
	ring->fd = fd;
	ring->session = -1;
	ring->size = size;
	ring->header = header;
	ring->sq_entries = header->sq_entries;
	ring->cq_entries = header->cq_entries;
	ring->sqes = (void *)((char *)header + header->sqe_offset);
	ring->cqes = (void *)((char *)header + header->cqe_offset);
	return 0;
}

int ring_create(int session, const struct ring_options *options, struct ring *ring)
{
	struct krdma_ring_create_args create = { .size = sizeof(create) };
	int ret;

	memset(ring, 0, sizeof(*ring));
	ring->fd = -1;
	if (options) {
		create.flags = options->flags;
		create.device_id = options->device_id;
		create.sq_entries = options->sq_entries;
		create.cq_entries = options->cq_entries;
		create.vector = options->vector;
	}
	ret = session_request(session, KRDMA_RING_CREATE, &create);
	if (ret)
		return ret;
	ret = ring_adopt(create.fd, create.ring_size, ring);
	if (ret)
		close(create.fd);
	else
		ring->session = session;
	return ret;
}

void ring_close(struct ring *ring)
{
	if (ring->header)
		munmap(ring->header, ring->size);
	if (ring->header && ring->fd >= 0)
		close(ring->fd);
	ring->header = NULL;
	ring->fd = -1;
}

int ring_put(struct ring *ring, const struct krdma_sqe *entries, uint32_t count)
{
	struct krdma_ring_header *header = ring->header;
	uint32_t tail = header->sq_tail;

	if (count > ring->sq_entries - (tail - __atomic_load_n(&header->sq_head, __ATOMIC_ACQUIRE)))
		return -ENOSPC;
	for (uint32_t i = 0; i < count; i++)
		ring->sqes[(tail + i) & (ring->sq_entries - 1)] = entries[i];
	__atomic_store_n(&header->sq_tail, tail + count, __ATOMIC_RELEASE);
	return 0;
}

int ring_enter(struct ring *ring, uint32_t to_submit, uint32_t min_complete,
	       uint64_t deadline_ns, struct krdma_ring_enter_args *enter)
{
	struct krdma_ring_enter_args own;

	if (!enter)
		enter = &own;
	memset(enter, 0, sizeof(*enter));
	enter->size = sizeof(*enter);
	enter->to_submit = to_submit;
	enter->min_complete = min_complete;
	enter->deadline_ns = deadline_ns;
	return session_request(ring->fd, KRDMA_RING_ENTER, enter);
}

int ring_submit(struct ring *ring, const struct krdma_sqe *entries, uint32_t count,
		uint32_t *accepted)
{
	struct krdma_ring_enter_args enter = {};
	uint32_t done = 0;
	int ret = 0;

	while (done < count && !ret) {
		uint32_t part = count - done < ring->sq_entries ? count - done : ring->sq_entries;

		ret = ring_put(ring, entries + done, part);
		if (ret)
			break;
		ret = ring_enter(ring, part, 0, 0, &enter);
		if (!ret) {
			done += enter.submitted;
			ret = enter.error;
			if (!ret && enter.submitted != part)
				ret = -EPROTO;
		}
		__atomic_store_n(&ring->header->sq_tail,
				 __atomic_load_n(&ring->header->sq_head, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	}
	if (accepted)
		*accepted = done;
	return ret;
}

int ring_post(int ring, const struct krdma_sqe *entries, uint32_t count, uint32_t *accepted)
{
	struct krdma_ring_post_args post = {
		.size = sizeof(post),
		.entries = (uintptr_t)entries,
		.count = count,
	};
	int ret = session_request(ring, KRDMA_RING_POST, &post);

	if (accepted)
		*accepted = ret ? 0 : post.accepted;
	if (ret)
		return ret;
	if (!post.error && post.accepted != count)
		return -EPROTO;
	return post.error;
}

int ring_take(struct ring *ring, struct krdma_cqe *cqe)
{
	struct krdma_ring_header *header = ring->header;
	uint32_t head = header->cq_head;

	if (__atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE) == head)
		return -EAGAIN;
	*cqe = ring->cqes[head & (ring->cq_entries - 1)];
	__atomic_store_n(&header->cq_head, head + 1, __ATOMIC_RELEASE);
	return 0;
}

int ring_wait(struct ring *ring, struct krdma_cqe *cqe, unsigned int ms)
{
	uint64_t deadline = deadline_in(ms);
	int ret;

	while ((ret = ring_take(ring, cqe)) == -EAGAIN) {
		ret = ring_enter(ring, 0, 1, deadline, NULL);
		if (ret)
			return ring_take(ring, cqe) ? ret : 0;
	}
	return ret;
}

int ring_reap(int ring, struct krdma_cqe *cqes, uint32_t count, uint32_t min_complete,
	      uint64_t deadline_ns, uint32_t *reaped)
{
	struct krdma_ring_reap_args reap = {
		.size = sizeof(reap),
		.entries = (uintptr_t)cqes,
		.count = count,
		.min_complete = min_complete,
		.deadline_ns = deadline_ns,
	};
	int ret = session_request(ring, KRDMA_RING_REAP, &reap);

	*reaped = ret ? 0 : reap.reaped;
	return ret;
}

int ring_confine(int ring, const uint32_t *ids, uint32_t count)
{
	struct krdma_ring_confine_args confine = {
		.size = sizeof(confine),
		.mr = (uintptr_t)ids,
		.count = count,
	};

	return session_request(ring, KRDMA_RING_CONFINE, &confine);
}

int ring_query(int ring, struct krdma_ring_query_args *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	return session_request(ring, KRDMA_RING_QUERY, query);
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

/* The driver that the boot device behaves like, or "". */
static const char *boot_driver(char *name, unsigned int size)
{
	*name = '\0';
	if (!strcmp(getenv("KRDMA_LINK") ?: "", "krdma_fake"))
		read_line(name, size, "/sys/module/krdma_fake/parameters/personality");
	return name;
}

bool boot_driver_registers(void)
{
	char driver[64];

	boot_driver(driver, sizeof(driver));
	return !*driver || !strcmp(driver, "mlx4") || !strcmp(driver, "mlx5");
}

bool device_has_atomics(int session, uint32_t device_id)
{
	struct krdma_device_query_args device;

	/* An unknown device fails later, where the test expects it. */
	return session_device(session, device_id, &device) ||
	       device.caps & KRDMA_DEVICE_CAP_ATOMIC;
}

uint32_t access_of_device(int session, uint32_t device_id, uint32_t access)
{
	if (access == ACCESS_ALL && !device_has_atomics(session, device_id))
		access &= ~KRDMA_ACCESS_REMOTE_ATOMIC;
	return access;
}

bool lanes_by_default;
bool windows_by_default;

static uint32_t mr_flags(uint32_t flags)
{
	if (lanes_by_default)
		flags |= KRDMA_MR_REGISTER_LANES;
	if (windows_by_default && (flags & KRDMA_MR_REGISTER_LANES))
		flags |= KRDMA_MR_REGISTER_WINDOWS;
	return flags;
}

int mr_register_with(int session, uint32_t device_id, void *data, size_t length, uint32_t access,
		     uint32_t flags, struct mr *mr)
{
	struct krdma_mr_register_args request = {
		.size = sizeof(request),
		.flags = mr_flags(flags),
		.addr = (uintptr_t)data,
		.length = length,
		.device_id = device_id,
		.access = access_of_device(session, device_id, access),
	};
	int ret = session_request(session, KRDMA_MR_REGISTER, &request);

	memset(mr, 0, sizeof(*mr));
	if (ret)
		return ret;
	mr->session = session;
	mr->id = request.id;
	mr->rkey = request.rkey;
	mr->remote_addr = request.remote_addr;
	mr->data = data;
	mr->length = length;
	return 0;
}

int mr_register(int session, uint32_t device_id, void *data, size_t length, uint32_t access,
		struct mr *mr)
{
	return mr_register_with(session, device_id, data, length, access, 0, mr);
}

int mr_deregister(int session, uint32_t id, uint32_t flags)
{
	struct krdma_mr_deregister_args release = { .size = sizeof(release), .flags = flags,
						    .id = id };

	return session_request(session, KRDMA_MR_DEREGISTER, &release);
}

int mr_create_with(int session, uint32_t device_id, size_t length, uint32_t access,
		   uint32_t flags, struct mr *mr)
{
	void *data = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret;

	memset(mr, 0, sizeof(*mr));
	if (data == MAP_FAILED)
		return -errno;
	ret = mr_register_with(session, device_id, data, length, access, flags, mr);
	if (ret)
		munmap(data, length);
	return ret;
}

int mr_create(int session, uint32_t device_id, size_t length, uint32_t access,
	      struct mr *mr)
{
	return mr_create_with(session, device_id, length, access, 0, mr);
}

void mr_destroy(struct mr *mr)
{
	if (!mr->data)
		return;
	/* The session may be closed, and its MRs with it. */
	mr_deregister(mr->session, mr->id, KRDMA_DEREGISTER_LATER);
	munmap(mr->data, mr->length);
	mr->data = NULL;
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

	/* Each byte equals the one before it. */
	return !length || (!bytes[0] && !memcmp(bytes, bytes + 1, length - 1));
}

/*
 * Entries
 */

static struct krdma_sqe sqe(uint8_t opcode, uint32_t dest, uint64_t wr_id,
			    const struct mr *mr, size_t offset, uint32_t length)
{
	struct krdma_sqe entry = { .opcode = opcode, .dest = dest, .wr_id = wr_id };

	if (mr) {
		entry.sge_count = 1;
		entry.sge.addr = (uintptr_t)mr->data + offset;
		entry.sge.length = length;
		entry.sge.mr = mr->id;
	}
	return entry;
}

struct krdma_sqe sqe_receive(uint32_t dest, uint64_t wr_id, const struct mr *mr,
			     size_t offset, uint32_t length)
{
	return sqe(KRDMA_OP_RECV, dest, wr_id, mr, offset, length);
}

struct krdma_sqe sqe_send(uint32_t dest, uint64_t wr_id, const struct mr *mr,
			  size_t offset, uint32_t length)
{
	return sqe(KRDMA_OP_SEND, dest, wr_id, mr, offset, length);
}

struct krdma_sqe sqe_remote(uint8_t opcode, uint32_t dest, uint64_t wr_id,
			    const struct mr *local, size_t offset, uint32_t length,
			    const struct mr *remote, size_t remote_offset)
{
	struct krdma_sqe entry = sqe(opcode, dest, wr_id, local, offset, length);

	entry.remote_addr = remote->remote_addr + remote_offset;
	entry.rkey = remote->rkey;
	if (opcode == KRDMA_OP_FLUSH) {
		entry.imm = KRDMA_FLUSH_GLOBAL;
		entry.operand = 8;
	}
	return entry;
}
