/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Connections without descriptors: the requests for many of them.
 */
#ifndef KRDMA_E2E_CONNS_H
#define KRDMA_E2E_CONNS_H

#include <stdint.h>

#include <linux/krdma_conn.h>
#include <linux/krdma_ring.h>

/* Entries of the queues of a connection that conns_request() opens or accepts. */
#define CONNS_DEPTH	2

/*
 * KRDMA_CONNS_OPEN, _TAKE, _ACCEPT or _CLOSE: 0 or -errno of the call.  *@done and *@error, which
 * may be NULL, are what it has said, or UINT32_MAX and its error.
 */
int conns_request(int session, unsigned long number, uint32_t flags, int fd,
		  struct krdma_conns_entry *entries, uint32_t count, uint64_t deadline_ns,
		  uint32_t *done, int *error);
int conns_close(int session, struct krdma_conns_entry *entries, uint32_t count, uint32_t *done,
		int *error);

/* KRDMA_CONNS_FD. */
int conns_fd(int session, uint32_t id, int *fd);

/* A send of 8 bytes at @data. */
struct krdma_sqe inline_send(uint32_t dest, uint64_t wr_id, const void *data);

#endif
