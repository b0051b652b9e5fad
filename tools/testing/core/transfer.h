/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connected ends with memory that each may use of the other's.
 */
#ifndef _KRDMA_CORE_TRANSFER_H
#define _KRDMA_CORE_TRANSFER_H

#include <linux/sizes.h>

#include "fixture.h"

#define TRANSFER_SIZE	SZ_64K

/**
 * struct transfer - two connected ends, each with memory that the other may use
 * @test: the case
 * @pair: the ends
 * @from: memory of the client, who asks for the operations
 * @to: memory of the server
 */
struct transfer {
	struct core_test *test;
	struct core_pair *pair;
	struct core_buffer from;
	struct core_buffer to;
};

bool transfer_begin(struct transfer *transfer, struct core_test *test,
		    const struct krdma_conn_attr *attr, size_t size);
void transfer_end(struct transfer *transfer);

/* As the client. */
int transfer_post(struct transfer *transfer, const struct krdma_send_wr *wr);

#endif /* _KRDMA_CORE_TRANSFER_H */
