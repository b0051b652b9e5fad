// SPDX-License-Identifier: GPL-2.0
/*
 * The file with which a program lends its own memory to a connection: lines that
 * are written to it.
 *
 *	open ADDRESS			two connected ends on the device there
 *	map START LENGTH ACCESS		a region of the caller's memory
 *	release | drop			the region goes
 *	receive				a receive into the region, at its beginning
 *	send				a message from the peer: 8 bytes of its memory
 *	write OFFSET LENGTH SEED	the peer writes a pattern to the region
 *	read OFFSET LENGTH SEED		the peer reads the region: is it the pattern?
 *	bulk COUNT SEED			the peer writes a pattern of 1 MiB, COUNT times
 *					behind each other, in one operation
 *
 * The answer is that of write(): an errno of the core's, or EREMOTEIO if the peer's
 * operation failed, or EBADMSG if what was read is not the pattern.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/inet.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "fixture.h"
#include "user_memory.h"

/* The most that the peer reads or writes at a time. */
#define PEER_SIZE	SZ_1M
/* Longer than rxe's longest message, which is 8 MiB. */
#define BULK_MAX	12
#define BULK_TIMEOUT_MS	(5 * CORE_TIMEOUT_MS)
/* The number of rkeys that BULK_MAX needs on cxgb4, which has 32 pages for each. */
#define LENDER_KEYS	(BULK_MAX * 8 + 1)

/**
 * struct lender - an open file
 * @lock: one line at a time
 * @test: needed by the fixture; failed checks are in the return values
 * @pair: the connection; the client's session is that of @mr
 * @mr: MR of the program's memory
 * @info: information about @mr
 * @keys: its rkeys
 * @key_count: number of @keys
 * @peer: memory of the peer
 */
struct lender {
	struct mutex lock;		/* see above */
	struct core_test test;
	struct core_pair *pair;
	struct krdma_mr *mr;
	struct krdma_mr_info info;
	struct krdma_mr_rkey_range keys[LENDER_KEYS];
	unsigned int key_count;
	struct core_buffer peer;
};

static int lender_connect(struct lender *lender, const char *address)
{
	struct core_test *test = &lender->test;
	int ret;

	if (lender->pair)
		return -EALREADY;
	ret = inet_pton_with_scope(&init_net, AF_UNSPEC, address, NULL, &test->address);
	if (ret)
		return ret;
	test->name = "user_memory";
	test->net = &init_net;
	test->dev = krdma_device_at(&init_net, (struct sockaddr *)&test->address);
	if (IS_ERR(test->dev)) {
		ret = PTR_ERR(test->dev);
		test->dev = NULL;
		return ret;
	}
	ret = krdma_device_query_attr(test->dev, &test->attr);
	if (ret)
		return ret;
	lender->pair = core_pair_open(test);
	if (!lender->pair)
		return -ENOTCONN;
	if (core_buffer_make(test, &lender->peer, lender->pair->server_session, PEER_SIZE,
			     CORE_ACCESS_ALL(test)))
		return 0;
	return IS_ERR(lender->peer.mr) ? PTR_ERR(lender->peer.mr) : -ENOMEM;
}

static void lender_note_keys(struct lender *lender)
{
	struct krdma_mr_rkey_range key = {};
	u64 offset;

	lender->key_count = 0;
	for (offset = 0; lender->key_count < LENDER_KEYS; offset += key.length) {
		if (krdma_mr_rkey_at(lender->mr, offset, &key))
			break;
		lender->keys[lender->key_count++] = key;
	}
}

static int lender_map(struct lender *lender, const char *words)
{
	unsigned long start;
	size_t length;
	u32 access;

	if (sscanf(words, "%lu %zu %u", &start, &length, &access) != 3 || !lender->pair)
		return -EBADRQC;
	if (lender->mr)
		return -EALREADY;
	lender->mr = krdma_mr_register_user(lender->pair->client_session, lender->test.dev,
					    start, length, access);
	if (IS_ERR(lender->mr)) {
		int ret = PTR_ERR(lender->mr);

		lender->mr = NULL;
		return ret;
	}
	krdma_mr_query(lender->mr, &lender->info);
	lender_note_keys(lender);
	return lender->info.addr == start && lender->info.length == length ? 0 : -EBADMSG;
}

static int lender_release(struct lender *lender)
{
	int ret;

	if (!lender->mr)
		return -EBADRQC;
	ret = krdma_mr_deregister(lender->mr);
	if (!ret)
		lender->mr = NULL;
	return ret;
}

static int lender_receive(struct lender *lender)
{
	struct core_buffer memory = { .mr = lender->mr, .info = lender->info };
	int ret;

	if (!lender->mr)
		return -EBADRQC;
	ret = core_receive(&lender->pair->client, 1, &memory, 0,
			   min_t(u64, 64, lender->info.length));
	return ret == 1 ? 0 : ret;
}

/* Waits until the peer's work request completes; returns its result. */
static int lender_peer_done_in(struct lender *lender, int ret, unsigned int timeout_ms)
{
	struct krdma_wc wc;

	if (ret != 1)
		return ret;
	if (!core_await_send(&lender->pair->server, &wc, timeout_ms))
		return -ETIMEDOUT;
	return wc.status ? -EREMOTEIO : 0;
}

static int lender_peer_done(struct lender *lender, int ret)
{
	return lender_peer_done_in(lender, ret, CORE_TIMEOUT_MS);
}

static int lender_send(struct lender *lender)
{
	struct krdma_wc wc;
	int ret;

	core_fill(lender->peer.data, 8, 99);
	ret = core_send(&lender->pair->server, 1, &lender->peer, 0, 8, 0);
	ret = lender_peer_done(lender, ret);
	if (ret)
		return ret;
	if (!core_await_receive(&lender->pair->client, &wc, CORE_TIMEOUT_MS))
		return -ETIMEDOUT;
	return wc.status ? -EIO : 0;
}

/* Transfers as much as one rkey covers; returns the number of bytes, or an error. */
static int lender_transfer_part(struct lender *lender, u8 opcode, size_t offset, u32 at,
				u32 length)
{
	/* The rkeys are those of the last MR, also when that is gone. */
	struct core_buffer memory = { .info = lender->info };
	int ret;

	for (unsigned int i = 0; i < lender->key_count; i++) {
		const struct krdma_mr_rkey_range *key = &lender->keys[i];
		u64 place = lender->info.remote_addr + offset + at;

		if (place - key->remote_addr >= key->length)
			continue;
		memory.info.rkey = key->rkey;
		length = min_t(u64, length, key->length - (place - key->remote_addr));
	}
	ret = core_rdma(&lender->pair->server, 1, opcode, &lender->peer, at, length, &memory,
			offset + at, 0);
	ret = lender_peer_done(lender, ret);
	/* When a later read completes, the write has arrived. */
	if (!ret && opcode == KRDMA_OP_WRITE)
		ret = lender_peer_done(lender,
				       core_rdma(&lender->pair->server, 1, KRDMA_OP_READ,
						 &lender->peer, at, min(length, 1U), &memory,
						 offset + at, 0));
	return ret ? ret : length;
}

static int lender_transfer(struct lender *lender, u8 opcode, const char *words)
{
	u32 length, seed, at = 0;
	size_t offset;
	int ret;

	if (sscanf(words, "%zu %u %u", &offset, &length, &seed) != 3 || length > PEER_SIZE)
		return -EBADRQC;
	if (opcode == KRDMA_OP_WRITE)
		core_fill(lender->peer.data, length, seed);
	else
		memset(lender->peer.data, 0, length);
	do {
		ret = lender_transfer_part(lender, opcode, offset, at, length - at);
		if (ret < 0)
			return ret;
		at += ret;
	} while (at < length);
	if (opcode == KRDMA_OP_WRITE)
		return 0;
	return core_filled(lender->peer.data, length, seed) ? 0 : -EBADMSG;
}

static int lender_bulk(struct lender *lender, const char *words)
{
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_WRITE,
		.remote_addr = lender->info.remote_addr,
		.rkey = lender->info.rkey,
	};
	struct krdma_sge sges[BULK_MAX];
	u32 count, seed;

	if (sscanf(words, "%u %u", &count, &seed) != 2 || count > BULK_MAX)
		return -EBADRQC;
	if (lender->key_count > 1)
		return -EMSGSIZE;
	core_fill(lender->peer.data, PEER_SIZE, seed);
	for (u32 i = 0; i < count; i++)
		sges[i] = core_sge(&lender->peer, 0, PEER_SIZE);
	wr.sges = sges;
	wr.sge_count = count;
	/*
	 * 10,000 packets: 8 seconds in a kernel with all debug checks, on an otherwise idle
	 * machine.
	 */
	return lender_peer_done_in(lender, krdma_conn_post_send(lender->pair->server.conn, &wr, 1),
				   BULK_TIMEOUT_MS);
}

static int lender_do(struct lender *lender, char *line)
{
	const char *verb = strsep(&line, " ");

	if (!strcmp(verb, "open") && line)
		return lender_connect(lender, line);
	if (!lender->pair)
		return -EBADRQC;
	if (!strcmp(verb, "map") && line)
		return lender_map(lender, line);
	if (!strcmp(verb, "release"))
		return lender_release(lender);
	if (!strcmp(verb, "receive"))
		return lender_receive(lender);
	if (!strcmp(verb, "send"))
		return lender_send(lender);
	if (!strcmp(verb, "write") && line)
		return lender_transfer(lender, KRDMA_OP_WRITE, line);
	if (!strcmp(verb, "read") && line)
		return lender_transfer(lender, KRDMA_OP_READ, line);
	if (!strcmp(verb, "bulk") && line)
		return lender_bulk(lender, line);
	if (strcmp(verb, "drop") || !lender->mr)
		return -EBADRQC;
	krdma_mr_drop(lender->mr);
	lender->mr = NULL;
	return 0;
}

static int lender_open(struct inode *inode, struct file *file)
{
	struct lender *lender = kzalloc_obj(*lender, GFP_KERNEL);

	if (!lender)
		return -ENOMEM;
	mutex_init(&lender->lock);
	file->private_data = lender;
	return 0;
}

static ssize_t lender_write(struct file *file, const char __user *from, size_t length,
			    loff_t *offset)
{
	struct lender *lender = file->private_data;
	char *line;
	int ret;

	if (length > 128)
		return -EINVAL;
	line = memdup_user_nul(from, length);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&lender->lock);
	ret = lender_do(lender, strim(line));
	mutex_unlock(&lender->lock);
	kfree(line);
	return ret ?: length;
}

/* Also called when the program dies: then the memory is no longer that of the caller. */
static int lender_close(struct inode *inode, struct file *file)
{
	struct lender *lender = file->private_data;

	core_pair_close(lender->pair);
	if (lender->mr)
		krdma_mr_drop(lender->mr);
	core_buffer_free(&lender->test, &lender->peer);
	if (lender->test.dev)
		krdma_device_put(lender->test.dev);
	mutex_destroy(&lender->lock);
	kfree(lender);
	return 0;
}

const struct file_operations core_user_memory_fops = {
	.owner = THIS_MODULE,
	.open = lender_open,
	.write = lender_write,
	.release = lender_close,
};
