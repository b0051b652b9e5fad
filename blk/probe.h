/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_PROBE_H
#define _KRDMA_BLK_PROBE_H

#include <linux/types.h>

#include "address.h"

struct krdma_blk_device;
struct krdma_conn;

/**
 * struct krdma_blk_probe_state - probe of an address
 * @conn: the connection request; NULL: there is none yet; an error: there will be none
 * @at: time in jiffies when the request ends without an answer, or when it begins
 * @failures: how often the address has failed
 */
struct krdma_blk_probe_state {
	struct krdma_conn *conn;
	unsigned long at;
	unsigned int failures;
};

/**
 * struct krdma_blk_probes - probes of the addresses of a device
 * @of: one for each address
 * @count: number of @of
 * @until: time in jiffies after which no address that has failed is probed again
 * @left_at: time in jiffies when krdma_blk_probe() last returned
 * @error: why an address has failed, or does not answer
 * @ahead: only the first address has been probed, and has not failed
 * @tried: an address has answered, and could not be used
 */
struct krdma_blk_probes {
	struct krdma_blk_probe_state of[KRDMA_BLK_ADDRESSES];
	unsigned int count;
	unsigned long until;
	unsigned long left_at;
	int error;
	bool ahead;
	bool tried;
};

/* Probing the server's addresses */
void krdma_blk_probe_init(struct krdma_blk_device *device);
void krdma_blk_probe_wake(struct krdma_blk_device *device);
unsigned int krdma_blk_probe_pause(unsigned int failures);
void krdma_blk_probes_begin(const struct krdma_blk_device *device, struct krdma_blk_probes *probes,
			    unsigned int count);
int krdma_blk_probe(struct krdma_blk_device *device, struct krdma_blk_probes *probes);
void krdma_blk_probe_again(struct krdma_blk_device *device, struct krdma_blk_probes *probes,
			   unsigned int tried);
void krdma_blk_probes_end(struct krdma_blk_probes *probes);
void krdma_blk_failback_start(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_PROBE_H */
