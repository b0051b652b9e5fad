/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings and MRs, by the ioctls of <linux/krdma.h> alone.  Calls return 0 or a negative errno.  A
 * failed call creates nothing.  A zeroed or closed structure can be closed again.
 */
#ifndef KRDMA_E2E_RINGS_H
#define KRDMA_E2E_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

/* Timeout of an event that must happen, on the slowest kernel. */
#define PATIENCE_MS	30000

/* A moment in CLOCK_MONOTONIC nanoseconds, for deadlines; 0 ms: already past. */
uint64_t deadline_in(unsigned int ms);

/*
 * past: microseconds since the deadline; negative before it.  late: microseconds within which a
 * wait with a correct timer must return after its deadline.
 */
int64_t deadline_past_us(uint64_t deadline_ns);
int64_t deadline_late_us(void);

/*
 * Expect that the call that has just returned waited until its deadline, and not longer.  Rings
 * have their own timers.  Listeners and connections use the kernel's timer wheel, which rounds a
 * time of @ms up by at most two ticks of 4 ms and an eighth of the time.
 */
#define EXPECT_ON_TIME(deadline_ns)		EXPECT_PAST(deadline_ns, 0)
#define EXPECT_ON_WHEEL_TIME(deadline_ns, ms)	EXPECT_PAST(deadline_ns, 8000 + (ms) * 1000 / 8)

#define EXPECT_PAST(deadline_ns, more_us) do {						\
	const int64_t past_us = deadline_past_us(deadline_ns);				\
											\
	EXPECT_LE(0, past_us);								\
	EXPECT_GE(deadline_late_us() + (more_us), past_us);				\
} while (0)

/**
 * struct ring - a ring and its mapping
 * @fd: file descriptor of the ring
 * @session: session of the ring; not owned
 * @sq_entries: as granted
 * @cq_entries: as granted
 * @size: of the mapping
 * @header: the mapping
 * @sqes: the submission ring's entries
 * @cqes: the completion ring's entries
 */
struct ring {
	int fd;
	int session;
	uint32_t sq_entries;
	uint32_t cq_entries;
	size_t size;
	struct krdma_ring_header *header;
	struct krdma_sqe *sqes;
	struct krdma_cqe *cqes;
};

/* Options of a ring; all zero means the defaults, on the device of the first use. */
struct ring_options {
	uint32_t flags;
	uint32_t device_id;
	uint32_t sq_entries;
	uint32_t cq_entries;
	uint32_t vector;
};

int ring_create(int session, const struct ring_options *options, struct ring *ring);

/* Map a ring that another process created; @ring takes over @fd. */
int ring_adopt(int fd, size_t size, struct ring *ring);
void ring_close(struct ring *ring);

/* Put entries into the ring, without a system call; -ENOSPC if they do not fit. */
int ring_put(struct ring *ring, const struct krdma_sqe *entries, uint32_t count);

/* KRDMA_RING_ENTER; the result is in *@enter, which may be NULL. */
int ring_enter(struct ring *ring, uint32_t to_submit, uint32_t min_complete,
	       uint64_t deadline_ns, struct krdma_ring_enter_args *enter);

/*
 * Post entries by the ring, or by an array.  0 if all were accepted, otherwise the error of the
 * call or of the next entry; *@accepted (may be NULL) is the number of entries before it.
 * Refused entries are removed from the ring.
 */
int ring_submit(struct ring *ring, const struct krdma_sqe *entries, uint32_t count,
		uint32_t *accepted);
int ring_post(int ring, const struct krdma_sqe *entries, uint32_t count, uint32_t *accepted);

/* One completion from the ring, without a system call; -EAGAIN if none.  For one thread. */
int ring_take(struct ring *ring, struct krdma_cqe *cqe);

/* The same, waiting inside KRDMA_RING_ENTER; -ETIMEDOUT. */
int ring_wait(struct ring *ring, struct krdma_cqe *cqe, unsigned int ms);

/* KRDMA_RING_REAP, from any thread; *@reaped is set to the number of completions. */
int ring_reap(int ring, struct krdma_cqe *cqes, uint32_t count, uint32_t min_complete,
	      uint64_t deadline_ns, uint32_t *reaped);

int ring_query(int ring, struct krdma_ring_query_args *query);

/* KRDMA_RING_CONFINE. */
int ring_confine(int ring, const uint32_t *ids, uint32_t count);

/* poll() of one descriptor.  Returns the mask, 0 after @ms without an event, or -errno. */
int poll_mask(int fd, short events, unsigned int ms);

/**
 * struct mr - a memory region
 * @session: session of the MR; not owned
 * @id: ID of the MR
 * @rkey: for peers
 * @remote_addr: for peers
 * @data: address of the memory
 * @length: length in bytes
 */
struct mr {
	int session;
	uint32_t id;
	uint32_t rkey;
	uint64_t remote_addr;
	unsigned char *data;
	size_t length;
};

/* All access rights; mr_register() then requests all that the device has. */
#define ACCESS_ALL	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

/* Does the boot device's driver register a process's memory?  Otherwise krdma pins it. */
bool boot_driver_registers(void);

/*
 * Connections, listeners and MRs that are made from now on are for lanes, whatever the test says.
 * What works with a plain connection then has to work with a lane.
 */
extern bool lanes_by_default;

/* What is registered for lanes has windows, too. */
extern bool windows_by_default;

bool device_has_atomics(int session, uint32_t device_id);

/* The access that mr_register() requests for @access: of ACCESS_ALL what the device has. */
uint32_t access_of_device(int session, uint32_t device_id, uint32_t access);

int mr_register(int session, uint32_t device_id, void *data, size_t length, uint32_t access,
		struct mr *mr);
/* The same with flags of &enum krdma_mr_register_flags. */
int mr_register_with(int session, uint32_t device_id, void *data, size_t length, uint32_t access,
		     uint32_t flags, struct mr *mr);
int mr_deregister(int session, uint32_t id, uint32_t flags);

/* Allocate zeroed pages and register them; deregister and free them. */
int mr_create(int session, uint32_t device_id, size_t length, uint32_t access,
	      struct mr *mr);
int mr_create_with(int session, uint32_t device_id, size_t length, uint32_t access,
		   uint32_t flags, struct mr *mr);
void mr_destroy(struct mr *mr);

/* Fill with, or compare to, a pattern that differs for each seed and offset. */
void fill(void *data, size_t length, unsigned int seed);
bool filled(const void *data, size_t length, unsigned int seed);
bool zeroed(const void *data, size_t length);

/* Entries.  @mr NULL: without data. */
struct krdma_sqe sqe_receive(uint32_t dest, uint64_t wr_id, const struct mr *mr,
			     size_t offset, uint32_t length);
struct krdma_sqe sqe_send(uint32_t dest, uint64_t wr_id, const struct mr *mr,
			  size_t offset, uint32_t length);

/* RDMA operations and atomics between @local and @remote, an MR of the peer. */
struct krdma_sqe sqe_remote(uint8_t opcode, uint32_t dest, uint64_t wr_id,
			    const struct mr *local, size_t offset, uint32_t length,
			    const struct mr *remote, size_t remote_offset);

#endif
