/* SPDX-License-Identifier: GPL-2.0 */
/* Two connected ends, each with memory that the other may access. */
#ifndef _KRDMA_CORE_TRANSFER_H
#define _KRDMA_CORE_TRANSFER_H

#include <linux/sizes.h>

#include "fixture.h"

#define TRANSFER_SIZE	SZ_64K

/**
 * struct transfer - two connected ends, each with memory that the other may use
 * @test: the case
 * @pair: the ends
 * @from: memory of the client, which posts the work requests
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

/* Posts as the client. */
int transfer_post(struct transfer *transfer, const struct krdma_send_wr *wr);

#endif /* _KRDMA_CORE_TRANSFER_H */
