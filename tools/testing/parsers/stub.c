// SPDX-License-Identifier: GPL-2.0
/*
 * In place of the library's functions that call the kernel: memory regions that are only memory,
 * and rings that only check what is posted.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"
#include "parsers.h"
#include "stub.h"

struct krdma_mr {
	void *data;
	size_t length;
	bool own;
};

/* In place of all others: the Makefile has their names. */
void absent(void)
{
	abort();
}

static const uint8_t *reach;
static size_t reach_length;

struct krdma_mr *krdma_stub_mr(size_t length)
{
	struct krdma_mr *mr = malloc(sizeof(*mr));

	EXPECT(mr);
	*mr = (struct krdma_mr){ .data = calloc(1, length), .length = length, .own = true };
	EXPECT(mr->data);
	krdma_stub_reach(mr->data, length);
	return mr;
}

void krdma_stub_mr_free(struct krdma_mr *mr)
{
	if (mr && mr->own)
		free(mr->data);
	free(mr);
}

void krdma_stub_reach(const void *from, size_t length)
{
	reach = from;
	reach_length = length;
}

void *krdma_mr_data(const struct krdma_mr *mr)
{
	return mr->data;
}

size_t krdma_mr_length(const struct krdma_mr *mr)
{
	return mr->length;
}

uint32_t krdma_mr_id(const struct krdma_mr *mr)
{
	(void)mr;
	return 1;
}

uint32_t krdma_mr_rkey(const struct krdma_mr *mr)
{
	(void)mr;
	return 1;
}

int krdma_mr_register(struct krdma *session, uint32_t device_id, void *data, size_t length,
		      uint32_t access, struct krdma_mr **mr)
{
	(void)session;
	(void)device_id;
	(void)access;
	*mr = malloc(sizeof(**mr));
	EXPECT(*mr);
	**mr = (struct krdma_mr){ .data = data, .length = length };
	return 0;
}

int krdma_mr_deregister(struct krdma_mr *mr, uint32_t flags)
{
	(void)flags;
	krdma_stub_mr_free(mr);
	return 0;
}

int krdma_mr_describe(struct krdma_mr *mr, size_t offset, size_t length, void *descriptor)
{
	(void)mr;
	(void)offset;
	(void)length;
	memset(descriptor, 1, KRDMA_MR_DESC_SIZE);
	return 0;
}

static void check_sge(const struct krdma_ring_sge *sge)
{
	uint64_t offset = sge->addr - (uintptr_t)reach;

	EXPECT(!sge->length || (offset <= reach_length && sge->length <= reach_length - offset));
}

static int post(const struct krdma_sqe *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct krdma_ring_sge *parts;

		if (entries[i].sge_count < 2)
			check_sge(&entries[i].sge);
		parts = (const struct krdma_ring_sge *)(uintptr_t)entries[i].sge.addr;
		for (unsigned int part = 0; entries[i].sge_count > 1 &&
		     part < entries[i].sge_count; part++)
			check_sge(&parts[part]);
	}
	return 0;
}

int krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries, size_t count,
		    size_t *posted)
{
	(void)ring;
	(void)posted;
	return post(entries, count);
}

int krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries, size_t count,
		   size_t *posted)
{
	(void)srq;
	(void)posted;
	return post(entries, count);
}

uint32_t krdma_conn_id(const struct krdma_conn *conn)
{
	(void)conn;
	return 7;
}

uint32_t krdma_srq_id(const struct krdma_srq *srq)
{
	(void)srq;
	return 8;
}

const char *krdma_version(void)
{
	return "0.1.0";
}

int krdma_open(struct krdma **session)
{
	(void)session;
	return -ENODEV;
}

int krdma_conn_close(struct krdma_conn *conn)
{
	(void)conn;
	return 0;
}

int krdma_ring_close(struct krdma_ring *ring)
{
	(void)ring;
	return 0;
}
