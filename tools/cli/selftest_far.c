// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: the far end of the connections, which carries out the near end's requests.
 *
 * Requests may come from anybody on the network: every number is checked before it is used, and
 * the resources of one conversation are limited.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <netinet/in.h>
#include <sys/mman.h>

#include "cli.h"
#include "krdma_entry.h"
#include "peer.h"
#include "peer_stop.h"
#include "selftest_far.h"
#include "selftest_pattern.h"
#include "selftest_wire.h"

/* The longest timeout that the near end can ask for, and the longest pause between requests. */
#define TIMEOUT_MAX	(UINT64_C(60) * 1000000000)
#define SILENCE_NS	(UINT64_C(600) * 1000000000)
#define END_NS		(UINT64_C(3) * 1000000000)
/* Maximum number of receives or sends that one request posts. */
#define POST_MAX	FAR_DEPTH_MAX
/* SGEs of a receive. */
#define SGES_MAX	KRDMA_RING_SGES_MAX

struct far_conn {
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* wr_id of the next receive or send. */
	uint64_t posted;
};

struct far_memory {
	void *map;
	size_t map_length;
	uint8_t *data;
	size_t length;
	struct krdma_mr *mr;
};

struct far {
	int fd;
	struct sockaddr_storage address;
	uint64_t timeout;
	/* Maximum number of bytes that may be registered; @mr counts those that are. */
	uint64_t longest;
	struct krdma *session;
	uint32_t device_id;
	struct krdma_listener *listener;
	struct far_conn conns[FAR_CONNS];
	struct far_memory memories[FAR_MEMORIES];
	uint64_t mr;
	struct krdma_srq *srq;
	struct krdma_ring *srq_queue;
	uint64_t srq_posted;
};

/*
 * Release
 */

static void conn_end(struct far_conn *conn)
{
	krdma_conn_close(conn->conn);
	krdma_ring_close(conn->ring);
	memset(conn, 0, sizeof(*conn));
}

static void memory_end(struct far *far, struct far_memory *mr)
{
	krdma_mr_deregister(mr->mr, KRDMA_DEREGISTER_LATER);
	if (mr->map)
		munmap(mr->map, mr->map_length);
	far->mr -= mr->length;
	memset(mr, 0, sizeof(*mr));
}

static void end_all(struct far *far)
{
	unsigned int i;

	for (i = 0; i < FAR_CONNS; i++)
		conn_end(&far->conns[i]);
	krdma_srq_close(far->srq);
	krdma_ring_close(far->srq_queue);
	for (i = 0; i < FAR_MEMORIES; i++)
		memory_end(far, &far->memories[i]);
	krdma_listener_close(far->listener);
	krdma_close(far->session);
	far->srq = NULL;
	far->srq_queue = NULL;
	far->listener = NULL;
	far->session = NULL;
	far->srq_posted = 0;
}

/*
 * Start
 */

static int far_hello(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	char version[32] = "";

	if (in->word[1] != WIRE_MAGIC)
		return -EINVAL;
	out->word[1] = WIRE_MAGIC;
	out->word[2] = WIRE_VERSION;
	/* The near end checks and reports the version. */
	if (in->word[2] != WIRE_VERSION)
		return 0;
	far->timeout = in->word[3] < TIMEOUT_MAX ? in->word[3] : TIMEOUT_MAX;
	snprintf(version, sizeof(version), "%s", krdma_version());
	wire_put_bytes(&out->word[3], version, sizeof(version));
	return 0;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
	return be16toh(address->ss_family == AF_INET6 ?
		       ((const struct sockaddr_in6 *)address)->sin6_port :
		       ((const struct sockaddr_in *)address)->sin_port);
}

static int far_reset(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct sockaddr_storage address = far->address;
	struct krdma_device_query_args device;
	int err;

	(void)in;
	end_all(far);
	address_set_port(&address, 0);
	err = krdma_open(&far->session);
	if (!err)
		err = krdma_device_by_address(far->session, (struct sockaddr *)&address, NULL,
					      krdma_deadline(1000), &far->device_id);
	if (!err)
		err = krdma_device_query(far->session, far->device_id, &device, sizeof(device));
	if (!err)
		err = krdma_listen(far->session, (struct sockaddr *)&address, 0, 0,
				   &far->listener);
	if (!err)
		err = krdma_listener_address(far->listener, &address);
	if (err)
		return err;
	out->word[1] = port_of(&address);
	out->word[2] = device.caps;
	out->word[3] = wire_pair(device.max_recv_wr, device.max_recv_sge);
	out->word[4] = wire_pair(device.max_send_wr, device.max_srq_wr);
	out->word[5] = device.max_mr_size;
	out->word[6] = wire_pair(device.max_read_depth_in, device.transport);
	return 0;
}

/*
 * Connections
 */

static struct far_conn *conn_of(struct far *far, uint64_t number)
{
	return number < FAR_CONNS && far->conns[number].conn ? &far->conns[number] : NULL;
}

/* The near end sends a request instead of connecting, or this process is to stop. */
static bool is_called_off(const struct far *far)
{
	struct pollfd wait = { .fd = far->fd, .events = POLLIN };

	return stop_wanted() || poll(&wait, 1, 0) > 0;
}

/* Get the next connection whose private data has the nonce; reject all others. */
static int next_of_ours(struct far *far, uint64_t nonce, uint64_t deadline,
			struct krdma_conn **conn)
{
	uint8_t wanted[WIRE_PRIVATE], data[WIRE_PRIVATE];
	size_t length;
	int err;

	wire_private(wanted, nonce, 0);
	for (;;) {
		if (is_called_off(far))
			return -ECANCELED;
		err = krdma_listener_next(far->listener, stop_slice(deadline), conn);
		if (err == -ETIMEDOUT && clock_ns() < deadline)
			continue;
		if (err == -EINTR)
			continue;
		if (err)
			return err;
		length = sizeof(data);
		err = krdma_conn_private_data(*conn, data, &length);
		if (!err && length == sizeof(data) && !memcmp(data, wanted, sizeof(data)))
			return 0;
		krdma_conn_reject(*conn, NULL, 0);
		krdma_conn_close(*conn);
	}
}

static int await_connected(struct far *far, struct krdma_conn *conn, uint64_t deadline)
{
	int err;

	do {
		if (is_called_off(far))
			return -ECANCELED;
		err = krdma_conn_wait(conn, stop_slice(deadline), NULL);
	} while (err == -EINTR || (err == -ETIMEDOUT && clock_ns() < deadline &&
				   krdma_conn_await_closed(conn, 0)));
	return err;
}

static int create_qp(struct far *far, struct far_conn *conn, const struct wire_words *in)
{
	uint64_t flags = in->word[5];
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.flags = flags & FAR_ACCEPT_POLLED ? KRDMA_RING_POLLED : 0,
		.device_id = far->device_id,
	};
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = wire_low(in->word[3]),
		.recv_depth = wire_high(in->word[3]),
		.max_send_sge = wire_low(in->word[4]),
		.max_recv_sge = wire_high(in->word[4]),
	};
	int err;

	if (options.send_depth > FAR_DEPTH_MAX || options.recv_depth > FAR_DEPTH_MAX)
		return -EINVAL;
	ring.cq_entries = options.send_depth + options.recv_depth + KRDMA_RING_EXTRA;
	if (flags & FAR_ACCEPT_SHARED) {
		if (!far->srq)
			return -ENOENT;
		options.recv_depth = 0;
		options.max_recv_sge = 0;
	}
	err = krdma_ring_create(far->session, &ring, &conn->ring);
	return err ? err : krdma_conn_create_qp(conn->conn, conn->ring, NULL,
						flags & FAR_ACCEPT_SHARED ? far->srq : NULL,
						&options);
}

static int accept_it(struct far *far, struct far_conn *conn, const struct wire_words *in,
		     uint64_t deadline, struct wire_words *out)
{
	struct krdma_conn_param_args param = {
		.size = sizeof(param),
		.flags = in->word[5] & FAR_ACCEPT_NO_RNR ? KRDMA_CONN_PARAM_NO_RNR_RETRY : 0,
	};
	struct krdma_conn_query_args query;
	uint8_t data[WIRE_PRIVATE];
	int err;

	wire_private(data, in->word[2], 1);
	if (in->word[5] & FAR_ACCEPT_REJECT)
		return krdma_conn_reject(conn->conn, data, sizeof(data));
	err = create_qp(far, conn, in);
	if (!err)
		err = krdma_conn_accept(conn->conn, &param, data, sizeof(data));
	if (!err)
		err = await_connected(far, conn->conn, deadline);
	if (!err)
		err = krdma_conn_query(conn->conn, &query, sizeof(query));
	if (err)
		return err;
	out->word[1] = wire_pair(query.send_depth, query.recv_depth);
	out->word[2] = wire_pair(query.max_send_sge, query.max_recv_sge);
	out->word[3] = wire_pair(query.read_depth, query.read_depth_in);
	out->word[4] = query.peer_is_krdma;
	return 0;
}

static int far_accept(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	uint64_t deadline = clock_ns() + far->timeout;
	struct far_conn *conn;
	int err;

	if (in->word[1] >= FAR_CONNS || !far->listener)
		return -EINVAL;
	conn = &far->conns[in->word[1]];
	conn_end(conn);
	err = next_of_ours(far, in->word[2], deadline, &conn->conn);
	if (!err)
		err = accept_it(far, conn, in, deadline, out);
	if (err || in->word[5] & FAR_ACCEPT_REJECT)
		conn_end(conn);
	return err;
}

static int far_disconnect(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_conn *conn = conn_of(far, in->word[1]);

	(void)out;
	return conn ? krdma_conn_disconnect(conn->conn, (uint32_t)in->word[2]) : -ENOENT;
}

static int far_await_closed(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_conn *conn = conn_of(far, in->word[1]);
	int err;

	if (!conn)
		return -ENOENT;
	do {
		err = krdma_conn_await_closed(conn->conn, clock_ns() + far->timeout);
	} while (err == -EINTR && !stop_wanted());
	if (!err)
		out->word[1] = (uint64_t)(int64_t)krdma_conn_wait(conn->conn, 0, NULL);
	return err;
}

static int far_close(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_conn *conn = conn_of(far, in->word[1]);

	(void)out;
	if (!conn)
		return -ENOENT;
	conn_end(conn);
	return 0;
}

/*
 * Memory
 */

static int far_register(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	uint64_t number = in->word[1], length = in->word[2], offset = in->word[3];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t descriptor[KRDMA_MR_DESC_SIZE] = { 0 };
	struct far_memory *mr;
	int err;

	if (number >= FAR_MEMORIES || offset >= page || !length || !far->session)
		return -EINVAL;
	mr = &far->memories[number];
	memory_end(far, mr);
	if (length > far->longest || far->mr > far->longest - length)
		return -ENOMEM;
	mr->map_length = (size_t)(offset + length);
	mr->map = mmap(NULL, mr->map_length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mr->map == MAP_FAILED) {
		mr->map = NULL;
		return -ENOMEM;
	}
	mr->data = (uint8_t *)mr->map + offset;
	mr->length = (size_t)length;
	far->mr += length;
	err = krdma_mr_register(far->session, far->device_id, mr->data, mr->length,
				(uint32_t)in->word[4], &mr->mr);
	if (!err && in->word[4] & ~(uint64_t)KRDMA_ACCESS_LOCAL_WRITE)
		err = krdma_mr_describe(mr->mr, 0, 0, descriptor);
	if (err)
		memory_end(far, mr);
	else
		wire_put_bytes(&out->word[1], descriptor, sizeof(descriptor));
	return err;
}

static int far_release(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_memory *mr;
	int err;

	(void)out;
	if (in->word[1] >= FAR_MEMORIES || !far->memories[in->word[1]].mr)
		return -ENOENT;
	mr = &far->memories[in->word[1]];
	/* The pages stay mapped for later checks; only FAR_REGISTER and FAR_RESET unmap them. */
	err = krdma_mr_deregister(mr->mr, 0);
	if (!err)
		mr->mr = NULL;
	return err;
}

/* Return the memory if it has @length bytes from the offset in word 2, else NULL. */
static struct far_memory *part_of(struct far *far, const struct wire_words *in, uint64_t length)
{
	struct far_memory *mr;

	if (in->word[1] >= FAR_MEMORIES)
		return NULL;
	mr = &far->memories[in->word[1]];
	if (!mr->data || in->word[2] > mr->length ||
	    length > mr->length - in->word[2])
		return NULL;
	return mr;
}

static int far_pattern(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_memory *mr = part_of(far, in, in->word[3]);
	size_t offset = (size_t)in->word[2], length = (size_t)in->word[3];
	struct pattern_fault fault = { 0 };
	uint64_t seed = in->word[4];

	if (!mr)
		return -ERANGE;
	switch (in->word[0]) {
	case FAR_FILL:
		pattern_fill(mr->data + offset, 0, length, seed);
		break;
	case FAR_CLEAR:
		pattern_clear(mr->data, mr->length, offset, length, seed);
		break;
	case FAR_COMPARE:
		pattern_compare(mr->data + offset, 0, length, seed, 0, &fault);
		break;
	case FAR_CHECK:
		pattern_check(mr->data, mr->length, offset, length, seed, &fault);
		break;
	default:
		pattern_check_clear(mr->data, mr->length, offset, length, seed, &fault);
		break;
	}
	out->word[1] = fault.count;
	out->word[2] = (uint64_t)fault.offset;
	out->word[3] = fault.is;
	out->word[4] = fault.expected;
	return 0;
}

static int far_peek(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct far_memory *mr = part_of(far, in, sizeof(uint64_t));

	if (!mr)
		return -ERANGE;
	if (in->word[0] == FAR_PEEK)
		memcpy(&out->word[1], mr->data + in->word[2], sizeof(uint64_t));
	else
		memcpy(mr->data + in->word[2], &in->word[3], sizeof(uint64_t));
	return 0;
}

/*
 * Work requests
 */

static int far_srq(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.device_id = far->device_id,
		.cq_entries = 0,
	};
	struct krdma_srq_create_args options = {
		.size = sizeof(options),
		.depth = (uint32_t)in->word[1],
		.max_sge = (uint32_t)in->word[2],
	};
	struct krdma_srq_query_args query;
	int err;

	if (far->srq || in->word[1] > FAR_DEPTH_MAX / 2)
		return -EINVAL;
	/* Connections that share the SRQ also reserve entries in its CQ. */
	ring.cq_entries = 2 * options.depth + FAR_CONNS * KRDMA_RING_EXTRA;
	err = krdma_ring_create(far->session, &ring, &far->srq_queue);
	if (!err)
		err = krdma_srq_create(far->session, far->srq_queue, &options, &far->srq);
	if (!err)
		err = krdma_srq_query(far->srq, &query, sizeof(query));
	if (!err) {
		out->word[1] = query.depth;
		out->word[2] = query.max_sge;
	}
	return err;
}

/* Split one message into @sges SGEs of different lengths. */
static int post_parts(struct far *far, const struct far_memory *mr, struct krdma_sqe *entry,
		      size_t offset, uint32_t length, uint32_t sges, struct krdma_ring_sge *parts)
{
	uint32_t at = 0, i;

	(void)far;
	if (sges < 2)
		return 0;
	if (sges > SGES_MAX || sges > length)
		return -EINVAL;
	for (i = 0; i < sges; i++) {
		parts[i].addr = (uintptr_t)mr->data + offset + at;
		parts[i].length = i == sges - 1 ? length - at : length / sges - (i & 1);
		if (!parts[i].length)
			parts[i].length = 1;
		parts[i].mr = krdma_mr_id(mr->mr);
		at += parts[i].length;
	}
	memset(&entry->sge, 0, sizeof(entry->sge));
	entry->sge.addr = (uintptr_t)parts;
	entry->sge_count = (uint16_t)sges;
	return 0;
}

/* Post receives or sends; the offset of each is a stride (word 5) above the previous one. */
static int far_post(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	uint64_t stride = in->word[5], count = in->word[6], offset = in->word[3], i, length;
	bool receive = in->word[0] == FAR_RECEIVE, shared = in->word[1] == FAR_SHARED;
	struct far_conn *conn = conn_of(far, in->word[1]);
	struct wire_words part = { .word = { 0, in->word[2], offset } };
	struct krdma_ring_sge parts[SGES_MAX];
	struct far_memory *mr;
	struct krdma_sqe entry;
	int err = 0;

	length = in->word[4];
	if (shared ? !far->srq || !receive : !conn)
		return -ENOENT;
	if (!count || count > POST_MAX || length > UINT32_MAX || stride > UINT32_MAX)
		return -EINVAL;
	mr = part_of(far, &part, (count - 1) * stride + length);
	if (!mr || !mr->mr)
		return -ERANGE;
	for (i = 0; i < count; i++) {
		entry = krdma_entry(receive ? KRDMA_OP_RECV : KRDMA_OP_SEND,
				    shared ? krdma_srq_id(far->srq) : krdma_conn_id(conn->conn),
				    shared ? far->srq_posted : conn->posted,
				    length ? mr->mr : NULL, (size_t)(offset + i * stride),
				    (uint32_t)length);
		err = post_parts(far, mr, &entry, (size_t)(offset + i * stride),
				 (uint32_t)length, (uint32_t)in->word[7], parts);
		if (!err)
			err = shared ? krdma_srq_post(far->srq, &entry, 1, NULL) :
				       krdma_ring_post(conn->ring, &entry, 1, NULL);
		if (err)
			break;
		if (shared)
			far->srq_posted++;
		else
			conn->posted++;
	}
	out->word[1] = i;
	out->word[2] = (uint64_t)(int64_t)err;
	return 0;
}

/* Return the index of the connection with this ID, or FAR_CONNS if there is none. */
static uint64_t owner_of(const struct far *far, uint32_t id)
{
	uint64_t i;

	for (i = 0; i < FAR_CONNS; i++)
		if (far->conns[i].conn && krdma_conn_id(far->conns[i].conn) == id)
			break;
	return i;
}

static int far_take(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	bool shared = in->word[1] == FAR_SHARED;
	struct far_conn *conn = conn_of(far, in->word[1]);
	struct krdma_cqe cqe;
	size_t taken;
	int err;

	if (shared ? !far->srq_queue : !conn)
		return -ENOENT;
	do {
		err = krdma_ring_wait(shared ? far->srq_queue : conn->ring, &cqe, 1, 1,
				      clock_ns() + far->timeout, &taken);
	} while (err == -EINTR && !stop_wanted());
	if (err)
		return err;
	out->word[1] = cqe.wr_id;
	out->word[2] = cqe.opcode | (uint64_t)cqe.status << 8 | (uint64_t)cqe.flags << 16;
	out->word[3] = wire_pair(cqe.length, cqe.imm);
	out->word[4] = owner_of(far, cqe.dest);
	return 0;
}

static int far_nothing(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	(void)far;
	(void)in;
	(void)out;
	return 0;
}

static int far_die(struct far *far, const struct wire_words *in, struct wire_words *out)
{
	(void)far;
	(void)in;
	(void)out;
	raise(SIGKILL);
	return 0;
}

typedef int (*far_function)(struct far *far, const struct wire_words *in, struct wire_words *out);

static const far_function functions[] = {
	[FAR_HELLO] = far_hello,
	[FAR_RESET] = far_reset,
	[FAR_NOTHING] = far_nothing,
	[FAR_ACCEPT] = far_accept,
	[FAR_DISCONNECT] = far_disconnect,
	[FAR_AWAIT_CLOSED] = far_await_closed,
	[FAR_CLOSE] = far_close,
	[FAR_REGISTER] = far_register,
	[FAR_RELEASE] = far_release,
	[FAR_FILL] = far_pattern,
	[FAR_CLEAR] = far_pattern,
	[FAR_COMPARE] = far_pattern,
	[FAR_CHECK] = far_pattern,
	[FAR_CHECK_CLEAR] = far_pattern,
	[FAR_PEEK] = far_peek,
	[FAR_POKE] = far_peek,
	[FAR_SRQ] = far_srq,
	[FAR_RECEIVE] = far_post,
	[FAR_SEND] = far_post,
	[FAR_TAKE] = far_take,
	[FAR_DIE] = far_die,
};

int far_run(int fd, const struct sockaddr_storage *address, uint64_t max_memory)
{
	struct far far = { .fd = fd, .address = *address, .longest = max_memory };
	struct wire_words in, out;
	bool greeted = false;
	int err, result;

	for (;;) {
		err = wire_receive(fd, &in, clock_ns() + SILENCE_NS);
		if (err)
			break;
		/* Only a near end that has sent FAR_HELLO may send other requests. */
		if (!in.word[0] || in.word[0] >= ARRAY_SIZE(functions) ||
		    (!greeted && in.word[0] != FAR_HELLO)) {
			err = -EPROTO;
			break;
		}
		memset(&out, 0, sizeof(out));
		result = functions[in.word[0]](&far, &in, &out);
		if (result)
			memset(&out, 0, sizeof(out));
		out.word[0] = (uint64_t)(int64_t)result;
		greeted = greeted || !result;
		err = wire_send(fd, &out, clock_ns() + END_NS);
		if (err)
			break;
	}
	end_all(&far);
	return err == -ECONNRESET ? 0 : err;
}
