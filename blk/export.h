/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Exports: memory of this host that others use as a block device.
 */
#ifndef _KRDMA_BLK_EXPORT_H
#define _KRDMA_BLK_EXPORT_H

#include <linux/atomic.h>
#include <linux/configfs.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "address.h"
#include "memory.h"
#include "wire.h"

/**
 * struct krdma_blk_export - an export
 * @item: in configfs; counts who has it
 * @lock: protects the settings, and lets one enable or disable it at a time.  A mutex,
 *	outside all others here.
 * @size: in bytes
 * @block_size: in bytes
 * @read_only: clients only read
 * @exclusive: one client at a time
 * @secret: what a client must know; all zero: nothing
 * @allow: where clients may be
 * @enabled: it is to be had; with it, the settings do not change
 * @name: padded with zeroes; set once
 * @generation: a random number for this time of being enabled
 * @session: whose peers reach the memory
 * @memory: the memory
 * @node: in the list of those that are enabled; this and what follows belongs to
 *	serve.c, and is protected by its lock
 * @clients: &struct krdma_blk_client
 * @client_count: how many
 * @windows: &struct krdma_blk_window
 * @idle: woken when a client has gone
 * @accepted: connections so far
 * @refused_address: connections that were refused, because of their address
 * @refused_secret: because of their secret
 * @refused_busy: because another client has it
 * @refused_other: for other reasons
 */
struct krdma_blk_export {
	struct config_item item;
	struct mutex lock;		/* see above */
	u64 size;
	u32 block_size;
	bool read_only;
	bool exclusive;
	u8 secret[KRDMA_BLK_SECRET_MAX];
	struct krdma_blk_nets allow;
	bool enabled;

	char name[KRDMA_BLK_NAME_MAX];
	u64 generation;
	struct krdma_session *session;
	struct krdma_blk_memory memory;

	struct list_head node;
	struct list_head clients;
	unsigned int client_count;
	struct list_head windows;
	wait_queue_head_t idle;
	atomic64_t accepted;
	atomic64_t refused_address;
	atomic64_t refused_secret;
	atomic64_t refused_busy;
	atomic64_t refused_other;
};

void krdma_blk_serve_init(struct krdma_blk_export *export);
int krdma_blk_serve_begin(struct krdma_blk_export *export);
void krdma_blk_serve_end(struct krdma_blk_export *export);
unsigned int krdma_blk_serve_count(struct krdma_blk_export *export);

#endif /* _KRDMA_BLK_EXPORT_H */
