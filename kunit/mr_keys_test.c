// SPDX-License-Identifier: GPL-2.0
/* MRs that are longer than one fast registration: an rkey for each part, all of them or none. */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "fake_private.h"
#include "objects.h"
#include "stage.h"

/* Pages of a fast registration on the device, and of the MR. */
#define MAX_PAGES	16
#define PAGES		100
#define KEYS		DIV_ROUND_UP(PAGES, MAX_PAGES)
#define SPAN		(MAX_PAGES * PAGE_SIZE)

#define ALL		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE)

/* A connection, memory of its client, and a peer that accesses the memory. */
struct site {
	struct stage *stage;
	struct krdma_device *dev;
	u8 *buffer;
};

static void site_free(void *buffer)
{
	vfree(buffer);
}

static void few_pages(struct fake_device *fake)
{
	fake->attr.max_fast_reg_page_list_len = MAX_PAGES;
}

static struct site *site_new(struct kunit *test)
{
	struct krdma_conn_attr attr = { .recv_depth = 4, .max_recv_sge = 4 };
	struct site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, site);
	site->buffer = vzalloc((PAGES + 1) * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, site->buffer);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, site_free, site->buffer));
	site->stage = stage_new(test, few_pages);
	attr.max_recv_sge = min_t(u32, attr.max_recv_sge, site->stage->fake->attr.max_recv_sge);
	stage_listen(site->stage);
	stage_resolve(site->stage);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(site->stage->client.conn, &attr));
	KUNIT_ASSERT_EQ(test, 0, actor_connect(&site->stage->client, ""));
	stage_take(site->stage);
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&site->stage->server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(site->stage->client.conn, STAGE_LONG_MS));
	site->dev = krdma_conn_device(site->stage->client.conn);
	return site;
}

static struct krdma_mr *site_map(struct site *site, u8 *start, size_t length)
{
	return krdma_mr_register(site->stage->session, site->dev, start, length, ALL);
}

static unsigned int live_mrs(struct site *site)
{
	return atomic_read(&site->stage->fake->live[FAKE_MR]);
}

static bool peer_writes(struct site *site, const struct krdma_mr_rkey_range *key, u64 length,
			u8 byte)
{
	struct ib_qp *qp = actor_qp(&site->stage->client);
	u8 *bytes = kvmalloc(length, GFP_KERNEL);
	bool written;

	if (!bytes)
		return false;
	memset(bytes, byte, length);
	written = fake_qp_remote_write(qp, key->remote_addr, key->rkey, bytes, length) ==
		  IB_WC_SUCCESS;
	kvfree(bytes);
	return written;
}

/* Every part has an rkey, which covers exactly that part; together the parts are the whole MR. */
static void expect_keys(struct kunit *test, struct site *site, struct krdma_mr *mr,
			u8 *start, size_t length, unsigned int count)
{
	struct krdma_mr_info info;
	struct krdma_mr_rkey_range key;
	u32 keys[KEYS + 1];
	u64 offset = 0;
	unsigned int n = 0;

	krdma_mr_query(mr, &info);
	KUNIT_EXPECT_EQ(test, count, info.key_count);
	KUNIT_EXPECT_EQ(test, length, info.length);
	if (count > 1)
		KUNIT_EXPECT_EQ(test, 0, info.rkey);
	while (offset < length) {
		KUNIT_ASSERT_GT(test, count, n);
		KUNIT_ASSERT_EQ(test, 0, krdma_mr_rkey_at(mr, offset, &key));
		KUNIT_EXPECT_EQ(test, info.remote_addr + offset, key.remote_addr);
		KUNIT_ASSERT_GE(test, length - offset, key.length);
		KUNIT_ASSERT_NE(test, 0, key.length);
		for (unsigned int i = 0; i < n; i++)
			KUNIT_EXPECT_NE(test, keys[i], key.rkey);
		keys[n++] = key.rkey;
		KUNIT_EXPECT_TRUE(test, peer_writes(site, &key, key.length, n));
		KUNIT_EXPECT_FALSE(test, peer_writes(site, &key, key.length + 1, 0xee));
		key.remote_addr--;
		KUNIT_EXPECT_FALSE(test, peer_writes(site, &key, 1, 0xee));
		for (u64 i = 0; i < key.length; i++)
			if (start[offset + i] != n) {
				KUNIT_FAIL(test, "key %u: %u at %llu", n, start[offset + i], i);
				break;
			}
		offset += key.length;
	}
	KUNIT_EXPECT_EQ(test, count, n);
	KUNIT_EXPECT_EQ(test, -ERANGE, krdma_mr_rkey_at(mr, length, &key));
	KUNIT_EXPECT_EQ(test, -ERANGE, krdma_mr_rkey_at(mr, U64_MAX, &key));
}

/* Proves: D3 */
static void test_every_part_has_a_key(struct kunit *test)
{
	static const struct {
		unsigned int offset;
		unsigned int length;
		unsigned int keys;
	} cases[] = {
		{ 0, PAGES * PAGE_SIZE, KEYS },
		{ 0, SPAN, 1 },
		{ 0, SPAN + 1, 2 },
		{ 1, SPAN, 2 },
		{ 1, SPAN - 1, 1 },
		{ 99, PAGES * PAGE_SIZE - 99, KEYS },
		{ 4000, 2 * SPAN - 4000, 2 },
		{ 4000, 2 * SPAN - 3999, 3 },
	};
	struct site *site = site_new(test);
	unsigned int before = live_mrs(site);

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		u8 *start = site->buffer + cases[i].offset;
		struct krdma_mr *mr;

		mr = site_map(site, start, cases[i].length);
		KUNIT_ASSERT_EQ_MSG(test, 0, PTR_ERR_OR_ZERO(mr), "case %u", i);
		KUNIT_EXPECT_EQ(test, before + cases[i].keys, live_mrs(site));
		expect_keys(test, site, mr, start, cases[i].length, cases[i].keys);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		KUNIT_EXPECT_EQ(test, before, live_mrs(site));
	}
}

/* Beginning in the middle of a part, and with entries that cross the parts. */
static void test_pages_of_a_list(struct kunit *test)
{
	struct site *site = site_new(test);
	struct krdma_mr *mr;
	struct krdma_mr_rkey_range key;
	struct scatterlist sg[3];
	u8 *memory;

	memory = kunit_kzalloc(test, 64 * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	memory = PTR_ALIGN(memory, PAGE_SIZE);
	sg_init_table(sg, ARRAY_SIZE(sg));
	sg_set_buf(&sg[0], memory + 100, 20 * PAGE_SIZE - 100);
	sg_set_buf(&sg[1], memory + 40 * PAGE_SIZE, 5 * PAGE_SIZE);
	sg_set_buf(&sg[2], memory + 25 * PAGE_SIZE, 10 * PAGE_SIZE);
	mr = krdma_mr_register_sg(site->stage->session, site->dev, sg, 3, ALL);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));

	KUNIT_EXPECT_EQ(test, 0, krdma_mr_rkey_at(mr, 0, &key));
	KUNIT_EXPECT_EQ(test, SPAN - 100, key.length);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_rkey_at(mr, SPAN - 101, &key));
	KUNIT_EXPECT_EQ(test, 1, key.length);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_rkey_at(mr, SPAN - 100, &key));
	KUNIT_EXPECT_EQ(test, SPAN, key.length);
	KUNIT_EXPECT_TRUE(test, peer_writes(site, &key, SPAN, 7));
	KUNIT_EXPECT_EQ(test, 0, memory[16 * PAGE_SIZE - 1]);
	KUNIT_EXPECT_EQ(test, 7, memory[16 * PAGE_SIZE]);
	KUNIT_EXPECT_EQ(test, 7, memory[20 * PAGE_SIZE - 1]);
	KUNIT_EXPECT_EQ(test, 0, memory[20 * PAGE_SIZE]);
	KUNIT_EXPECT_EQ(test, 7, memory[40 * PAGE_SIZE]);
	KUNIT_EXPECT_EQ(test, 7, memory[45 * PAGE_SIZE - 1]);
	KUNIT_EXPECT_EQ(test, 7, memory[25 * PAGE_SIZE]);
	KUNIT_EXPECT_EQ(test, 7, memory[32 * PAGE_SIZE - 1]);
	KUNIT_EXPECT_EQ(test, 0, memory[32 * PAGE_SIZE]);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	/* Memory with gaps inside a page gets no rkey, also where two parts meet. */
	sg_set_buf(&sg[0], memory, 16 * PAGE_SIZE);
	sg_set_buf(&sg[1], memory + 40 * PAGE_SIZE + 8, 5 * PAGE_SIZE - 8);
	mr = krdma_mr_register_sg(site->stage->session, site->dev, sg, 3, ALL);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(mr));
}

/* A part that one rkey covers can have a memory descriptor, and nothing larger. */
static void test_descriptors_of_parts(struct kunit *test)
{
	struct site *site = site_new(test);
	u8 descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_mr_info told;
	struct krdma_mr *mr;
	struct krdma_mr_rkey_range key;

	mr = site_map(site, site->buffer, PAGES * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_rkey_at(mr, SPAN + 10, &key));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_describe(mr, SPAN + 10, SPAN - 10, descriptor));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_desc_read(descriptor, sizeof(descriptor), &told));
	KUNIT_EXPECT_EQ(test, key.remote_addr, told.remote_addr);
	KUNIT_EXPECT_EQ(test, key.rkey, told.rkey);
	KUNIT_EXPECT_EQ(test, SPAN - 10, told.length);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE,
			krdma_mr_describe(mr, SPAN + 10, SPAN - 9, descriptor));
	KUNIT_EXPECT_EQ(test, -ERANGE,
			krdma_mr_describe(mr, 0, PAGES * PAGE_SIZE + 1, descriptor));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	mr = krdma_mr_register(site->stage->session, site->dev, site->buffer, SPAN + 1,
			       KRDMA_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	KUNIT_EXPECT_EQ(test, -EACCES, krdma_mr_rkey_at(mr, 0, &key));
	krdma_mr_query(mr, &told);
	KUNIT_EXPECT_EQ(test, 0, told.key_count);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/*
 * On iWARP, local memory is accessible only by the keys of its MR.  A work request across two keys
 * needs an SGE for each; a read has only one SGE there, and a receive of some devices, too.
 */
static void test_operations_across_keys(struct kunit *test)
{
	struct fake_message message = { .length = 3 * PAGE_SIZE };
	struct site *site = site_new(test);
	struct krdma_mr *mr;
	struct krdma_recv_wr recv_wr = { .sge_count = 1 };
	struct krdma_sge sge;
	u8 *bytes;

	bytes = kunit_kzalloc(test, message.length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	memset(bytes, 0x11, message.length);
	message.data = bytes;
	mr = site_map(site, site->buffer, PAGES * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));

	sge = (struct krdma_sge) {
		.mr = mr,
		.addr = (uintptr_t)site->buffer + SPAN - PAGE_SIZE,
		.length = message.length,
	};
	recv_wr.sges = &sge;
	if (site->stage->fake->attr.max_recv_sge < 2) {
		KUNIT_EXPECT_EQ(test, -EMSGSIZE,
				krdma_conn_post_recv(site->stage->client.conn, &recv_wr, 1));
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		return;
	}
	KUNIT_ASSERT_EQ(test, 1, krdma_conn_post_recv(site->stage->client.conn, &recv_wr, 1));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
			fake_qp_receive(actor_qp(&site->stage->client), &message));
	KUNIT_EXPECT_TRUE(test, actor_completes(&site->stage->client, 1));
	KUNIT_EXPECT_EQ(test, 0, site->stage->client.flushed);
	KUNIT_EXPECT_MEMEQ(test, bytes, site->buffer + SPAN - PAGE_SIZE, message.length);
	krdma_conn_close(site->stage->client.conn);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* Whatever the device refuses, at whichever part: nothing is left, and the next MR is complete. */
static void test_all_keys_or_none(struct kunit *test)
{
	static const struct {
		enum fake_verb verb;
		int error;
	} cases[] = {
		{ FAKE_ALLOC_MR, -ENOMEM }, { FAKE_MAP_MR_SG, -ENOMEM },
	};
	struct site *site = site_new(test);
	unsigned int before = live_mrs(site);
	struct krdma_mr *mr;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		for (unsigned int nth = 1; nth <= KEYS; nth++) {
			fake_device_fail(site->stage->fake, cases[i].verb, nth, cases[i].error);
			mr = site_map(site, site->buffer, PAGES * PAGE_SIZE);
			KUNIT_EXPECT_EQ(test, cases[i].error, PTR_ERR_OR_ZERO(mr));
			KUNIT_EXPECT_EQ(test, before, live_mrs(site));
		}
	}
	mr = site_map(site, site->buffer, PAGES * PAGE_SIZE);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	expect_keys(test, site, mr, site->buffer, PAGES * PAGE_SIZE, KEYS);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* A drop ends every rkey soon, while a work request keeps the memory. */
static void test_drop_ends_all_keys(struct kunit *test)
{
	struct site *site = site_new(test);
	unsigned int before = live_mrs(site);
	struct krdma_recv_wr recv_wr = { .sge_count = 1 };
	unsigned long end = jiffies + STAGE_LONG;
	struct krdma_mr *mr;
	struct krdma_sge sge;

	mr = krdma_mr_register(site->stage->session, site->dev, site->buffer,
			       PAGES * PAGE_SIZE,
			       KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	KUNIT_EXPECT_EQ(test, before + KEYS, live_mrs(site));
	sge = (struct krdma_sge) {
		.mr = mr, .addr = (uintptr_t)site->buffer, .length = 10,
	};
	recv_wr.sges = &sge;
	KUNIT_EXPECT_EQ(test, 1, krdma_conn_post_recv(site->stage->client.conn, &recv_wr, 1));
	krdma_mr_drop(mr);
	while (live_mrs(site) != before && time_before(jiffies, end))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ(test, before, live_mrs(site));
}

/* No address given to a peer is 0, which the peer may take for none. */
static void test_no_address_is_none(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	struct scatterlist sg;
	u8 *memory;

	memory = kunit_kzalloc(test, 2 * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	memory = PTR_ALIGN(memory, PAGE_SIZE);
	sg_init_one(&sg, memory, PAGE_SIZE);
	stage_listen(stage);
	stage_resolve(stage);
	mr = krdma_mr_register_sg(stage->session, krdma_conn_device(stage->client.conn), &sg, 1,
				  ALL);
	KUNIT_ASSERT_EQ(test, 0, PTR_ERR_OR_ZERO(mr));
	krdma_mr_query(mr, &info);
	KUNIT_EXPECT_NE(test, 0, info.remote_addr);
	KUNIT_EXPECT_EQ(test, 0, info.addr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

static struct kunit_case region_keys_cases[] = {
	KUNIT_CASE(test_every_part_has_a_key),
	KUNIT_CASE(test_pages_of_a_list),
	KUNIT_CASE(test_descriptors_of_parts),
	KUNIT_CASE(test_operations_across_keys),
	KUNIT_CASE(test_all_keys_or_none),
	KUNIT_CASE(test_drop_ends_all_keys),
	KUNIT_CASE(test_no_address_is_none),
	{}
};

/* All of them register memory. */
static int region_keys_init(struct kunit *test)
{
	test_needs_fast_reg(test);
	return test_objects_init(test);
}

static struct kunit_suite region_keys_suite = {
	.name = "krdma_mr_keys",
	.init = region_keys_init,
	.test_cases = region_keys_cases,
};

kunit_test_suite(region_keys_suite);
