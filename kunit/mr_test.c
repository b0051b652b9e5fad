// SPDX-License-Identifier: GPL-2.0
/*
 * Memory regions over a fake device: what a peer may access, and until when.
 */
#include <linux/delay.h>
#include <linux/mman.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "cm/conn.h"
#include "core/session.h"
#include "objects.h"
#include "stage.h"

#define LENGTH		1000
#define PAGES		64		/* Pages of an MR on the fake device. */

#define LOCAL		KRDMA_ACCESS_LOCAL_WRITE
#define REMOTE_READ	KRDMA_ACCESS_REMOTE_READ
#define REMOTE_WRITE	KRDMA_ACCESS_REMOTE_WRITE
#define REMOTE_ATOMIC	KRDMA_ACCESS_REMOTE_ATOMIC
#define ALL		(LOCAL | REMOTE_READ | REMOTE_WRITE)

/* A client, memory of it, and a peer that accesses the memory. */
struct site {
	struct stage *stage;
	struct actor *client;
	struct krdma_session *session;
	struct krdma_device *dev;
	u8 *buffer;
};

static void site_free(void *buffer)
{
	vfree(buffer);
}

static struct site *site_new(struct kunit *test, void (*tune)(struct fake_device *fake))
{
	struct site *site = kunit_kzalloc(test, sizeof(*site), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, site);
	/* Freed after the connections that use it. */
	site->buffer = vzalloc((PAGES + 2) * PAGE_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, site->buffer);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, site_free, site->buffer));

	test_needs_fast_reg(test);
	site->stage = stage_new(test, tune);
	site->client = &site->stage->client;
	site->session = site->stage->session;
	stage_listen(site->stage);
	stage_resolve(site->stage);
	KUNIT_ASSERT_EQ(test, 0, actor_connect(site->client, ""));
	stage_take(site->stage);
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&site->stage->server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(site->client->conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(site->stage->server.conn, STAGE_LONG_MS));
	site->dev = krdma_conn_device(site->client->conn);
	return site;
}

static struct krdma_mr *site_map(struct site *site, size_t length, u32 access)
{
	return krdma_mr_register(site->session, site->dev, site->buffer, length, access);
}

static bool peer_reads(struct site *site, u64 addr, u32 key, void *to, u32 length)
{
	return fake_qp_remote_read(actor_qp(site->client), addr, key, to, length) == IB_WC_SUCCESS;
}

static bool peer_writes(struct site *site, u64 addr, u32 key, const void *from, u32 length)
{
	return fake_qp_remote_write(actor_qp(site->client), addr, key, from, length) ==
	       IB_WC_SUCCESS;
}

/* The peer writes the whole length of the MR, and cannot access memory beyond it. */
static void expect_reachable(struct kunit *test, struct site *site, struct krdma_mr *mr,
			     const u8 *memory)
{
	struct krdma_mr_info info;
	u8 *bytes;

	krdma_mr_query(mr, &info);
	bytes = kunit_kzalloc(test, info.length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bytes);
	for (u64 i = 0; i < info.length; i++)
		bytes[i] = i * 7 + 1;
	/* A device with shorter MRs gives several rkeys: mr_keys_test.c. */
	if (info.key_count > 1)
		return;
	KUNIT_EXPECT_TRUE(test, peer_writes(site, info.remote_addr, info.rkey, bytes,
					    info.length));
	/* Not KUNIT_EXPECT_MEMEQ, which would print the memory: it may be large. */
	KUNIT_EXPECT_EQ(test, 0, memcmp(bytes, memory, info.length));
	memset(bytes, 0, info.length);
	KUNIT_EXPECT_TRUE(test, peer_reads(site, info.remote_addr, info.rkey, bytes,
					   info.length));
	KUNIT_EXPECT_EQ(test, 0, memcmp(bytes, memory, info.length));
	KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr + 1, info.rkey, bytes,
					    info.length));
	KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr - 1, info.rkey, bytes, 1));
	KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr, info.rkey + 1, bytes, 1));
}

/*
 * Mapping
 */

static void test_buffers(struct kunit *test)
{
	static const size_t lengths[] = {
		1, LENGTH, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, PAGES * PAGE_SIZE - 100,
	};
	static const unsigned int offsets[] = { 0, 1, 99 };
	struct site *site = site_new(test, NULL);
	struct krdma_mr_info info;
	struct krdma_mr *mr;

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths) * ARRAY_SIZE(offsets) * 2; i++) {
		size_t length = lengths[i / 2 % ARRAY_SIZE(lengths)];
		unsigned int offset = offsets[i / 2 / ARRAY_SIZE(lengths)];
		u8 *memory, *start;

		memory = i % 2 ? kzalloc(length + offset, GFP_KERNEL) : vzalloc(length + offset);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		start = memory + offset;
		mr = krdma_mr_register(site->session, site->dev, start, length, ALL);
		KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(mr), "%d for %zu bytes at %u",
				       PTR_ERR_OR_ZERO(mr), length, offset);
		if (!IS_ERR(mr)) {
			krdma_mr_query(mr, &info);
			KUNIT_EXPECT_EQ(test, (uintptr_t)start, info.addr);
			/* A peer does not learn the kernel's address of the memory. */
			KUNIT_EXPECT_EQ(test, PAGE_SIZE + offset_in_page(start), info.remote_addr);
			KUNIT_EXPECT_EQ(test, length, info.length);
			KUNIT_EXPECT_EQ(test, ALL, info.access);
			expect_reachable(test, site, mr, start);
			KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		}
		kvfree(memory);
	}
}

static void test_scatterlists(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	struct scatterlist sg[3];
	u8 *memory, *flat;

	memory = kunit_kzalloc(test, 4 * PAGE_SIZE, GFP_KERNEL);
	flat = kunit_kzalloc(test, 4 * PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_NOT_NULL(test, flat);
	memory = PTR_ALIGN(memory, PAGE_SIZE);

	/* The end of the third page, all of the first, the beginning of the second. */
	sg_init_table(sg, ARRAY_SIZE(sg));
	sg_set_buf(&sg[0], memory + 3 * PAGE_SIZE - 100, 100);
	sg_set_buf(&sg[1], memory, PAGE_SIZE);
	sg_set_buf(&sg[2], memory + PAGE_SIZE, 50);
	mr = krdma_mr_register_sg(site->session, site->dev, sg, ARRAY_SIZE(sg), ALL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	krdma_mr_query(mr, &info);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE - 100, info.addr);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE + 150, info.length);
	memset(flat, 0xaa, info.length);
	KUNIT_EXPECT_TRUE(test, peer_writes(site, info.remote_addr, info.rkey, flat,
					    info.length));
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_MEMEQ(test, flat, sg_virt(&sg[i]), sg[i].length);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	/*
	 * Memory with gaps inside a page gets no rkey.  A mapping without an rkey does not need
	 * one.
	 */
	sg_set_buf(&sg[1], memory + 1, PAGE_SIZE - 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_mr_register_sg(site->session, site->dev, sg, 3,
							     ALL)));
	mr = krdma_mr_register_sg(site->session, site->dev, sg, 3, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));

	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_mr_register_sg(site->session, site->dev, sg, 0, 0)));
	sg[1].length = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_mr_register_sg(site->session, site->dev, sg, 3, 0)));
}

/* Every combination of rights, known or not: the result, and what the peer may do. */
/* Proves: E3 */
static void test_rights(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	u8 byte = 0;

	for (u32 access = 0; access < 32; access++) {
		long expected = 0;

		if (access & 16 || (access & (REMOTE_WRITE | REMOTE_ATOMIC) && !(access & LOCAL)))
			expected = -EINVAL;
		else if (access & REMOTE_ATOMIC)
			expected = -EOPNOTSUPP;
		mr = site_map(site, LENGTH, access);
		KUNIT_EXPECT_EQ_MSG(test, expected, PTR_ERR_OR_ZERO(mr), "access %u", access);
		if (IS_ERR(mr))
			continue;
		krdma_mr_query(mr, &info);
		KUNIT_EXPECT_EQ(test, !!(access & ~LOCAL), !!info.rkey);
		KUNIT_EXPECT_EQ_MSG(test, !!(access & REMOTE_READ),
				    peer_reads(site, info.remote_addr, info.rkey, &byte, 1),
				    "access %u", access);
		KUNIT_EXPECT_EQ_MSG(test, !!(access & REMOTE_WRITE),
				    peer_writes(site, info.remote_addr, info.rkey, &byte, 1),
				    "access %u", access);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	}
}

/* Memory for atomics, on a device that has them. */
static void test_atomic_rights(struct kunit *test)
{
	struct site *site = site_new(test, fake_device_offer_atomics);
	struct krdma_mr *mr;

	mr = site_map(site, LENGTH, LOCAL | REMOTE_ATOMIC);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(site_map(site, LENGTH, REMOTE_ATOMIC)));
}

/* mlx5 executes atomics of peers, and its driver refuses those of the kernel. */
static void offer_atomics_of_peers(struct fake_device *fake)
{
	fake_device_offer_atomics(fake);
	fake->ib.ops.driver_id = RDMA_DRIVER_MLX5;
}

static void test_atomic_rights_of_peers(struct kunit *test)
{
	struct site *site = site_new(test, offer_atomics_of_peers);
	struct krdma_mr *mr;

	mr = site_map(site, LENGTH, LOCAL | REMOTE_ATOMIC);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* irdma claims atomics, and forgets the right when it registers memory. */
static void offer_atomics_without_the_right(struct fake_device *fake)
{
	fake_device_offer_atomics(fake);
	fake->ib.ops.driver_id = RDMA_DRIVER_IRDMA;
}

static void test_atomic_rights_that_would_be_lost(struct kunit *test)
{
	struct site *site = site_new(test, offer_atomics_without_the_right);
	struct krdma_device_attr attr;
	struct krdma_mr *mr;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR_OR_ZERO(site_map(site, LENGTH, LOCAL | REMOTE_ATOMIC)));
	mr = site_map(site, LENGTH, ALL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	/* It posts those for memory of other cards. */
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(site->dev, &attr));
	KUNIT_EXPECT_EQ(test, !(site->stage->fake->personality->lacks & FAKE_LACKS_ATOMICS),
			!!(attr.caps & KRDMA_DEVICE_CAP_ATOMIC));
}

static void test_bad_memory(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr;
	u8 stack[8];

	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(site_map(site, 0, LOCAL)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_mr_register(site->session, site->dev, stack,
							  sizeof(stack), LOCAL)));
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(krdma_mr_register(site->session, site->dev,
							  (void *)PAGE_SIZE, 8, LOCAL)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(site_map(site, SIZE_MAX, LOCAL)));
	KUNIT_EXPECT_EQ(test, -EFBIG, PTR_ERR_OR_ZERO(site_map(site, (1ULL << 32) + 1, LOCAL)));
	/* Without remote rights, the length of a fast registration is no limit. */
	mr = site_map(site, PAGES * PAGE_SIZE + 1, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	/* KUnit tests have no mm. */
	KUNIT_EXPECT_EQ(test, -ESRCH,
			PTR_ERR_OR_ZERO(krdma_mr_register_user(site->session, site->dev, 0, 8, 0)));
}

static void no_registration(struct fake_device *fake)
{
	fake->attr.device_cap_flags = 0;
}

static void test_no_registration(struct kunit *test)
{
	struct site *site = site_new(test, no_registration);
	struct krdma_mr *mr;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, PTR_ERR_OR_ZERO(site_map(site, LENGTH, REMOTE_READ)));
	mr = site_map(site, LENGTH, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* The device fails once.  The next attempt succeeds as usual. */
static void test_failures(struct kunit *test)
{
	static const struct {
		enum fake_verb verb;
		int error;
		int said;
	} cases[] = {
		{ FAKE_ALLOC_MR, -ENOMEM, -ENOMEM },
		{ FAKE_ALLOC_MR, -EREMOTEIO, -EIO },
		{ FAKE_MAP_MR_SG, -ENOMEM, -ENOMEM },
		{ FAKE_MAP_MR_SG, -EREMOTEIO, -EIO },
	};
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_device_fail(site->stage->fake, cases[i].verb, 1, cases[i].error);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].said,
				    PTR_ERR_OR_ZERO(site_map(site, LENGTH, ALL)), "case %u", i);
		mr = site_map(site, LENGTH, ALL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	}

	/* A registration that cannot be posted is tried once more on a new QP. */
	fake_device_fail(site->stage->fake, FAKE_POST_SEND, 1, -EREMOTEIO);
	mr = site_map(site, LENGTH, ALL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	expect_reachable(test, site, mr, site->buffer);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

static void test_keys_are_fresh(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr_info info;
	struct krdma_mr *mr;
	u32 keys[40];
	u8 byte;

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		mr = site_map(site, LENGTH, ALL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
		krdma_mr_query(mr, &info);
		keys[i] = info.rkey;
		KUNIT_EXPECT_TRUE(test, peer_reads(site, info.remote_addr, keys[i], &byte, 1));
		for (unsigned int j = 0; j < i; j++)
			KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr, keys[j],
							    &byte, 1));
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr, keys[i], &byte, 1));
	}
}

/*
 * Use counts
 */

static int receive_into(struct site *site, struct krdma_mr *mr, u64 addr, u32 length)
{
	struct krdma_sge sge = { .mr = mr, .addr = addr, .length = length };
	struct krdma_recv_wr recv_wr = { .sges = &sge, .sge_count = 1 };

	return krdma_conn_post_recv(site->client->conn, &recv_wr, 1);
}

static void test_release_of_what_is_used(struct kunit *test)
{
	struct fake_message message = { .data = "hello", .length = 5 };
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr = site_map(site, LENGTH, ALL);
	u64 addr = (uintptr_t)site->buffer;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 1, receive_into(site, mr, addr + 10, 20));
	KUNIT_EXPECT_EQ(test, 1, receive_into(site, mr, addr, LENGTH));
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(actor_qp(site->client), &message));
	KUNIT_EXPECT_TRUE(test, actor_completes(site->client, 1));
	KUNIT_EXPECT_MEMEQ(test, "hello", site->buffer + 10, 5);
	KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mr));
	expect_reachable(test, site, mr, site->buffer);
	krdma_conn_close(site->client->conn);
	KUNIT_EXPECT_EQ(test, 1, site->client->flushed);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/* The rkey ends soon, the memory when nothing uses it any more. */
static void test_drop_of_what_is_used(struct kunit *test)
{
	struct fake_message message = { .data = "hello", .length = 5 };
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr = site_map(site, LENGTH, REMOTE_READ | LOCAL);
	unsigned long end = jiffies + STAGE_LONG;
	u64 addr = (uintptr_t)site->buffer;
	struct krdma_mr_info info;
	u8 byte;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	krdma_mr_query(mr, &info);
	KUNIT_EXPECT_EQ(test, 1, receive_into(site, mr, addr, LENGTH));
	KUNIT_EXPECT_TRUE(test, peer_reads(site, info.remote_addr, info.rkey, &byte, 1));
	krdma_mr_drop(mr);
	while (peer_reads(site, info.remote_addr, info.rkey, &byte, 1) &&
	       time_before(jiffies, end))
		fsleep(1000);
	KUNIT_EXPECT_FALSE(test, peer_reads(site, info.remote_addr, info.rkey, &byte, 1));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(actor_qp(site->client), &message));
	KUNIT_EXPECT_TRUE(test, actor_completes(site->client, 1));
	KUNIT_EXPECT_MEMEQ(test, "hello", site->buffer, 5);
}

static void test_wrong_pieces(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr *mr = site_map(site, LENGTH, LOCAL);
	struct krdma_mr *constant = site_map(site, LENGTH, 0);
	u64 addr = (uintptr_t)site->buffer;
	struct krdma_session *session;
	struct krdma_mr *foreign;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, constant);
	KUNIT_EXPECT_EQ(test, -ERANGE, receive_into(site, mr, addr, LENGTH + 1));
	KUNIT_EXPECT_EQ(test, -ERANGE, receive_into(site, mr, addr - 1, 1));
	KUNIT_EXPECT_EQ(test, -ERANGE, receive_into(site, mr, addr + 1, U32_MAX));
	KUNIT_EXPECT_EQ(test, -EACCES, receive_into(site, constant, addr, 1));

	session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
	foreign = krdma_mr_register(session, site->dev, site->buffer, LENGTH, LOCAL);
	krdma_session_put(session);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, foreign);
	KUNIT_EXPECT_EQ(test, -EXDEV, receive_into(site, foreign, addr, 1));

	/* None of these took a use of the MR. */
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(foreign));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(constant));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

static void test_device_goes(struct kunit *test)
{
	struct site *site = site_new(test, NULL);
	struct krdma_mr *dropped = site_map(site, LENGTH, ALL);
	struct krdma_mr *mr = site_map(site, LENGTH, ALL);
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dropped);
	test_device_unregister(site->stage->device);
	KUNIT_EXPECT_EQ(test, -ENODEV,
			PTR_ERR_OR_ZERO(krdma_mr_register(site->session, dev, site->buffer, 8, 0)));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	krdma_mr_drop(dropped);
	krdma_device_put(dev);
}

/*
 * Memory descriptors
 */

static void test_descriptors(struct kunit *test)
{
	static const u32 accesses[] = {
		REMOTE_READ, REMOTE_READ | LOCAL, LOCAL | REMOTE_WRITE, ALL,
		LOCAL | REMOTE_ATOMIC,
	};
	struct site *site = site_new(test, fake_device_offer_atomics);
	struct krdma_mr_info info, told;
	u8 descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_mr *mr;

	for (unsigned int i = 0; i < ARRAY_SIZE(accesses); i++) {
		mr = site_map(site, LENGTH, accesses[i]);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
		krdma_mr_query(mr, &info);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_describe(mr, 100, 900, descriptor));
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_desc_read(descriptor, sizeof(descriptor),
							    &told));
		KUNIT_EXPECT_EQ(test, info.remote_addr + 100, told.remote_addr);
		KUNIT_EXPECT_EQ(test, 900, told.length);
		KUNIT_EXPECT_EQ(test, info.rkey, told.rkey);
		KUNIT_EXPECT_EQ(test, accesses[i] & ~LOCAL, told.access);
		KUNIT_EXPECT_EQ(test, -EINVAL,
				krdma_mr_desc_read(descriptor, sizeof(descriptor) - 1, &told));
		KUNIT_EXPECT_EQ(test, -ERANGE, krdma_mr_describe(mr, 100, 901, descriptor));
		KUNIT_EXPECT_EQ(test, -ERANGE, krdma_mr_describe(mr, 1001, 0, descriptor));
		KUNIT_EXPECT_EQ(test, -ERANGE,
				krdma_mr_describe(mr, U64_MAX, 2, descriptor));
		KUNIT_EXPECT_EQ(test, -EINVAL, krdma_mr_describe(mr, 0, 0, descriptor));
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	}
	mr = site_map(site, LENGTH, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, -EACCES, krdma_mr_describe(mr, 0, 1, descriptor));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

/*
 * Memory of a process on siw, which may use it until its connections end
 */

/**
 * struct late - an MR of such memory
 * @mr: the MR
 * @conn: a connection without a QP
 * @deregister: deregisters @mr
 * @create: creates the QP of @conn
 * @created: result of that
 * @ended: number of calls of ended()
 * @freed: number of calls of freed()
 */
struct late {
	struct krdma_mr *mr;
	struct krdma_conn *conn;
	struct work_struct deregister;
	struct work_struct create;
	int created;
	int ended;
	int freed;
};

static void late_ended(void *context)
{
	struct late *late = context;

	late->ended++;
}

static void late_freed(void *context)
{
	struct late *late = context;

	late->freed++;
}

static void late_deregister(struct work_struct *work)
{
	struct late *late = container_of(work, struct late, deregister);

	krdma_mr_deregister(late->mr);
}

static void late_create(struct work_struct *work)
{
	static const struct krdma_conn_attr attr;
	struct late *late = container_of(work, struct late, create);

	late->created = krdma_conn_create_qp(late->conn, &attr);
}

/* @pinned: krdma pins the pages; otherwise the provider does. */
static struct late *late_new(struct kunit *test, struct stage *stage, bool pinned)
{
	struct late *late = kunit_kzalloc(test, sizeof(*late), GFP_KERNEL);
	struct krdma_device *dev = krdma_conn_device(stage->client.conn);
	unsigned long memory;

	KUNIT_ASSERT_NOT_NULL(test, late);
	INIT_WORK(&late->deregister, late_deregister);
	INIT_WORK(&late->create, late_create);
	late->conn = stage->client.conn;
	memory = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
			       MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, memory);
	if (pinned)
		late->mr = krdma_mr_register_user_for_lanes(stage->session, dev, memory,
							    PAGE_SIZE, ALL);
	else
		late->mr = krdma_mr_register_user(stage->session, dev, memory, PAGE_SIZE, ALL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, late->mr);
	KUNIT_ASSERT_EQ(test, 0, krdma_mr_notify(late->mr, late_ended, late_freed, late));
	return late;
}

static void expect_late(struct kunit *test, struct late *late, int freed)
{
	KUNIT_EXPECT_EQ(test, 1, late->ended);
	KUNIT_EXPECT_EQ(test, freed, late->freed);
}

/* The memory is freed with the connections, and not before. */
static void test_memory_is_kept(struct kunit *test)
{
	struct site *site = site_new(test, fake_device_read_like_siw);
	struct late *late[2];

	for (int i = 0; i < 2; i++) {
		late[i] = late_new(test, site->stage, i);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(late[i]->mr));
		expect_late(test, late[i], 0);
	}
	actor_close(site->client);
	actor_close(&site->stage->server);
	for (int i = 0; i < 2; i++)
		expect_late(test, late[i], 1);

	stage_resolve(site->stage);
	for (int i = 0; i < 2; i++) {
		late[i] = late_new(test, site->stage, i);
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(late[i]->mr));
		expect_late(test, late[i], 1);
	}
}

/* A queue pair is created while a key that it could use is going. */
static void test_connected_meanwhile(struct kunit *test)
{
	struct fake_pause pause;
	struct stage *stage;
	struct late *late;

	test_needs_fast_reg(test);
	stage = stage_new(test, fake_device_read_like_siw);
	for (int pinned = 0; pinned < 2; pinned++) {
		stage_resolve(stage);
		late = late_new(test, stage, pinned);
		fake_device_pause_dereg(stage->fake, &pause);
		queue_work(stage->works, &late->deregister);
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&pause.entered, 10 * HZ));
		queue_work(stage->works, &late->create);
		msleep(50);
		/* The provider's pages go with the key, and krdma's can stay. */
		KUNIT_EXPECT_EQ(test, pinned, !!late->conn->qp);
		fake_device_pause_dereg(stage->fake, NULL);
		complete_all(&pause.go_on);
		flush_work(&late->deregister);
		flush_work(&late->create);
		KUNIT_EXPECT_EQ(test, 0, late->created);
		expect_late(test, late, !pinned);
		actor_close(&stage->client);
		expect_late(test, late, 1);
	}
}

/*
 * PDs of a session that keeps them
 */

struct keeper {
	struct site *site;
	struct krdma_session *session;
	struct work_struct drop;
	int pds;
};

static void keeper_drop(struct work_struct *work)
{
	krdma_session_drop_pds(container_of(work, struct keeper, drop)->session);
}

static void keeper_begin(struct kunit *test, struct keeper *keeper)
{
	keeper->site = site_new(test, NULL);
	keeper->session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, keeper->session);
	krdma_session_keep_pds(keeper->session);
	keeper->pds = atomic_read(&keeper->site->stage->fake->live[FAKE_PD]);
}

static struct krdma_mr *keeper_register(struct keeper *keeper, u32 access)
{
	return krdma_mr_register(keeper->session, keeper->site->dev, keeper->site->buffer, LENGTH,
				 access);
}

/* How many PDs there are more than before. */
static int keeper_pds(struct keeper *keeper)
{
	return atomic_read(&keeper->site->stage->fake->live[FAKE_PD]) - keeper->pds;
}

/* Proves: E12 */
static void test_kept_pd(struct kunit *test)
{
	struct keeper keeper = {};
	struct krdma_mr *mr;

	keeper_begin(test, &keeper);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(keeper_register(&keeper, U32_MAX)));
	KUNIT_EXPECT_EQ(test, 0, keeper_pds(&keeper));
	for (int i = 0; i < 3; i++) {
		mr = keeper_register(&keeper, LOCAL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
		KUNIT_EXPECT_EQ(test, 1, keeper_pds(&keeper));
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
		KUNIT_EXPECT_EQ(test, 1, keeper_pds(&keeper));
	}
	/* What is still there keeps it, and then nothing does. */
	mr = keeper_register(&keeper, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	krdma_session_drop_pds(keeper.session);
	KUNIT_EXPECT_EQ(test, 1, keeper_pds(&keeper));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, keeper_pds(&keeper));
	mr = keeper_register(&keeper, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, 0, keeper_pds(&keeper));
	krdma_session_put(keeper.session);
}

/* A QP for registrations is not kept, nor the PD in which it is. */
/* Proves: E12 */
static void test_kept_pd_of_registrations(struct kunit *test)
{
	struct keeper keeper = {};
	struct krdma_mr *mr;
	atomic_t *qps;
	int live;

	keeper_begin(test, &keeper);
	qps = &keeper.site->stage->fake->live[FAKE_QP];
	live = atomic_read(qps);
	mr = keeper_register(&keeper, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	mr = keeper_register(&keeper, ALL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_LT(test, live, atomic_read(qps));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	KUNIT_EXPECT_EQ(test, live, atomic_read(qps));
	KUNIT_EXPECT_EQ(test, 0, keeper_pds(&keeper));
	krdma_session_drop_pds(keeper.session);
	krdma_session_put(keeper.session);
}

/* The device takes the PD along, also while the session drops it. */
static void kept_pd_goes(struct kunit *test, bool both)
{
	struct keeper keeper = {};
	struct krdma_mr *mr;

	keeper_begin(test, &keeper);
	INIT_WORK_ONSTACK(&keeper.drop, keeper_drop);
	mr = keeper_register(&keeper, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	if (both)
		schedule_work(&keeper.drop);
	test_device_unregister(keeper.site->stage->device);
	flush_work(&keeper.drop);
	destroy_work_on_stack(&keeper.drop);
	krdma_session_drop_pds(keeper.session);
	krdma_session_put(keeper.session);
}

/* Proves: B8 */
static void test_kept_pd_goes_with_its_device(struct kunit *test)
{
	kept_pd_goes(test, false);
}

/* Proves: B8 */
static void test_kept_pd_is_dropped_as_its_device_goes(struct kunit *test)
{
	kept_pd_goes(test, true);
}

/* A PD that is kept has a reference to its session, until the device has gone. */
/* Proves: B8 */
static void test_kept_pd_has_its_session(struct kunit *test)
{
	struct keeper keeper = {};
	struct krdma_mr *mr;

	keeper_begin(test, &keeper);
	mr = keeper_register(&keeper, LOCAL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	krdma_session_put(keeper.session);
	KUNIT_EXPECT_EQ(test, 1, keeper_pds(&keeper));
	test_device_unregister(keeper.site->stage->device);
}

static struct kunit_case region_cases[] = {
	KUNIT_CASE(test_buffers),
	KUNIT_CASE(test_scatterlists),
	KUNIT_CASE(test_rights),
	KUNIT_CASE(test_atomic_rights),
	KUNIT_CASE(test_atomic_rights_of_peers),
	KUNIT_CASE(test_atomic_rights_that_would_be_lost),
	KUNIT_CASE(test_bad_memory),
	KUNIT_CASE(test_no_registration),
	KUNIT_CASE(test_failures),
	KUNIT_CASE(test_keys_are_fresh),
	KUNIT_CASE(test_release_of_what_is_used),
	KUNIT_CASE(test_drop_of_what_is_used),
	KUNIT_CASE(test_wrong_pieces),
	KUNIT_CASE(test_device_goes),
	KUNIT_CASE(test_descriptors),
	KUNIT_CASE(test_memory_is_kept),
	KUNIT_CASE(test_connected_meanwhile),
	KUNIT_CASE(test_kept_pd),
	KUNIT_CASE(test_kept_pd_of_registrations),
	KUNIT_CASE(test_kept_pd_goes_with_its_device),
	KUNIT_CASE(test_kept_pd_is_dropped_as_its_device_goes),
	KUNIT_CASE(test_kept_pd_has_its_session),
	{}
};

static struct kunit_suite region_suite = {
	.name = "krdma_mr",
	.init = test_objects_init,
	.test_cases = region_cases,
};

kunit_test_suite(region_suite);
