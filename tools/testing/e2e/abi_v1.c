// SPDX-License-Identifier: GPL-2.0
/*
 * A program for version 1 of the interface, with the headers of that version, in abi_v1/.
 *
 * Program and headers are frozen, however the headers in uapi/ change: every later module must
 * give this program the same results.  So it uses only the harness of the other test programs,
 * and it knows only version 1: it walks records by their size, and ignores values that version 1
 * does not name.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_ring.h>

#define HERE		"10.77.0.1"
#define PATIENCE_NS	30000000000ULL
#define LENGTH		8192
#define BEGIN(type, ...) ((struct type) { .size = sizeof(struct type), __VA_ARGS__ })
#define RIGHTS		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

static int ask(int fd, unsigned long request, void *argument)
{
	return ioctl(fd, request, argument) ? -errno : 0;
}

static uint64_t patience(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + PATIENCE_NS;
}

static void address_set(struct __kernel_sockaddr_storage *address, uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = port };

	inet_pton(AF_INET, HERE, &in.sin_addr);
	memcpy(address, &in, sizeof(in));
}

/* One end of a connection, with a ring of its own. */
struct side {
	int conn;
	int ring;
	uint32_t id;
	size_t ring_size;
	struct krdma_ring_header *header;
};

FIXTURE(v1)
{
	int session;
	int listener;
	int srq;
	uint32_t device;
	uint32_t srq_id;
	uint32_t mr;
	uint32_t key;
	unsigned char *data;
	struct __kernel_sockaddr_storage address;
	struct side a;
	struct side b;
};

static int side_queue(FIXTURE_DATA(v1) * self, struct side *side, uint32_t flags)
{
	struct krdma_ring_create_args create =
		BEGIN(krdma_ring_create_args, .flags = flags, .device_id = self->device,
		      .sq_entries = 16, .cq_entries = 128);
	int ret = ask(self->session, KRDMA_RING_CREATE, &create);

	side->conn = -1;
	side->ring = ret ? -1 : create.fd;
	side->ring_size = create.ring_size;
	side->header = ret ? MAP_FAILED : mmap(NULL, create.ring_size, PROT_READ | PROT_WRITE,
					       MAP_SHARED, create.fd, 0);
	if (!ret && side->header == MAP_FAILED)
		ret = -errno;
	if (!ret && (side->header->sqe_offset != create.sqe_offset ||
		     side->header->cqe_offset != create.cqe_offset))
		ret = -EBADMSG;
	return ret;
}

static void side_close(struct side *side)
{
	if (side->conn >= 0)
		close(side->conn);
	if (side->ring >= 0)
		close(side->ring);
	if (side->header != MAP_FAILED)
		munmap(side->header, side->ring_size);
}

FIXTURE_SETUP(v1)
{
	struct krdma_device_query_args device =
		BEGIN(krdma_device_query_args, .flags = KRDMA_DEVICE_QUERY_NAME, .name = "rxe0");
	struct krdma_mr_register_args mr = BEGIN(krdma_mr_register_args, .length = LENGTH,
						 .access = RIGHTS);
	struct krdma_listen_args listen = BEGIN(krdma_listen_args);
	struct krdma_srq_create_args srq = BEGIN(krdma_srq_create_args, .depth = 8);

	self->session = open("/dev/krdma", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, ask(self->session, KRDMA_DEVICE_QUERY, &device));
	self->device = device.id;

	self->data = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->data != MAP_FAILED);
	mr.addr = (uintptr_t)self->data;
	mr.device_id = self->device;
	ASSERT_EQ(0, ask(self->session, KRDMA_MR_REGISTER, &mr));
	ASSERT_EQ(mr.addr, mr.remote_addr);
	self->mr = mr.id;
	self->key = mr.rkey;

	ASSERT_EQ(0, side_queue(self, &self->a, 0));
	ASSERT_EQ(0, side_queue(self, &self->b, KRDMA_RING_POLLED));
	srq.ring_fd = self->b.ring;
	ASSERT_EQ(0, ask(self->session, KRDMA_SRQ_CREATE, &srq));
	self->srq = srq.fd;
	self->srq_id = srq.id;
	address_set(&listen.address, 0);
	ASSERT_EQ(0, ask(self->session, KRDMA_LISTEN, &listen));
	self->listener = listen.fd;
	self->address = listen.address;
}

FIXTURE_TEARDOWN(v1)
{
	side_close(&self->a);
	side_close(&self->b);
	close(self->srq);
	close(self->listener);
	close(self->session);
	munmap(self->data, LENGTH);
}

static int await(int conn, uint32_t state)
{
	struct krdma_conn_wait_args wait = BEGIN(krdma_conn_wait_args, .deadline_ns = patience());
	int ret = ask(conn, KRDMA_CONN_WAIT, &wait);

	return ret ? ret : wait.state == state ? 0 : -EBADMSG;
}

static int resolve(FIXTURE_DATA(v1) * self)
{
	struct krdma_conn_resolve_args resolve = BEGIN(krdma_conn_resolve_args,
						       .remote = self->address,
						       .ack_timeout = 18);
	struct krdma_conn_create_args create = BEGIN(krdma_conn_create_args);
	int ret = ask(self->session, KRDMA_CONN_CREATE, &create);

	self->a.conn = ret ? -1 : create.fd;
	self->a.id = create.id;
	if (!ret)
		ret = ask(self->a.conn, KRDMA_CONN_RESOLVE, &resolve);
	return ret ? ret : await(self->a.conn, KRDMA_CONN_RESOLVED);
}

/* End A connects with private data, and B gets the connection request. */
static int request(FIXTURE_DATA(v1) * self, const char *data)
{
	struct krdma_conn_create_qp_args prepare = BEGIN(krdma_conn_create_qp_args,
							 .ring_fd = self->a.ring,
							 .send_depth = 16, .recv_depth = 16);
	struct krdma_conn_param_args terms = BEGIN(krdma_conn_param_args,
						   .private_data = (uintptr_t)data,
						   .private_data_len = strlen(data));
	struct krdma_listener_next_args next = BEGIN(krdma_listener_next_args,
						     .deadline_ns = patience());
	int ret = resolve(self);

	if (!ret)
		ret = ask(self->a.conn, KRDMA_CONN_CREATE_QP, &prepare);
	if (!ret && (prepare.send_depth < 16 || prepare.device_id != self->device))
		ret = -EBADMSG;
	if (!ret)
		ret = ask(self->a.conn, KRDMA_CONN_CONNECT, &terms);
	if (!ret)
		ret = ask(self->listener, KRDMA_LISTENER_NEXT, &next);
	self->b.conn = ret ? -1 : next.fd;
	self->b.id = next.id;
	return ret;
}

static int connect_both(FIXTURE_DATA(v1) * self)
{
	struct krdma_conn_create_qp_args prepare = BEGIN(krdma_conn_create_qp_args,
							 .ring_fd = self->b.ring,
							 .srq_fd = self->srq,
							 .flags = KRDMA_CREATE_QP_SRQ,
							 .send_depth = 16);
	struct krdma_conn_param_args terms = BEGIN(krdma_conn_param_args);
	int ret = request(self, "hello");

	if (!ret)
		ret = ask(self->b.conn, KRDMA_CONN_CREATE_QP, &prepare);
	if (!ret)
		ret = ask(self->b.conn, KRDMA_CONN_ACCEPT, &terms);
	if (!ret)
		ret = await(self->b.conn, KRDMA_CONN_CONNECTED);
	return ret ? ret : await(self->a.conn, KRDMA_CONN_CONNECTED);
}

static struct krdma_sqe entry(FIXTURE_DATA(v1) * self, uint8_t opcode, uint32_t dest,
			      uint32_t offset, uint32_t length)
{
	return (struct krdma_sqe) {
		.opcode = opcode, .dest = dest, .wr_id = 100 + opcode, .sge_count = 1,
		.sge = { .addr = (uintptr_t)self->data + offset, .length = length,
			   .mr = self->mr },
	};
}

static struct krdma_sqe entry_remote(FIXTURE_DATA(v1) * self, uint8_t opcode, uint32_t offset,
				     uint32_t length, uint32_t remote)
{
	struct krdma_sqe sqe = entry(self, opcode, self->a.id, offset, length);

	sqe.remote_addr = (uintptr_t)self->data + remote;
	sqe.rkey = self->key;
	if (!length) {
		sqe.sge_count = 0;
		sqe.sge = (struct krdma_ring_sge) {};
	}
	return sqe;
}

/* Submits one entry through the ring, and takes one completion. */
static int operate(struct side *side, const struct krdma_sqe *sqe, struct krdma_cqe *cqe)
{
	struct krdma_ring_enter_args enter = BEGIN(krdma_ring_enter_args, .to_submit = 1,
						   .min_complete = 1, .deadline_ns = patience());
	struct krdma_ring_header *header = side->header;
	struct krdma_sqe *sqes = (void *)((char *)header + header->sqe_offset);
	struct krdma_cqe *cqes = (void *)((char *)header + header->cqe_offset);
	uint32_t tail = header->sq_tail;
	int ret;

	sqes[tail & (header->sq_entries - 1)] = *sqe;
	__atomic_store_n(&header->sq_tail, tail + 1, __ATOMIC_RELEASE);
	ret = ask(side->ring, KRDMA_RING_ENTER, &enter);
	if (ret || enter.error) {
		__atomic_store_n(&header->sq_tail, tail, __ATOMIC_RELEASE);
		return ret ? ret : enter.error;
	}
	if (__atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE) == header->cq_head)
		return -ENODATA;
	*cqe = cqes[header->cq_head & (header->cq_entries - 1)];
	__atomic_store_n(&header->cq_head, header->cq_head + 1, __ATOMIC_RELEASE);
	return cqe->wr_id == sqe->wr_id && cqe->opcode == sqe->opcode ? cqe->status : -EBADMSG;
}

TEST_F(v1, what_it_is)
{
	struct krdma_info_args info = BEGIN(krdma_info_args);
	struct krdma_device_query_args device = BEGIN(krdma_device_query_args,
						      .flags = KRDMA_DEVICE_QUERY_NEXT, .id = 1);
	struct krdma_port_query_args port = BEGIN(krdma_port_query_args, .device_id = self->device,
						  .port = 1);
	struct krdma_device_find_args find = BEGIN(krdma_device_find_args,
						   .flags = KRDMA_DEVICE_FIND_LOCAL);

	ASSERT_EQ(0, ask(self->session, KRDMA_INFO, &info));
	EXPECT_EQ(1, info.abi_version);
	EXPECT_LE(sizeof(struct krdma_conn_query_args), info.max_struct_size);
	EXPECT_EQ(KRDMA_FEATURE_DEVICES | KRDMA_FEATURE_TRANSFERS, info.features &
		  (KRDMA_FEATURE_DEVICES | KRDMA_FEATURE_TRANSFERS));
	EXPECT_NE(0, info.module_version[0]);
	ASSERT_EQ(0, ask(self->session, KRDMA_DEVICE_QUERY, &device));
	EXPECT_LE(1, device.port_count);
	EXPECT_EQ(KRDMA_TRANSPORT_IB, device.transport);
	EXPECT_TRUE(device.caps & KRDMA_DEVICE_CAP_ATOMIC);
	ASSERT_EQ(0, ask(self->session, KRDMA_PORT_QUERY, &port));
	EXPECT_EQ(KRDMA_PORT_ACTIVE, port.state);
	EXPECT_EQ(KRDMA_LINK_ETHERNET, port.link_layer);
	address_set(&find.local, 0);
	ASSERT_EQ(0, ask(self->session, KRDMA_DEVICE_FIND, &find));
	EXPECT_EQ(self->device, find.id);
}

TEST_F(v1, what_was_made_tells_of_itself)
{
	struct krdma_mr_query_args mr = BEGIN(krdma_mr_query_args, .id = self->mr,
					      .part_offset = 4096, .part_length = 100);
	struct krdma_mr_advise_args advise = BEGIN(krdma_mr_advise_args, .id = self->mr,
						   .advice = KRDMA_ADVICE_READ, .length = 100);
	struct krdma_listener_query_args listener = BEGIN(krdma_listener_query_args);
	struct krdma_ring_query_args ring = BEGIN(krdma_ring_query_args);
	struct krdma_srq_query_args srq = BEGIN(krdma_srq_query_args);

	ASSERT_EQ(0, ask(self->session, KRDMA_MR_QUERY, &mr));
	EXPECT_EQ(RIGHTS, mr.access);
	EXPECT_EQ(LENGTH, mr.length);
	/* The memory descriptor is little-endian, as this program is. */
	EXPECT_EQ(KRDMA_MR_DESC_MAGIC, mr.descriptor.magic);
	EXPECT_EQ(KRDMA_MR_DESC_VERSION, mr.descriptor.version);
	EXPECT_EQ((uintptr_t)self->data + 4096, mr.descriptor.addr);
	EXPECT_EQ(100, mr.descriptor.length);
	EXPECT_EQ(self->key, mr.descriptor.key);
	EXPECT_EQ(KRDMA_MR_DESC_READ | KRDMA_MR_DESC_WRITE | KRDMA_MR_DESC_ATOMIC,
		  mr.descriptor.rights);
	EXPECT_EQ(0, ask(self->session, KRDMA_MR_ADVISE, &advise));
	ASSERT_EQ(0, ask(self->listener, KRDMA_LISTENER_QUERY, &listener));
	EXPECT_EQ(0, memcmp(&self->address, &listener.address, sizeof(struct sockaddr_in)));
	ASSERT_EQ(0, ask(self->a.ring, KRDMA_RING_QUERY, &ring));
	EXPECT_EQ(self->a.ring_size, ring.ring_size);
	EXPECT_EQ(0, ring.ring_flags & KRDMA_RING_POLLED);
	ASSERT_EQ(0, ask(self->b.ring, KRDMA_RING_QUERY, &ring));
	EXPECT_NE(0, ring.ring_flags & KRDMA_RING_POLLED);
	ASSERT_EQ(0, ask(self->srq, KRDMA_SRQ_QUERY, &srq));
	EXPECT_EQ(self->srq_id, srq.id);
	EXPECT_LE(8, srq.depth);
}

TEST_F(v1, operations_of_every_kind)
{
	struct krdma_sqe receive = entry(self, KRDMA_OP_RECV, self->srq_id, 1024, 64), sqe;
	struct krdma_ring_post_args post = BEGIN(krdma_ring_post_args,
						 .entries = (uintptr_t)&receive,
						 .count = 1);
	struct krdma_cqe cqe, got;
	struct krdma_ring_reap_args reap = BEGIN(krdma_ring_reap_args, .entries = (uintptr_t)&got,
						 .count = 1, .min_complete = 1);
	struct krdma_conn_query_args query = BEGIN(krdma_conn_query_args);
	uint64_t *words = (uint64_t *)self->data;

	ASSERT_EQ(0, connect_both(self));
	memcpy(self->data, "a message of sixty-four bytes", 30);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, ask(self->srq, KRDMA_SRQ_POST, &post));
		ASSERT_EQ(1, post.accepted);
		sqe = entry(self, i ? KRDMA_OP_SEND_IMM : KRDMA_OP_SEND, self->a.id, 0, 30);
		sqe.imm = i ? 0x12345678 : 0;
		ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
		reap.deadline_ns = patience();
		ASSERT_EQ(0, ask(self->b.ring, KRDMA_RING_REAP, &reap));
		ASSERT_EQ(1, reap.reaped);
		EXPECT_EQ(KRDMA_OP_RECV, got.opcode);
		EXPECT_EQ(KRDMA_WC_SUCCESS, got.status);
		EXPECT_EQ(self->b.id, got.dest);
		EXPECT_EQ(30, got.length);
		EXPECT_EQ(i ? KRDMA_CQE_IMM : 0, got.flags & (KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN));
		if (i)
			EXPECT_EQ(0x12345678, got.imm);
		EXPECT_EQ(0, memcmp(self->data, self->data + 1024, 30));
	}
	sqe = entry_remote(self, KRDMA_OP_WRITE, 0, 30, 2048);
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	EXPECT_EQ(0, memcmp(self->data, self->data + 2048, 30));
	sqe = entry_remote(self, KRDMA_OP_READ, 3072, 30, 2048);
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	EXPECT_EQ(0, memcmp(self->data, self->data + 3072, 30));
	words[512] = 5;
	sqe = entry_remote(self, KRDMA_OP_FETCH_ADD, 8, 8, 4096);
	sqe.operand = 2;
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	EXPECT_EQ(5, words[1]);
	sqe = entry_remote(self, KRDMA_OP_COMPARE_SWAP, 8, 8, 4096);
	sqe.operand = 7;
	sqe.swap = 9;
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	EXPECT_EQ(7, words[1]);
	EXPECT_EQ(9, words[512]);
	sqe = entry_remote(self, KRDMA_OP_ATOMIC_WRITE, 0, 0, 4096);
	sqe.operand = 11;
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	sqe = entry_remote(self, KRDMA_OP_FLUSH, 0, 0, 4096);
	sqe.imm = KRDMA_FLUSH_GLOBAL;
	sqe.operand = 8;
	ASSERT_EQ(KRDMA_WC_SUCCESS, operate(&self->a, &sqe, &cqe));
	EXPECT_EQ(11, words[512]);
	sqe = entry_remote(self, KRDMA_OP_WRITE, 0, 8, 0);
	sqe.flags = 1 << 7;
	EXPECT_EQ(-EINVAL, operate(&self->a, &sqe, &cqe));

	ASSERT_EQ(0, ask(self->a.conn, KRDMA_CONN_QUERY, &query));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	EXPECT_EQ(self->a.id, query.id);
	EXPECT_EQ(8, query.sends_posted);
	EXPECT_EQ(1, query.peer_is_krdma);
	EXPECT_EQ(0, memcmp(&self->address, &query.remote, sizeof(struct sockaddr_in)));
}

/* Reads the records of a connection; returns a mask of the events that version 1 names. */
static uint32_t events(int conn, int *error)
{
	unsigned char bytes[1024];
	uint32_t told = 0;
	ssize_t got;

	while ((got = read(conn, bytes, sizeof(bytes))) > 0) {
		for (ssize_t at = 0; at < got;) {
			struct krdma_event_record record;

			memcpy(&record, bytes + at, sizeof(record));
			if (record.type <= KRDMA_EVENT_CLOSED)
				told |= 1U << record.type;
			if (record.type == KRDMA_EVENT_CLOSED)
				*error = record.error;
			if (record.size < sizeof(record))
				return 0;
			at += record.size;
		}
	}
	return told;
}

TEST_F(v1, the_end_and_why)
{
	struct krdma_conn_disconnect_args disconnect = BEGIN(krdma_conn_disconnect_args);
	struct pollfd hangup = { .events = 0 };
	char room[64] = "";
	struct krdma_conn_query_args query = BEGIN(krdma_conn_query_args,
						   .private_data = (uintptr_t)room,
						   .private_data_len = sizeof(room));
	struct krdma_event_record record;
	int error = 0;

	ASSERT_EQ(0, connect_both(self));
	ASSERT_EQ(0, ask(self->b.conn, KRDMA_CONN_QUERY, &query));
	EXPECT_EQ(5, query.private_data_len);
	EXPECT_EQ(0, memcmp(room, "hello", 5));
	ASSERT_EQ(0, ask(self->b.conn, KRDMA_CONN_DISCONNECT, &disconnect));
	hangup.fd = self->a.conn;
	ASSERT_EQ(1, poll(&hangup, 1, PATIENCE_NS / 1000000));
	EXPECT_TRUE(hangup.revents & POLLHUP);
	EXPECT_FALSE(hangup.revents & POLLERR);
	/* Read one record into the structure of version 1, then the others. */
	ASSERT_EQ(sizeof(record), read(self->a.conn, &record, sizeof(record)));
	EXPECT_LE(sizeof(record), record.size);
	EXPECT_EQ(KRDMA_EVENT_ADDR_RESOLVED, record.type);
	EXPECT_EQ(1U << KRDMA_EVENT_ROUTE_RESOLVED | 1U << KRDMA_EVENT_ESTABLISHED |
		  1U << KRDMA_EVENT_DISCONNECTED | 1U << KRDMA_EVENT_CLOSED,
		  events(self->a.conn, &error));
	EXPECT_EQ(-EPIPE, error);
	EXPECT_EQ(-EPIPE, await(self->a.conn, KRDMA_CONN_CLOSED));
	query.private_data_len = sizeof(room);
	ASSERT_EQ(0, ask(self->a.conn, KRDMA_CONN_QUERY, &query));
	EXPECT_EQ(KRDMA_CONN_CLOSED, query.state);
	EXPECT_EQ(-EPIPE, query.error);
	EXPECT_EQ(-ENOTCONN, await(self->b.conn, KRDMA_CONN_CLOSED));
}

TEST_F(v1, a_request_is_rejected)
{
	struct krdma_conn_reject_args reject = BEGIN(krdma_conn_reject_args,
						     .private_data = (uintptr_t)"no",
						     .private_data_len = 2);

	ASSERT_EQ(0, request(self, "please"));
	ASSERT_EQ(0, ask(self->b.conn, KRDMA_CONN_REJECT, &reject));
	EXPECT_EQ(-ECONNREFUSED, await(self->a.conn, KRDMA_CONN_CLOSED));
}

TEST_F(v1, a_queue_is_confined)
{
	struct krdma_ring_confine_args confine = BEGIN(krdma_ring_confine_args);
	struct krdma_sqe sqe;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, connect_both(self));
	ASSERT_EQ(0, ask(self->a.ring, KRDMA_RING_CONFINE, &confine));
	sqe = entry_remote(self, KRDMA_OP_WRITE, 0, 8, 2048);
	EXPECT_EQ(-ENOENT, operate(&self->a, &sqe, &cqe));
}

TEST_F(v1, devices_are_watched)
{
	struct krdma_device_notify_args watch = BEGIN(krdma_device_notify_args);
	struct krdma_device_record record;

	ASSERT_EQ(0, ask(self->session, KRDMA_DEVICE_NOTIFY, &watch));
	EXPECT_EQ(-EALREADY, ask(self->session, KRDMA_DEVICE_NOTIFY, &watch));
	/* Read one record at a time, into the structure of version 1. */
	ASSERT_EQ(sizeof(record), read(self->session, &record, sizeof(record)));
	EXPECT_LE(sizeof(record), record.size);
	EXPECT_EQ(KRDMA_DEVICE_EVENT_ADDED, record.type);
}

TEST_F(v1, memory_ends)
{
	struct krdma_mr_deregister_args release = BEGIN(krdma_mr_deregister_args, .id = self->mr);

	ASSERT_EQ(0, ask(self->session, KRDMA_MR_DEREGISTER, &release));
	EXPECT_EQ(-ENOENT, ask(self->session, KRDMA_MR_DEREGISTER, &release));
}

/* Errnos of version 1 for invalid calls. */
TEST_F(v1, what_is_refused)
{
	struct {
		struct krdma_info_args info;
		uint32_t more[2];
	} longer = { .info = { .size = sizeof(longer) } };
	struct krdma_conn_create_args create = BEGIN(krdma_conn_create_args, .flags = 1U << 31);
	int reader = open("/dev/krdma", O_RDONLY | O_CLOEXEC);
	struct krdma_info_args info = BEGIN(krdma_info_args);

	EXPECT_EQ(-EOPNOTSUPP, ask(self->session, KRDMA_CONN_CREATE, &create));
	create.flags = 0;
	EXPECT_EQ(-EBADF, ask(reader, KRDMA_CONN_CREATE, &create));
	EXPECT_EQ(0, ask(reader, KRDMA_INFO, &info));
	create.size = 15;
	EXPECT_EQ(-EINVAL, ask(self->session, KRDMA_CONN_CREATE, &create));
	create.size = KRDMA_STRUCT_SIZE_MAX + 1;
	EXPECT_EQ(-E2BIG, ask(self->session, KRDMA_CONN_CREATE, &create));
	EXPECT_EQ(-EFAULT, ask(self->session, KRDMA_INFO, NULL));
	EXPECT_EQ(-ENOTTY, ask(self->listener, KRDMA_INFO, &info));
	EXPECT_EQ(-ENOTTY, ask(self->session, _IO(KRDMA_IOCTL_TYPE, 0xff), &info));
	EXPECT_EQ(0, ask(self->session, KRDMA_INFO, &longer));
	close(reader);
}

TEST_HARNESS_MAIN
