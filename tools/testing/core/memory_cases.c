// SPDX-License-Identifier: GPL-2.0
/* Memory: MRs, memory descriptors, and rkeys that a peer invalidates. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>

#include "transfer.h"

/*
 * MRs
 */

static void region_refused(struct core_test *test)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	struct core_buffer buffer = {};
	u8 *data = kzalloc(8192, GFP_KERNEL);

	if (!CORE_TRUE(test, data) || !CORE_OK_PTR(test, session))
		goto out;
	CORE_ERR_PTR(test, -EINVAL, krdma_mr_register(session, test->dev, data, 0, 0));
	CORE_ERR_PTR(test, -EINVAL, krdma_mr_register(session, test->dev, data, 10, 1 << 20));
	CORE_ERR_PTR(test, -EINVAL, krdma_mr_register(session, test->dev, data, 10,
						      KRDMA_ACCESS_REMOTE_WRITE));
	CORE_ERR_PTR(test, -EINVAL, krdma_mr_register(session, test->dev, NULL, 10, 0));
	/* mlx5 executes those of peers only. */
	if (test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC || core_driver_is(test, RDMA_DRIVER_MLX5)) {
		core_buffer_make(test, &buffer, session, 8192,
				 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC);
		core_buffer_free(test, &buffer);
	} else {
		CORE_ERR_PTR(test, -EOPNOTSUPP,
			     krdma_mr_register(session, test->dev, data, 10,
					       KRDMA_ACCESS_LOCAL_WRITE |
					       KRDMA_ACCESS_REMOTE_ATOMIC));
	}
	if (core_buffer_make(test, &buffer, session, 8192, KRDMA_ACCESS_LOCAL_WRITE)) {
		CORE_EQ(test, 8192, buffer.info.length);
		CORE_EQ(test, 0, buffer.info.rkey);
		CORE_EQ(test, KRDMA_ACCESS_LOCAL_WRITE, buffer.info.access);
		CORE_EQ(test, -EACCES, krdma_mr_describe(buffer.mr, 0, 10, data));
	}
	core_buffer_free(test, &buffer);
	krdma_session_put(session);
out:
	kfree(data);
}

/* The peer reads and writes every kind of kernel memory, at odd offsets. */
/* Proves: D3, E9 (core-debug siw) */
static void region_kinds(struct core_test *test)
{
	static const struct { bool vmalloc; u32 offset; u32 length; } kinds[] = {
		{ false, 0, 4096 }, { false, 1, 8190 }, { false, 4095, 2 },
		{ true, 0, SZ_64K }, { true, 123, SZ_128K + 7 }, { true, 4000, 5000 },
	};
	struct transfer transfer;
	struct core_buffer memory;
	void *data;

	if (!transfer_begin(&transfer, test, NULL, SZ_256K))
		return;
	for (int i = 0; i < ARRAY_SIZE(kinds) && !test->failures; i++) {
		u32 length = min(kinds[i].length, core_rkey_room(test));
		size_t size = kinds[i].offset + length + 4096;

		data = kinds[i].vmalloc ? vzalloc(size) : kzalloc(size, GFP_KERNEL);
		if (!CORE_TRUE(test, data))
			break;
		memory = (struct core_buffer) { .data = data + kinds[i].offset, .size = length };
		memory.mr = krdma_mr_register(transfer.pair->server_session, test->dev,
					      memory.data, length, CORE_ACCESS_ALL(test));
		if (CORE_OK_PTR(test, memory.mr)) {
			krdma_mr_query(memory.mr, &memory.info);
			core_buffer_first_rkey(&memory);
			core_fill(transfer.from.data, length, i);
			CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 1, KRDMA_OP_WRITE,
						   &transfer.from, 0, length, &memory, 0, 0));
			core_expect_send(&transfer.pair->client, 1, KRDMA_WC_SUCCESS);
			memset(transfer.from.data, 0, length);
			CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 2, KRDMA_OP_READ,
						   &transfer.from, 0, length, &memory, 0, 0));
			core_expect_send(&transfer.pair->client, 2, KRDMA_WC_SUCCESS);
			CORE_TRUE(test, core_filled(transfer.from.data, length, i));
			CORE_TRUE(test, core_filled(memory.data, length, i));
			CORE_TRUE(test, !memchr_inv(data, 0, kinds[i].offset));
			CORE_TRUE(test, !memchr_inv(memory.data + length, 0, 4096));
			CORE_EQ(test, 0, krdma_mr_deregister(memory.mr));
		}
		kvfree(data);
	}
	transfer_end(&transfer);
}

#define PAGES	5

/* Pages that are not contiguous, beginning in the middle of the first one. */
static void region_pages(struct core_test *test)
{
	struct core_buffer memory = { .size = PAGES * PAGE_SIZE - 300 };
	struct scatterlist sg[PAGES];
	struct page *pages[PAGES] = {};
	struct transfer transfer;
	u8 *data;

	if (!transfer_begin(&transfer, test, NULL, SZ_64K))
		return;
	sg_init_table(sg, PAGES);
	for (int i = 0; i < PAGES; i++) {
		pages[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!CORE_TRUE(test, pages[i]))
			goto out;
		sg_set_page(&sg[i], pages[i], i ? PAGE_SIZE : PAGE_SIZE - 300, i ? 0 : 300);
	}
	memory.mr = krdma_mr_register_sg(transfer.pair->server_session, test->dev, sg, PAGES,
					 CORE_ACCESS_ALL(test));
	if (!CORE_OK_PTR(test, memory.mr))
		goto out;
	krdma_mr_query(memory.mr, &memory.info);
	CORE_EQ(test, memory.size, memory.info.length);
	core_fill(transfer.from.data, memory.size, 5);
	CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 1, KRDMA_OP_WRITE, &transfer.from, 0,
				   memory.size, &memory, 0, 0));
	core_expect_send(&transfer.pair->client, 1, KRDMA_WC_SUCCESS);
	CORE_EQ(test, 1, core_rdma(&transfer.pair->client, 2, KRDMA_OP_READ, &transfer.from, 0,
				   memory.size, &memory, 0, 0));
	core_expect_send(&transfer.pair->client, 2, KRDMA_WC_SUCCESS);
	data = page_address(pages[0]);
	CORE_TRUE(test, !memchr_inv(data, 0, 300));
	CORE_TRUE(test, !memcmp(data + 300, transfer.from.data, PAGE_SIZE - 300));
	for (int i = 1; i < PAGES; i++)
		CORE_TRUE(test, !memcmp(page_address(pages[i]),
					transfer.from.data + i * PAGE_SIZE - 300, PAGE_SIZE));
	CORE_TRUE(test, core_filled(transfer.from.data, memory.size, 5));
	CORE_EQ(test, 0, krdma_mr_deregister(memory.mr));

	/* Entries with a gap between them. */
	sg[1].length -= 8;
	CORE_ERR_PTR(test, -EINVAL,
		     krdma_mr_register_sg(transfer.pair->server_session, test->dev, sg, PAGES,
					  CORE_ACCESS_ALL(test)));
out:
	for (int i = 0; i < PAGES; i++)
		if (pages[i])
			__free_page(pages[i]);
	transfer_end(&transfer);
}

/* A receive uses the MR: release fails, drop waits for it. */
static void region_in_use(struct core_test *test)
{
	struct transfer transfer;
	struct core_buffer memory;
	struct core_end *server;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	server = &transfer.pair->server;
	if (!core_buffer_make(test, &memory, transfer.pair->server_session, 4096,
			      KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	for (u64 i = 0; i < 2; i++)
		CORE_EQ(test, 1, core_receive(server, i, &memory, i * 1024, 1024));
	CORE_EQ(test, -EBUSY, krdma_mr_deregister(memory.mr));
	core_fill(transfer.from.data, 1000, 4);
	CORE_EQ(test, 1, core_send(&transfer.pair->client, 1, &transfer.from, 0, 1000, 0));
	core_expect_receive(server, 0, KRDMA_WC_SUCCESS, 1000, NULL);
	core_expect_send(&transfer.pair->client, 1, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(memory.data, 1000, 4));
	CORE_EQ(test, -EBUSY, krdma_mr_deregister(memory.mr));

	krdma_mr_drop(memory.mr);
	/* The posted receive still works; after that, nothing accesses the memory. */
	CORE_EQ(test, 1, core_send(&transfer.pair->client, 2, &transfer.from, 0, 1000, 0));
	core_expect_receive(server, 1, KRDMA_WC_SUCCESS, 1000, NULL);
	core_expect_send(&transfer.pair->client, 2, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(memory.data + 1024, 1000, 4));
	krdma_conn_close(server->conn);
	kvfree(memory.data);
out:
	transfer_end(&transfer);
}

/* Proves: D3 */
static void descriptors(struct core_test *test)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	u8 descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_mr_info info;
	struct core_buffer buffer;

	if (!CORE_OK_PTR(test, session))
		return;
	if (core_buffer_make(test, &buffer, session, 8192,
			     KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ)) {
		CORE_EQ(test, 0, krdma_mr_describe(buffer.mr, 100, 8092, descriptor));
		CORE_EQ(test, 0, krdma_mr_desc_read(descriptor, sizeof(descriptor), &info));
		CORE_EQ(test, buffer.info.remote_addr + 100, info.remote_addr);
		CORE_EQ(test, 8092, info.length);
		CORE_EQ(test, buffer.info.rkey, info.rkey);
		CORE_TRUE(test, info.access & KRDMA_ACCESS_REMOTE_READ);
		CORE_TRUE(test, !(info.access & KRDMA_ACCESS_REMOTE_WRITE));
		CORE_EQ(test, -EINVAL, krdma_mr_desc_read(descriptor, 31, &info));
		CORE_EQ(test, -ERANGE, krdma_mr_describe(buffer.mr, 100, 8093, descriptor));
		CORE_EQ(test, -ERANGE,
			krdma_mr_describe(buffer.mr, U64_MAX, 2, descriptor));
		CORE_EQ(test, -EINVAL, krdma_mr_describe(buffer.mr, 0, 0, descriptor));
	}
	core_buffer_free(test, &buffer);
	krdma_session_put(session);
}

/* The peer's message invalidates the rkey: it tells so, and the peer cannot use the rkey again. */
/* Proves: B2 (core-debug) */
static void invalidated(struct core_test *test)
{
	struct krdma_send_wr wr = { .wr_id = 2, .opcode = KRDMA_OP_SEND_INVALIDATE };
	struct transfer transfer;
	struct core_end *client, *server;
	struct krdma_wc got;

	if (!transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	core_fill(transfer.from.data, 8192, 1);
	CORE_EQ(test, 1, core_rdma(client, 1, KRDMA_OP_WRITE, &transfer.from, 0, 8192,
				   &transfer.to, 0, 0));
	core_expect_send(client, 1, KRDMA_WC_SUCCESS);

	wr.key = transfer.to.info.rkey;
	CORE_EQ(test, 1, core_receive_empty(server, 1));
	CORE_EQ(test, 1, transfer_post(&transfer, &wr));
	core_expect_send(client, 2, KRDMA_WC_SUCCESS);
	if (core_expect_receive(server, 1, KRDMA_WC_SUCCESS, 0, &got)) {
		CORE_EQ(test, KRDMA_WC_WITH_INVALIDATE, got.flags);
		CORE_EQ(test, transfer.to.info.rkey, got.key);
	}
	CORE_TRUE(test, core_filled(transfer.to.data, 8192, 1));

	CORE_EQ(test, 1, core_rdma(client, 3, KRDMA_OP_READ, &transfer.from, 0, 8, &transfer.to,
				   0, 0));
	CORE_TRUE(test, core_await_send(client, &got, CORE_TIMEOUT_MS));
	CORE_TRUE(test, got.status);
	CORE_TRUE(test, core_await_event(server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	transfer_end(&transfer);
}

const struct core_case core_memory_cases[] = {
	CORE_CASE(region_refused),
	CORE_CASE(region_kinds),
	CORE_CASE(region_pages),
	CORE_CASE_CONTEXTS(region_in_use),
	CORE_CASE(descriptors),
	CORE_CASE_CONTEXTS(invalidated),
	{},
};
