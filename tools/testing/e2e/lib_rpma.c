// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma and librpma's formats: byte by byte, and in use between two ends that exchange memory
 * descriptors as librpma's examples do.
 */
#include <errno.h>
#include <string.h>

#include <krdma_entry.h>
#include <krdma_rpma.h>

#include "kselftest_harness.h"
#include "lib_pair.h"
#include "pair.h"
#include "session.h"

#define USAGE_ALL	0xff
#define PATIENCE	krdma_deadline(PATIENCE_MS)

/*
 * Formats
 */

/* The output of librpma's rpma_mr_get_descriptor() for such memory. */
static const unsigned char wire_memory[] = {
	0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01,
	0x00, 0x10, 0, 0, 0, 0, 0, 0,
	0xdd, 0xcc, 0xbb, 0xaa,
	0x19,
};

static const struct krdma_rpma_memory mr = {
	.addr = 0x0102030405060708, .size = 0x1000, .key = 0xaabbccdd,
	.usage = KRDMA_RPMA_READ_SOURCE | KRDMA_RPMA_WRITE_DESTINATION |
		 KRDMA_RPMA_FLUSH_VISIBILITY,
};

static bool same(const struct krdma_rpma_memory *one, const struct krdma_rpma_memory *other)
{
	return one->addr == other->addr && one->size == other->size && one->key == other->key &&
	       one->usage == other->usage;
}

TEST(a_descriptor_of_memory_is_that_of_librpma)
{
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE + 1] = {};
	struct krdma_rpma_memory read;

	ASSERT_EQ(sizeof(wire_memory), KRDMA_RPMA_MEMORY_SIZE);
	wire[KRDMA_RPMA_MEMORY_SIZE] = 0x5a;
	ASSERT_EQ(0, krdma_rpma_memory_write(&mr, wire));
	EXPECT_EQ(0, memcmp(wire, wire_memory, sizeof(wire_memory)));
	EXPECT_EQ(0x5a, wire[KRDMA_RPMA_MEMORY_SIZE]);
	ASSERT_EQ(0, krdma_rpma_memory_read(wire_memory, sizeof(wire_memory), &read));
	EXPECT_TRUE(same(&mr, &read));
	/* The bytes after the descriptor are not part of it. */
	EXPECT_EQ(0, krdma_rpma_memory_read(wire, sizeof(wire), &read));
}

TEST(every_usage_goes_there_and_back)
{
	struct krdma_rpma_memory written = mr, read;
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE];

	for (uint32_t usage = 1; usage <= USAGE_ALL; usage++) {
		written.usage = usage;
		ASSERT_EQ(0, krdma_rpma_memory_write(&written, wire));
		EXPECT_EQ(usage, wire[20]);
		ASSERT_EQ(0, krdma_rpma_memory_read(wire, sizeof(wire), &read));
		EXPECT_TRUE(same(&written, &read));
	}
}

TEST(what_is_no_descriptor_of_memory)
{
	struct krdma_rpma_memory bad = mr, read = mr;
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE];

	for (size_t length = 0; length < sizeof(wire_memory); length++)
		EXPECT_EQ(-EINVAL, krdma_rpma_memory_read(wire_memory, length, &read));
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_read(NULL, 21, &read));
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_read(wire_memory, 21, NULL));
	/* Without a usage. */
	memcpy(wire, wire_memory, sizeof(wire));
	wire[20] = 0;
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_read(wire, sizeof(wire), &read));
	bad.usage = 0;
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_write(&bad, wire));
	/* An unknown usage. */
	bad.usage = USAGE_ALL + 1;
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_write(&bad, wire));
	/* Beyond the end of the address space. */
	memcpy(wire, wire_memory, sizeof(wire));
	memset(wire + 8, 0xff, 8);
	EXPECT_EQ(-EINVAL, krdma_rpma_memory_read(wire, sizeof(wire), &read));
	EXPECT_TRUE(same(&mr, &read));
}

TEST(a_descriptor_of_a_configuration)
{
	struct krdma_rpma_peer peer = { .direct_write = 7 };
	unsigned char wire[2] = { 9, 9 };

	EXPECT_EQ(0, krdma_rpma_peer_write(&peer, wire));
	EXPECT_EQ(1, wire[0]);
	EXPECT_EQ(9, wire[1]);
	peer.direct_write = 0;
	EXPECT_EQ(0, krdma_rpma_peer_write(&peer, wire));
	EXPECT_EQ(0, wire[0]);
	wire[0] = 0x80;
	EXPECT_EQ(0, krdma_rpma_peer_read(wire, 1, &peer));
	EXPECT_EQ(1, peer.direct_write);
	wire[0] = 0;
	EXPECT_EQ(0, krdma_rpma_peer_read(wire, 2, &peer));
	EXPECT_EQ(0, peer.direct_write);
	EXPECT_EQ(-EINVAL, krdma_rpma_peer_read(wire, 0, &peer));
	EXPECT_EQ(-EINVAL, krdma_rpma_peer_write(NULL, wire));
}

TEST(private_data_of_the_examples)
{
	struct krdma_rpma_example example = {
		.data_offset = 0x0201, .has_memory = 1, .has_peer = 1, .mr = mr,
		.peer.direct_write = 1,
	}, read;
	unsigned char wire[KRDMA_RPMA_EXAMPLE_SIZE], expected[KRDMA_RPMA_EXAMPLE_SIZE] = {
		0x01, 0x02, 21, 1,
	};

	memcpy(expected + 4, wire_memory, 21);
	expected[25] = 1;
	ASSERT_EQ(0, krdma_rpma_example_write(&example, wire));
	EXPECT_EQ(0, memcmp(expected, wire, sizeof(wire)));
	ASSERT_EQ(0, krdma_rpma_example_read(wire, sizeof(wire), &read));
	EXPECT_EQ(0x0201, read.data_offset);
	EXPECT_TRUE(read.has_memory && same(&mr, &read.mr));
	EXPECT_TRUE(read.has_peer && read.peer.direct_write);
	/* The configuration follows the memory descriptor, or begins in its place. */
	example.has_memory = 0;
	ASSERT_EQ(0, krdma_rpma_example_write(&example, wire));
	EXPECT_EQ(0, wire[2]);
	EXPECT_EQ(1, wire[4]);
	ASSERT_EQ(0, krdma_rpma_example_read(wire, sizeof(wire), &read));
	EXPECT_FALSE(read.has_memory);
	EXPECT_TRUE(read.has_peer);
	example.has_peer = 0;
	ASSERT_EQ(0, krdma_rpma_example_write(&example, wire));
	ASSERT_EQ(0, krdma_rpma_example_read(wire, sizeof(wire), &read));
	EXPECT_FALSE(read.has_memory || read.has_peer);
}

TEST(private_data_that_make_no_sense)
{
	struct krdma_rpma_example example = { .has_memory = 1, .has_peer = 1, .mr = mr };
	unsigned char wire[KRDMA_RPMA_EXAMPLE_SIZE];

	ASSERT_EQ(0, krdma_rpma_example_write(&example, wire));
	for (size_t length = 0; length < sizeof(wire); length++)
		EXPECT_EQ(-EINVAL, krdma_rpma_example_read(wire, length, &example));
	/* A length of the memory descriptor too short, and one of both too long. */
	wire[2] = 20;
	EXPECT_EQ(-EINVAL, krdma_rpma_example_read(wire, sizeof(wire), &example));
	wire[2] = 24;
	EXPECT_EQ(-EINVAL, krdma_rpma_example_read(wire, sizeof(wire), &example));
	wire[2] = 255;
	wire[3] = 255;
	EXPECT_EQ(-EINVAL, krdma_rpma_example_read(wire, sizeof(wire), &example));
	example.data_offset = 65536;
	EXPECT_EQ(-EINVAL, krdma_rpma_example_write(&example, wire));
	example.data_offset = 0;
	example.mr.usage = 0;
	EXPECT_EQ(-EINVAL, krdma_rpma_example_write(&example, wire));
}

/*
 * Access rights
 */

TEST(the_rights_that_each_usage_needs)
{
	static const uint32_t expected[] = {
		KRDMA_ACCESS_REMOTE_READ,
		KRDMA_ACCESS_LOCAL_WRITE,
		KRDMA_ACCESS_LOCAL_WRITE,
		KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE,
		KRDMA_ACCESS_REMOTE_READ,
		KRDMA_ACCESS_REMOTE_READ,
		0,
		KRDMA_ACCESS_LOCAL_WRITE,
	};
	uint32_t access = 0, all;

	for (uint32_t usage = 1; usage <= USAGE_ALL; usage++) {
		all = 0;
		for (unsigned int bit = 0; bit < 8; bit++) {
			if (usage & (1u << bit))
				all |= expected[bit];
		}
		ASSERT_EQ(0, krdma_rpma_access(usage, KRDMA_TRANSPORT_IB, &access));
		EXPECT_EQ(all, access);
		/* On iWARP the response to a read needs the right to write. */
		if (usage & KRDMA_RPMA_READ_DESTINATION)
			all |= KRDMA_ACCESS_REMOTE_WRITE;
		ASSERT_EQ(0, krdma_rpma_access(usage, KRDMA_TRANSPORT_IWARP, &access));
		EXPECT_EQ(all, access);
	}
	EXPECT_EQ(-EINVAL, krdma_rpma_access(0, KRDMA_TRANSPORT_IB, &access));
	EXPECT_EQ(-EINVAL, krdma_rpma_access(USAGE_ALL + 1, KRDMA_TRANSPORT_IB, &access));
}

TEST(rights_to_usage_and_back)
{
	uint32_t usage = 0, access;

	for (uint32_t rights = 0; rights < 8; rights++) {
		/* Only valid combinations: remote write needs local write. */
		if ((rights & KRDMA_ACCESS_REMOTE_WRITE) && !(rights & KRDMA_ACCESS_LOCAL_WRITE))
			continue;
		ASSERT_EQ(0, krdma_rpma_usage(rights, &usage));
		EXPECT_TRUE(usage & KRDMA_RPMA_SEND);
		EXPECT_FALSE(usage & (KRDMA_RPMA_FLUSH_VISIBILITY | KRDMA_RPMA_FLUSH_PERSISTENT));
		ASSERT_EQ(0, krdma_rpma_access(usage, KRDMA_TRANSPORT_IB, &access));
		EXPECT_EQ(rights, access);
	}
	EXPECT_EQ(-EINVAL, krdma_rpma_usage(1u << 4, &usage));
}

TEST(a_peers_memory_for_entries)
{
	struct krdma_rpma_memory told = mr;
	struct krdma_remote_mr remote = {};

	ASSERT_EQ(0, krdma_rpma_remote(&told, &remote));
	EXPECT_EQ(told.addr, remote.addr);
	EXPECT_EQ(told.size, remote.length);
	EXPECT_EQ(told.key, remote.key);
	EXPECT_EQ(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE, remote.access);
	told.usage = KRDMA_RPMA_SEND | KRDMA_RPMA_RECV;
	EXPECT_EQ(-EACCES, krdma_rpma_remote(&told, &remote));
	told.usage = 0;
	EXPECT_EQ(-EINVAL, krdma_rpma_remote(&told, &remote));
}

/*
 * In use
 */

#define SIZE		65536
#define DATA_OFFSET	4096
#define USAGE		(KRDMA_RPMA_READ_SOURCE | KRDMA_RPMA_WRITE_DESTINATION | \
			 KRDMA_RPMA_READ_DESTINATION | KRDMA_RPMA_FLUSH_VISIBILITY)

struct end_of {
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	unsigned char *data;
	/* The data received from the other end. */
	struct krdma_rpma_example peer;
};

FIXTURE(rpma)
{
	struct krdma *session;
	struct krdma_listener *listener;
	uint32_t device;
	struct end_of ends[2];
};

static int create_qp(FIXTURE_DATA(rpma) * self, struct end_of *end, uint32_t direct_write,
		     unsigned char *told)
{
	struct krdma_rpma_example own = {
		.data_offset = DATA_OFFSET, .has_memory = 1, .has_peer = 1,
		.peer.direct_write = direct_write,
	};
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE];
	uint32_t access;
	int err;

	err = krdma_rpma_access(USAGE, KRDMA_TRANSPORT_IB, &access);
	if (!err)
		err = krdma_mr_alloc(self->session, self->device, SIZE, access, &end->mr);
	if (!err)
		err = krdma_ring_create(self->session, NULL, &end->ring);
	if (!err)
		err = krdma_conn_create_qp(end->conn, end->ring, NULL, NULL, NULL);
	if (!err)
		err = krdma_rpma_describe(end->mr, 0, 0, USAGE, wire);
	if (!err)
		err = krdma_rpma_memory_read(wire, sizeof(wire), &own.mr);
	if (!err)
		err = krdma_rpma_example_write(&own, told);
	end->data = krdma_mr_data(end->mr);
	return err;
}

/* Decode the data from the other end; padding follows them. */
static int hear(struct end_of *end)
{
	unsigned char data[256];
	size_t length = sizeof(data);
	int err = krdma_conn_private_data(end->conn, data, &length);

	return err ? err : krdma_rpma_example_read(data, length, &end->peer);
}

/* The first end is configured for direct writes, the second is not. */
FIXTURE_SETUP(rpma)
{
	unsigned char told[KRDMA_RPMA_EXAMPLE_SIZE];
	struct __kernel_sockaddr_storage address;
	const struct krdma_conn_param_args plain = {
		.size = sizeof(plain), .flags = KRDMA_CONN_PARAM_PLAIN,
	};
	struct sockaddr *at = (struct sockaddr *)&address;
	struct end_of *a = &self->ends[0], *b = &self->ends[1];
	struct sockaddr_storage listens;

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, krdma_open(&self->session));
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, krdma_listen(self->session, at, 0, 0, &self->listener));
	ASSERT_EQ(0, krdma_listener_address(self->listener, &listens));
	ASSERT_EQ(0, krdma_device_by_address(self->session, at, NULL, 0, &self->device));
	ASSERT_EQ(0, krdma_conn_create(self->session, &a->conn));
	ASSERT_EQ(0, krdma_conn_resolve(a->conn, (struct sockaddr *)&listens, &lib_patient));
	ASSERT_EQ(0, krdma_conn_wait(a->conn, PATIENCE, NULL));
	ASSERT_EQ(0, create_qp(self, a, 1, told));
	ASSERT_EQ(0, krdma_conn_connect(a->conn, &plain, told, sizeof(told)));
	ASSERT_EQ(0, krdma_listener_next(self->listener, PATIENCE, &b->conn));
	ASSERT_EQ(0, hear(b));
	ASSERT_EQ(0, create_qp(self, b, 0, told));
	ASSERT_EQ(0, krdma_conn_accept(b->conn, &plain, told, sizeof(told)));
	ASSERT_EQ(0, krdma_conn_wait(b->conn, PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_wait(a->conn, PATIENCE, NULL));
	ASSERT_EQ(0, hear(a));
}

FIXTURE_TEARDOWN(rpma)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct end_of *end = &self->ends[i];

		krdma_conn_close(end->conn);
		krdma_ring_close(end->ring);
		krdma_mr_deregister(end->mr, KRDMA_DEREGISTER_LATER);
	}
	krdma_listener_close(self->listener);
	krdma_close(self->session);
}

/* Wait for the completion of @wr_id.  Returns its status. */
static int completed(struct end_of *end, uint64_t wr_id)
{
	struct krdma_cqe cqe;
	size_t taken;
	int err = krdma_ring_wait(end->ring, &cqe, 1, 1, PATIENCE, &taken);

	return err ? err : cqe.wr_id == wr_id ? cqe.status : -EPROTO;
}

/* One end writes to the other, flushes, and reads the data back. */
static void transfer(struct __test_metadata *_metadata, struct end_of *here, struct end_of *there,
		     unsigned int seed)
{
	struct krdma_rpma_memory *mr = &here->peer.mr;
	uint64_t offset = here->peer.data_offset;
	struct krdma_remote_mr remote;
	struct krdma_sqe entry;

	EXPECT_EQ(DATA_OFFSET, offset);
	ASSERT_EQ(0, krdma_rpma_remote(mr, &remote));
	fill(here->data, 4096, seed);
	entry = krdma_entry_write(here->conn, 1, here->mr, 0, 4096, &remote, offset);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	ASSERT_EQ(0, krdma_ring_post(here->ring, &entry, 1, NULL));
	ASSERT_EQ(0, krdma_rpma_flush(here->ring, here->conn, 2, mr, offset, 4096,
				      KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, &here->peer.peer));
	EXPECT_EQ(KRDMA_WC_SUCCESS, completed(here, 2));
	EXPECT_TRUE(filled(there->data + DATA_OFFSET, 4096, seed));
	entry = krdma_entry_read(here->conn, 3, here->mr, 8192, 4096, &remote, offset);
	ASSERT_EQ(0, krdma_ring_post(here->ring, &entry, 1, NULL));
	EXPECT_EQ(KRDMA_WC_SUCCESS, completed(here, 3));
	EXPECT_TRUE(filled(here->data + 8192, 4096, seed));
}

/* Proves: D2 (library) */
TEST_F(rpma, transfers_both_ways_by_descriptors)
{
	transfer(_metadata, &self->ends[0], &self->ends[1], 1);
	transfer(_metadata, &self->ends[1], &self->ends[0], 2);
}

/* Flush the whole memory, its last byte, and 0 bytes. */
/* Proves: D10 (library) */
TEST_F(rpma, every_part_can_be_flushed)
{
	static const uint64_t parts[][2] = {
		{ 0, SIZE }, { SIZE - 1, 1 }, { 0, 0 }, { SIZE, 0 },
	};
	struct end_of *end = &self->ends[0];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ASSERT_EQ(0, krdma_rpma_flush(end->ring, end->conn, i, &end->peer.mr,
					      parts[i][0], parts[i][1],
					      KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, NULL));
		EXPECT_EQ(KRDMA_WC_SUCCESS, completed(end, i));
	}
}

/* Proves: D2 (library) */
TEST_F(rpma, a_flush_that_the_peer_does_not_offer_is_refused)
{
	const struct krdma_rpma_peer direct = { .direct_write = 1 }, cached = {};
	struct end_of *end = &self->ends[0];
	struct krdma_rpma_memory offered = end->peer.mr;
	struct krdma_sqe entry;

#define FLUSH(type, peer) \
	krdma_rpma_flush_entry(end->conn, 1, &offered, 0, 8, KRDMA_RPMA_FLUSH_TYPE_##type, peer, \
			       &entry)

	offered.usage = KRDMA_RPMA_WRITE_DESTINATION | KRDMA_RPMA_READ_SOURCE;
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(VISIBILITY, &direct));
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(PERSISTENT, &direct));
	offered.usage = KRDMA_RPMA_FLUSH_VISIBILITY;
	EXPECT_EQ(0, FLUSH(VISIBILITY, &cached));
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(PERSISTENT, &direct));
	offered.usage = KRDMA_RPMA_FLUSH_PERSISTENT;
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(VISIBILITY, &direct));
	EXPECT_EQ(0, FLUSH(PERSISTENT, &direct));
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(PERSISTENT, &cached));
	EXPECT_EQ(-EOPNOTSUPP, FLUSH(PERSISTENT, NULL));
	/* Each end uses the configuration that the other one has sent. */
	EXPECT_FALSE(self->ends[0].peer.peer.direct_write);
	EXPECT_TRUE(self->ends[1].peer.peer.direct_write);
}

TEST_F(rpma, a_flush_that_makes_no_sense_is_refused)
{
	struct end_of *end = &self->ends[0];
	struct krdma_rpma_memory empty = end->peer.mr;
	struct krdma_sqe entry;

	EXPECT_EQ(-ERANGE, krdma_rpma_flush_entry(end->conn, 1, &end->peer.mr, 1, SIZE,
						  KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, NULL, &entry));
	EXPECT_EQ(-ERANGE, krdma_rpma_flush_entry(end->conn, 1, &end->peer.mr, SIZE + 1, 0,
						  KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, NULL, &entry));
	EXPECT_EQ(-EINVAL, krdma_rpma_flush_entry(end->conn, 1, &end->peer.mr, 0, 1, 2, NULL,
						  &entry));
	EXPECT_EQ(-EINVAL, krdma_rpma_flush_entry(NULL, 1, &end->peer.mr, 0, 1, 1, NULL,
						  &entry));
	empty.size = 0;
	EXPECT_EQ(-EINVAL, krdma_rpma_flush_entry(end->conn, 1, &empty, 0, 0,
						  KRDMA_RPMA_FLUSH_TYPE_VISIBILITY, NULL, &entry));
}

/* Proves: D3 (library) */
TEST_F(rpma, memory_is_described_for_what_it_can_be_used_for)
{
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE];
	struct krdma_rpma_memory told;
	struct krdma_mr *mr;

	ASSERT_EQ(0, krdma_mr_alloc(self->session, self->device, SIZE,
				    KRDMA_ACCESS_REMOTE_READ, &mr));
	EXPECT_EQ(0, krdma_rpma_describe(mr, 8, 16, KRDMA_RPMA_READ_SOURCE, wire));
	EXPECT_EQ(0, krdma_rpma_memory_read(wire, sizeof(wire), &told));
	EXPECT_EQ((uintptr_t)krdma_mr_data(mr) + 8, told.addr);
	EXPECT_EQ(16, told.size);
	EXPECT_EQ(krdma_mr_rkey(mr), told.key);
	EXPECT_EQ(-EACCES, krdma_rpma_describe(mr, 0, 0, KRDMA_RPMA_WRITE_DESTINATION, wire));
	EXPECT_EQ(-ERANGE, krdma_rpma_describe(mr, SIZE, 1, KRDMA_RPMA_READ_SOURCE, wire));
	EXPECT_EQ(-EINVAL, krdma_rpma_describe(mr, 0, 0, 0, wire));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
	ASSERT_EQ(0, krdma_mr_alloc(self->session, self->device, SIZE,
				    KRDMA_ACCESS_LOCAL_WRITE, &mr));
	EXPECT_EQ(-EACCES, krdma_rpma_describe(mr, 0, 0, KRDMA_RPMA_READ_SOURCE, wire));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
}

/* A memory descriptor has one rkey. */
TEST_F(rpma, memory_of_several_keys_is_described_by_parts)
{
	size_t length = (3 << 20) + 100, reach = 0, parts = 0;
	unsigned char wire[KRDMA_RPMA_MEMORY_SIZE];
	struct krdma_rpma_memory told;
	struct krdma_mr *mr;
	struct krdma_remote_mr remote;
	unsigned char *data;
	uint32_t key;

	ASSERT_EQ(0, write_text(FORCE_PIN, "1"));
	ASSERT_EQ(0, krdma_mr_alloc(self->session, self->device, length,
				    KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE |
				    KRDMA_ACCESS_LOCAL_WRITE, &mr));
	EXPECT_EQ(0, write_text(FORCE_PIN, "0"));
	data = krdma_mr_data(mr);
	EXPECT_EQ(-EMSGSIZE, krdma_rpma_describe(mr, 0, 0, KRDMA_RPMA_READ_SOURCE, wire));
	EXPECT_EQ(-EMSGSIZE, krdma_rpma_describe(mr, 0, length, KRDMA_RPMA_READ_SOURCE,
						 wire));
	for (size_t offset = 0; offset < length; offset += reach) {
		struct krdma_sqe entry;
		struct krdma_cqe cqe;
		size_t taken;

		ASSERT_EQ(0, krdma_mr_rkey_at(mr, offset, &key, &reach));
		ASSERT_EQ(0, krdma_rpma_describe(mr, offset, reach, USAGE, wire));
		ASSERT_EQ(0, krdma_rpma_memory_read(wire, sizeof(wire), &told));
		EXPECT_EQ((uintptr_t)data + offset, told.addr);
		EXPECT_EQ(reach, told.size);
		EXPECT_EQ(key, told.key);
		ASSERT_EQ(0, krdma_rpma_remote(&told, &remote));
		/* Write the last byte of this part. */
		self->ends[0].data[0] = 7 + parts;
		entry = krdma_entry_write(self->ends[0].conn, 1, self->ends[0].mr, 0, 1,
					  &remote, reach - 1);
		ASSERT_EQ(0, krdma_ring_post(self->ends[0].ring, &entry, 1, NULL));
		ASSERT_EQ(0, krdma_ring_wait(self->ends[0].ring, &cqe, 1, 1, PATIENCE, &taken));
		ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(7 + parts, data[offset + reach - 1]);
		parts++;
	}
	EXPECT_EQ(2, parts);
	/* The rest of the last part. */
	EXPECT_EQ(0, krdma_rpma_describe(mr, length - 100, 0, KRDMA_RPMA_READ_SOURCE, wire));
	EXPECT_EQ(0, krdma_mr_deregister(mr, 0));
}

TEST_HARNESS_MAIN
